"""Draws pictures of a board or a table for link previews, in the page's light theme.

This module needs `aggdraw` and the fonts in `ttf-opensans`, which are the extra `previews`.
"""

from __future__ import annotations

import re
import struct
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import aggdraw
import ttf_opensans

from tictactoe_engine import BLOCKED, FREE

WIDTH: Final = 1200
HEIGHT: Final = 630
MOST_ROWS: Final = 7  # in a table

_FONTS: Final = Path(ttf_opensans.__file__).parent / "ttf"
_BOLD, _PLAIN = "OpenSans-Bold.ttf", "OpenSans-Regular.ttf"
_GROUND, _CARD, _INK, _DIM, _EDGE = "#f7f3e8", "#fffdf7", "#2b2b2b", "#625d52", "#d8d0bc"
_TITLE, _WON, _LOST, _SOFT, _PLATE = "#6b4f1d", "#f4dfa6", "#eecdc2", "#efe8d6", "#d9c9a0"
_MARKS: Final = ("#005f87", "#9c1f6b", "#7d5800", "#2f6f2f", "#2b3fa8", "#b3261e")
_WOOD, _WOOD_LINE, _ALARM = "#e3c68f", "#7a5c2e", "#d1242f"
_STARS: Final = (48, 56, 112, 168, 176)  # the cells with a dot on a board of 15 by 15 for stones
_SIDE: Final = 550  # the side of the square around a board
_EDGE_PX: Final = 40
_TEXT_X: Final = 640
_TEXT_WIDTH: Final = WIDTH - _TEXT_X - _EDGE_PX

Box = tuple[float, float, float]
"""A square: the x of its left edge, the y of its upper edge, and its side."""
Style = tuple[str, int, str]
"""The style of a text: the font's file, the size and the colour."""

_UNDRAWN: Final = re.compile(
    "[^ -~\u00a1-\u017f\u01a0\u01a1\u01af\u01b0\u0218-\u021b\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce"
    "\u0400-\u0482\u048a-\u0513\u1ea0-\u1ef9\u2013-\u2015\u2018-\u201e\u2022\u2026\u2044\u20ac]+"
)
"""Matches characters that the font does not have."""


class Seat(NamedTuple):
    """A seat in a picture of a board.

    Attributes:
        name: The player's name, or a note that the seat is free.
        is_first: Whether the player has the turn or has won.
    """

    mark: str
    name: str
    is_first: bool = False
    is_free: bool = False


class BoardCard(NamedTuple):
    """A picture of a board, with the players and text to its right.

    Attributes:
        look: How pieces are drawn: ``marks``, ``discs`` or ``stones``.
        last: The cell of the last move, if any.
        line: The cells of the completed line, if any.
        is_misere: Whether the player who completed the line has lost.
    """

    seats: tuple[Seat, ...]
    heading: str
    note: str
    board: str
    columns: int
    marks: str
    look: str = "marks"
    last: int | None = None
    line: tuple[int, ...] = ()
    is_misere: bool = False


class TableCard(NamedTuple):
    """A picture of a table with text above it. A row consists of a rank such as ``1.``, a name and points."""

    title: str
    heading: str
    note: str
    rows: tuple[tuple[str, str, str], ...]
    more: str = ""


Card = BoardCard | TableCard


def draw(card: Card) -> bytes:
    """Render a card as a PNG of 1200 by 630 pixels."""
    sheet = aggdraw.Draw("RGB", (WIDTH, HEIGHT), _GROUND)
    if isinstance(card, TableCard):
        _draw_table(sheet, card)
    else:
        _draw_board(sheet, card)
        _draw_beside(sheet, card)
    return _to_png(sheet.tobytes())


def spell(text: str, otherwise: str = "") -> str:
    """Return `text` with ``…`` for characters that the font lacks, or `otherwise` if no letter is left.

    >>> spell("Zoë \uff21\uff22"), spell("ana \u4e09\u76ee"), spell("\u4e09\u76ee", "X")
    ('Zoë AB', 'ana …', 'X')
    """
    spelled = _UNDRAWN.sub("…", unicodedata.normalize("NFKC", text)).strip()
    return spelled if any(map(str.isalnum, spelled)) else otherwise or "…"


def _draw_board(sheet: Any, card: BoardCard) -> None:
    rows, columns = len(card.board) // card.columns, card.columns
    cell = _SIDE / max(rows, columns)
    left, top = _EDGE_PX + (_SIDE - columns * cell) / 2, (HEIGHT - rows * cell) / 2
    boxes = [(left + at % columns * cell, top + at // columns * cell, cell) for at in range(len(card.board))]
    frame = (left - 4, top - 4, left + columns * cell + 4, top + rows * cell + 4)
    fill, edge = {"stones": (_WOOD, _WOOD_LINE), "discs": (_PLATE, _PLATE)}.get(card.look, (_CARD, _EDGE))
    sheet.rounded_rectangle(frame, 10, aggdraw.Pen(edge, 3), aggdraw.Brush(fill))
    strong = card.line or (() if card.last is None else (card.last,))
    filled = _SOFT if not card.line else _LOST if card.is_misere else _WON
    for at in strong if card.look == "marks" else ():
        sheet.rectangle(_inset(boxes[at], 0), aggdraw.Brush(filled))
    if card.look != "discs":  # lines run between cells, or through the middle of cells for stones
        half, first = (cell / 2, 0) if card.look == "stones" else (0, 1)
        pen = aggdraw.Pen(edge, max(1, min(4, cell * 0.03)))
        for y in (top + row * cell + half for row in range(first, rows)):
            sheet.line((left + half, y, left + columns * cell - half, y), pen)
        for x in (left + column * cell + half for column in range(first, columns)):
            sheet.line((x, top + half, x, top + rows * cell - half), pen)
    for at, mark in enumerate(card.board):
        if mark == BLOCKED:
            pen = aggdraw.Pen(_DIM, max(1, cell * 0.04))
            sheet.rectangle(_inset(boxes[at], 0.22), pen, aggdraw.Brush(_EDGE))
        elif mark != FREE:
            _draw_piece(sheet, card, mark, boxes[at], is_strong=at in strong)
        elif card.look == "discs":
            sheet.ellipse(_inset(boxes[at], 0.09), aggdraw.Brush(_GROUND))
        elif card.look == "stones" and at in _STARS and len(card.board) == 225:
            sheet.ellipse(_inset(boxes[at], 0.4), aggdraw.Brush(_WOOD_LINE))
    if run := _ends_of(card.line, columns):
        colour, half = _ALARM if card.look == "stones" else _INK, cell / 2
        (x1, y1, _), (x2, y2, _) = (boxes[at] for at in run)
        _stroke(sheet, (x1 + half, y1 + half, x2 + half, y2 + half), colour, max(3, cell * 0.08))


def _draw_piece(sheet: Any, card: BoardCard, mark: str, box: Box, *, is_strong: bool = False) -> None:
    """Draw a piece in `box`. If `is_strong`, it gets a wide rim, unless it is a stone in a line with a stroke."""
    index, cell = card.marks.find(mark), box[2]
    if card.look == "stones":
        body, light, edge = (("#22242a", "#4c505b", "#15161a"), ("#f1ede2", "#ffffff", "#8a8272"))[index % 2]
        rim = aggdraw.Pen(_ALARM, max(2, cell * 0.1)) if is_strong and not card.line else aggdraw.Pen(edge, 1)
        sheet.ellipse(_inset(box, 0.05), rim, aggdraw.Brush(body))
        x, y = box[0] + cell * 0.24, box[1] + cell * 0.2
        sheet.ellipse((x, y, x + cell * 0.26, y + cell * 0.22), aggdraw.Brush(light))
        return
    colour = _MARKS[index % len(_MARKS)]
    if card.look == "discs":
        rim = aggdraw.Pen(_INK, max(2, cell * 0.07)) if is_strong else aggdraw.Pen(_INK, 1, 50)
        sheet.ellipse(_inset(box, 0.09), rim, aggdraw.Brush(colour))
        colour, box = _CARD, (box[0] + cell * 0.2, box[1] + cell * 0.2, cell * 0.6)
    x, y, side = box
    near, far, wide = side * 0.27, side * 0.73, max(1.5, side * 0.11)
    if mark == "X":
        _stroke(sheet, (x + near, y + near, x + far, y + far), colour, wide)
        _stroke(sheet, (x + far, y + near, x + near, y + far), colour, wide)
    elif mark == "O":
        sheet.ellipse(_inset(box, 0.24), aggdraw.Pen(colour, wide))
    else:
        font = _font(_BOLD, max(6, round(side * 0.6)), colour)
        width, height = _measure(mark, font)
        sheet.text((x + (side - width) / 2, y + (side - height) / 2), mark, font)


def _stroke(sheet: Any, line: tuple[float, float, float, float], colour: str, width: float) -> None:
    sheet.line(line, aggdraw.Pen(colour, width))
    for x, y in (line[:2], line[2:]) if width > 2 else ():
        sheet.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), aggdraw.Brush(colour))


def _inset(box: Box, part: float) -> tuple[float, float, float, float]:
    """Return the edges of the square inside `box`, with a margin of its side multiplied by `part`."""
    x, y, side = box
    return x + side * part, y + side * part, x + side * (1 - part), y + side * (1 - part)


def _ends_of(line: Sequence[int], columns: int) -> tuple[int, int] | None:
    """Return the first and the last cell in a line, or None unless the line is straight and without gaps."""
    cells = sorted(line)
    steps = {(b // columns - a // columns, b % columns - a % columns) for a, b in pairwise(cells)}
    return (cells[0], cells[-1]) if len(steps) == 1 else None


def _draw_beside(sheet: Any, card: BoardCard) -> None:
    _write(sheet, (_TEXT_X, 46), "tictactoe", (_BOLD, 28, _TITLE))
    y, tall = (124.0, 78) if len(card.seats) < 4 else (104.0, 54)
    for seat in card.seats:
        _draw_piece(sheet, card, seat.mark, (_TEXT_X, y, tall - 22))
        style = _BOLD if seat.is_first else _PLAIN, tall // 2 + 3, _DIM if seat.is_free else _INK
        x, middle = _TEXT_X + tall - 4, y + (tall - 22) / 2
        _write(sheet, (x, middle), seat.name, style, WIDTH - _EDGE_PX - x, is_middle=True)
        y += tall
    size = 38 if card.seats else 52
    parts = (
        (card.heading, (_BOLD, size, _TITLE), size * 1.3, 3 if len(card.seats) < 4 else 2),
        (card.note, (_PLAIN, 28, _DIM), 38.0, 99),
    )
    for text, style, high, most in parts:
        y += 15
        lines = max(1, min(most, int((HEIGHT - 40 - y) // high)))
        for line in _wrap(sheet, text, _font(*style), _TEXT_WIDTH, lines):
            _write(sheet, (_TEXT_X, y), line, style)
            y += high


def _draw_table(sheet: Any, card: TableCard) -> None:
    width, top, tall = WIDTH - 2 * _EDGE_PX, 246, 48
    _write(sheet, (_EDGE_PX, 30), "tictactoe", (_BOLD, 28, _TITLE))
    _write(sheet, (_EDGE_PX, 74), card.title, (_BOLD, 54, _INK), width)
    _write(sheet, (_EDGE_PX, 148), card.heading, (_BOLD, 30, _TITLE), width)
    _write(sheet, (_EDGE_PX, 192), card.note, (_PLAIN, 26, _DIM), width)
    if not card.rows:
        return
    frame = (_EDGE_PX, top, WIDTH - _EDGE_PX, top + tall * len(card.rows) + 8)
    sheet.rounded_rectangle(frame, 14, aggdraw.Pen(_EDGE, 2), aggdraw.Brush(_CARD))
    for y, (place, name, points) in zip(count(top + 4, tall), card.rows, strict=False):
        if y > top + 4:
            sheet.line((_EDGE_PX + 20, y, WIDTH - _EDGE_PX - 20, y), aggdraw.Pen(_EDGE, 1))
        face = _BOLD if place == "1." and points != "0" else _PLAIN
        _write(sheet, (_EDGE_PX + 28, y + 6), place, (face, 28, _DIM))
        _write(sheet, (_EDGE_PX + 110, y + 6), name, (face, 28, _INK), width - 300)
        right = WIDTH - _EDGE_PX - 28 - sheet.textsize(points, _font(face, 28, _INK))[0]
        _write(sheet, (right, y + 6), points, (face, 28, _INK))
    if card.more:
        _write(sheet, (_EDGE_PX + 28, frame[3] + 4), card.more, (_PLAIN, 22, _DIM))


@lru_cache(maxsize=128)
def _font(style: str, size: int, colour: str) -> Any:
    return aggdraw.Font(colour, str(_FONTS / style), size)


@lru_cache(maxsize=128)
def _measure(mark: str, font: Any) -> tuple[float, float]:
    return aggdraw.Draw("RGB", (1, 1)).textsize(mark, font)  # type: ignore[no-any-return]


def _write(
    sheet: Any, at: tuple[float, float], text: str, style: Style, width: float = WIDTH, *, is_middle: bool = False
) -> None:
    """Write `text` within `width`: shrink it to no less than two thirds of its size, and then truncate it."""
    face, size, colour = style
    font = _font(face, size, colour)
    if (needed := sheet.textsize(text, font)[0]) > width:
        font = _font(face, max(size * 2 // 3, int(size * width / needed)), colour)
        text = _cut(sheet, text, font, width)
    sheet.text((at[0], at[1] - is_middle * sheet.textsize(text, font)[1] / 2), text, font)


def _cut(sheet: Any, text: str, font: Any, width: float) -> str:
    if sheet.textsize(text, font)[0] <= width:
        return text
    while text and sheet.textsize(f"{text}…", font)[0] > width:
        text = text[:-1].rstrip()
    return f"{text}…"


def _wrap(sheet: Any, text: str, font: Any, width: float, most: int) -> Iterator[str]:
    words = text.split()
    for number in range(most):
        taken = 1
        while taken < len(words) and sheet.textsize(" ".join(words[: taken + 1]), font)[0] <= width:
            taken += 1
        if number == most - 1:
            taken = len(words)
        if words:
            yield _cut(sheet, " ".join(words[:taken]), font, width)
        words = words[taken:]


def _to_png(rgb: bytes) -> bytes:
    """Encode pixels as a PNG. Source: the PNG specification, third edition, sections 5 and 9."""
    stride = 3 * WIDTH
    rows = b"".join(b"\0" + rgb[at : at + stride] for at in range(0, len(rgb), stride))
    head = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", head), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
