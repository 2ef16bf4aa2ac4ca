"""A grid of characters with roles (``title``, ``key``, ``mark0``); the theme has a colour for each role."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len, chop_cells, set_cell_size, split_graphemes
from textual.geometry import Region

from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say

Cell = tuple[str, str]
"""A character, empty for the second half of a wide one, and its role."""
Text = tuple[str, str]

_BLANK: Cell = (" ", "")
ASCII = str.maketrans("…–èÈ✗╳●‹›▼▲─│╭╮╰╯▶◂·✓", "~-eExx*<>v^-|++++><-+")
"""The ASCII replacements for our own signs."""


class Picture:
    """A grid of cells that clips everything outside. With `ascii_only`, our own signs become ASCII."""

    def __init__(self, width: int, height: int, *, ascii_only: bool = False) -> None:
        self.width = width
        self.height = height
        self.ascii_only = ascii_only
        self.rows: list[list[Cell]] = [[_BLANK] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, role: str = "", *, until: int | None = None) -> int:
        """Write text at a cell, at most up to the column `until`; return the column after the text."""
        return self.put_parts(x, y, (text, role), until=until)

    def put_right(self, y: int, text: str, role: str = "") -> None:
        self.put_parts(max(0, self.width - 1 - measure(text)), y, (text, role))

    def put_parts(self, x: int, y: int, *parts: Text, until: int | None = None) -> int:
        """Write texts one after another, like `put`; control characters are removed."""
        end = self.width if until is None else min(until, self.width)
        row = self.rows[y] if 0 <= y < self.height else [_BLANK] * self.width
        for text, role in parts:
            cells = _split(text.translate(ASCII) if self.ascii_only else text)
            room = max(0, end - x)
            if cells[room : room + 1] == ("",):
                room -= 1
            visible = cells[:room]
            row[x : x + len(visible)] = [(cell, role) for cell in visible]
            x += len(visible)
        return x

    def paste(self, x: int, y: int, rows: Sequence[Sequence[Cell]], role: str | None = None) -> None:
        """Overwrite cells with these rows, in their own roles or in a single one."""
        for line, row in zip(self.rows[y:], rows, strict=False):
            cells = row[: max(0, self.width - x)]
            line[x : x + len(cells)] = cells if role is None else [(character, role) for character, _ in cells]

    def lines(self) -> list[str]:
        return ["".join(character for character, _ in row).rstrip() for row in self.rows]


@lru_cache(maxsize=1024)
def _split(text: str) -> tuple[str, ...]:
    """Return the text by cells: combining marks share a cell, and the second cell of a wide character is empty."""
    text = clean_text(text)
    cells: list[str] = []
    for start, end, size in split_graphemes(text)[0]:
        cells += [text[start:end], ""][:size]
    return tuple(cells)


def place_stage(size: tuple[int, int], window: tuple[int, int]) -> Region:
    """Return the region for content of this size, centred in the window; 2/5 of the vertical space are above it.

    >>> place_stage((100, 30), (200, 50))
    Region(x=50, y=8, width=100, height=30)
    """
    width, height = min(size[0], window[0]), min(size[1], window[1])
    return Region((window[0] - width) // 2, (window[1] - height) * 2 // 5, width, height)


measure = cell_len


def shorten(text: str, width: int) -> str:
    """Return the text, cut to this width with an ellipsis.

    >>> shorten("guest-otter", 6)
    'guest…'
    """
    return text if measure(text) <= width else f"{set_cell_size(text, max(0, width - 1))}…"


def shorten_left(text: str, width: int) -> str:
    """Return the text, its beginning cut to this width with an ellipsis.

    >>> shorten_left("ws://localhost:8765  1 ms", 12)
    '…:8765  1 ms'
    """
    if measure(text) <= width:
        return text
    while text and measure(text) >= width:
        text = text[1:]
    return f"…{text}"


def shorten_words(text: str, width: int) -> str:
    """Return the text, cut to this width after a whole word with an ellipsis.

    >>> shorten_words("B2 is taken by O. Free: A2 C2 A3.", 20)
    'B2 is taken by O. …'
    """
    if measure(text) <= width:
        return text
    words, _, _ = shorten(text, width - 1).rpartition(" ")
    return f"{words} …" if words.strip() else shorten(text, width)


def fold(text: str, width: int, most: int) -> list[str]:
    """Return the text wrapped to at most `most` lines, the last one cut after a word."""
    lines = wrap(text, width)
    return [*lines[: most - 1], shorten_words(" ".join(lines[most - 1 :]), width)] if len(lines) > most else lines


def wrap(text: str, width: int) -> list[str]:
    """Return the text wrapped to this width, at spaces if possible."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        *whole, rest = chop_cells(word, max(1, width)) or [""]
        joined = f"{line} {rest}" if line else rest
        if whole or measure(joined) > width:
            lines += [line, *whole]
            joined = rest
        line = joined
    return [line for line in map(str.strip, [*lines, line]) if line] or [""]


def notice_size(needed: tuple[int, int], window: tuple[int, int], question: str) -> list[str]:
    """Return the lines for a window that is too small: the needed size, then the open question, if any.

    >>> notice_size((24, 9), (20, 8), "")
    ['24x9 needed, now', '20x8']
    """
    width, height = window
    question_lines = wrap(question, width) if question else []
    size, room = f"{needed[0]}x{needed[1]}", max(1, height - len(question_lines))
    notice = wrap(say("window too small", size=size, window=f"{width}x{height}"), width)
    return [*notice[:room], *question_lines][:height]
