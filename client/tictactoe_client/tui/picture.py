"""A grid of characters, each with a role such as ``title`` or ``mark0``. The theme defines a style for each role."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, chop_cells, set_cell_size, split_graphemes
from textual.geometry import Region

from tictactoe_protocol import clean_text
from tictactoe_words.catalogue import say

Cell = tuple[str, str]
"""A character and its role; the character is "" in the second cell of a wide one."""
Text = tuple[str, str]

_BLANK: Cell = (" ", "")
ASCII = str.maketrans("…–èÈ✗╳●‹›▼▲─│╭╮╰╯▶◂·✓", "~-eExx*<>v^-|++++><-+")
"""The ASCII replacements of the special characters that we draw."""


class Picture:
    """A grid of cells; drawing outside of it has no effect. `ascii_only` replaces special characters with ASCII."""

    def __init__(self, width: int, height: int, *, ascii_only: bool = False) -> None:
        self.width = width
        self.height = height
        self.ascii_only = ascii_only
        self.rows: list[list[Cell]] = [[_BLANK] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, role: str = "", *, until: int | None = None) -> int:
        """Write a text from a cell on, but not beyond the column `until`; return the column after the text."""
        return self.put_parts(x, y, (text, role), until=until)

    def put_right(self, y: int, text: str, role: str = "") -> None:
        self.put_parts(max(0, self.width - 1 - measure(text)), y, (text, role))

    def put_parts(self, x: int, y: int, *parts: Text, until: int | None = None) -> int:
        """Write texts one after the other, like `put`; control characters are removed."""
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
        """Overwrite cells with these rows; `role`, if given, replaces the roles of their cells."""
        for line, row in zip(self.rows[y:], rows, strict=False):
            cells = row[: max(0, self.width - x)]
            line[x : x + len(cells)] = cells if role is None else [(character, role) for character, _ in cells]

    def lines(self) -> list[str]:
        return ["".join(character for character, _ in row).rstrip() for row in self.rows]


@lru_cache(maxsize=1024)
def _split(text: str) -> tuple[str, ...]:
    """Split a text into cells; combining marks share a cell, and a wide character is followed by ""."""
    text = clean_text(text)
    cells: list[str] = []
    for start, end, size in split_graphemes(text)[0]:
        cells += [text[start:end], ""][:size]
    return tuple(cells)


def place_stage(size: tuple[int, int], window: tuple[int, int]) -> Region:
    """Return where to draw content of this size: centred horizontally, with 2/5 of the free lines above it.

    >>> place_stage((100, 30), (200, 50))
    Region(x=50, y=8, width=100, height=30)
    """
    width, height = min(size[0], window[0]), min(size[1], window[1])
    return Region((window[0] - width) // 2, (window[1] - height) * 2 // 5, width, height)


measure = cell_len
NO_BREAK: Final = "\u00a0"
"""A space that keeps two words in one line; `wrap` replaces it by a space."""


def shorten(text: str, width: int) -> str:
    """Return the text, its end cut off with an ellipsis if it is wider than `width`.
    >>> shorten("guest-otter", 6)
    'guest…'
    """
    return text if measure(text) <= width else f"{set_cell_size(text, max(0, width - 1))}…"


def shorten_left(text: str, width: int) -> str:
    """Return the text, its beginning cut off with an ellipsis if it is wider than `width`.

    >>> shorten_left("ws://localhost:8765  1 ms", 12)
    '…:8765  1 ms'
    """
    if measure(text) <= width:
        return text
    while text and measure(text) >= width:
        text = text[1:]
    return f"…{text}"


def shorten_words(text: str, width: int) -> str:
    """Return the text, cut off after a whole word with an ellipsis if it is wider than `width`.

    >>> shorten_words("B2 is taken by O. Free: A2 C2 A3.", 20)
    'B2 is taken by O. …'
    """
    if measure(text) <= width:
        return text
    words, _, _ = shorten(text, width - 1).rpartition(" ")
    return f"{words} …" if words.strip() else shorten(text, width)


def fold(text: str, width: int, most: int) -> list[str]:
    """Wrap a text to at most `most` lines; if it is longer, the last line is cut off after a word."""
    lines = wrap(text, width)
    return [*lines[: most - 1], shorten_words(" ".join(lines[most - 1 :]), width)] if len(lines) > most else lines


def wrap(text: str, width: int) -> list[str]:
    """Wrap a text to this width, at spaces if possible, but not at `NO_BREAK`; return at least one line."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        *whole, rest = chop_cells(word, max(1, width)) or [""]
        joined = f"{line} {rest}" if line else rest
        if whole or measure(joined) > width:
            lines += [line, *whole]
            joined = rest
        line = joined
    return [line for line in (each.replace(NO_BREAK, " ").strip() for each in (*lines, line)) if line] or [""]


def notice_size(needed: tuple[int, int], window: tuple[int, int], question: str) -> list[str]:
    """Return what to show in a window that is too small: the size needed, then the open question, if any.

    >>> notice_size((24, 9), (20, 8), "")
    ['24x9 needed, now', '20x8']
    """
    width, height = window
    question_lines = wrap(question, width) if question else []
    size, room = f"{needed[0]}x{needed[1]}", max(1, height - len(question_lines))
    notice = wrap(say("window too small", size=size, window=f"{width}x{height}"), width)
    return [*notice[:room], *question_lines][:height]
