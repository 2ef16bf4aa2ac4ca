"""A screen's worth of characters, each with a role: what pages draw on, and what tests read.

A role says what a character is for (``title``, ``key``, ``mark0``); which colour that is decides the theme. Wide
characters take two cells, marks that combine join the cell before them. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import get_character_cell_size

from tictactoe_protocol import clean_text

Cell = tuple[str, str]
"""A character, empty for the second half of a wide one, and its role."""

_BLANK: Cell = (" ", "")
_ASCII = str.maketrans("…èÈ✗╳●‹›▼─│╭╮╰╯", "~eExx*<> -|++++")


class Picture:
    """A grid of `width` by `height` cells; whatever is put outside is cut off.

    With `ascii_only` our own signs are put as others that are ASCII; what else strangers write stays as it is.
    """

    def __init__(self, width: int, height: int, *, ascii_only: bool = False) -> None:
        self.width = width
        self.height = height
        self.ascii_only = ascii_only
        self.rows: list[list[Cell]] = [[_BLANK] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, role: str = "", *, until: int | None = None) -> int:
        """Write text from a cell on, up to the column `until`; return the column after its end.

        Nothing that steers a terminal gets onto a picture, whoever the text is from.
        """
        end = self.width if until is None else min(until, self.width)
        if not 0 <= y < self.height:
            return x
        row = self.rows[y]
        if self.ascii_only:
            text = text.translate(_ASCII)
        for character in clean_text(text):
            size = get_character_cell_size(character)
            if size == 0:
                if 0 < x <= end and row[x - 1][0]:
                    row[x - 1] = (row[x - 1][0] + character, row[x - 1][1])
                continue
            if x + size > end:
                break
            if x >= 0:
                row[x] = (character, role)
                if size == 2:
                    row[x + 1] = ("", role)
            x += size
        return x

    def put_right(self, y: int, text: str, role: str = "", *, margin: int = 1) -> None:
        """Write text so that it ends at the right edge."""
        self.put(self.width - margin - measure(text), y, text, role)

    def put_parts(self, x: int, y: int, *parts: tuple[str, str], until: int | None = None) -> int:
        """Write texts with a role each, one after the other."""
        for text, role in parts:
            x = self.put(x, y, text, role, until=until)
        return x

    def put_lines(self, x: int, y: int, width: int, text: str, role: str = "") -> int:
        """Write a text in lines of at most so many cells; return the row below the last one."""
        indent = len(text) - len(text.lstrip(" "))
        lines = wrap(text[indent:], width - indent)
        for number, line in enumerate(lines, y):
            self.put(x + indent, number, line, role)
        return y + len(lines)

    def paste(self, x: int, y: int, rows: Sequence[Sequence[Cell]], role: str | None = None) -> None:
        """Put rows of narrow characters here over whatever is there, in their roles or all in this one."""
        for line, row in enumerate(rows, y):
            if 0 <= line < self.height:
                cells = row[: max(0, self.width - x)]
                self.rows[line][x : x + len(cells)] = cells if role is None else [(cell[0], role) for cell in cells]

    def lines(self) -> list[str]:
        """Return the plain text, without trailing spaces."""
        return ["".join(character for character, _ in row).rstrip() for row in self.rows]

    def has(self, role: str) -> bool:
        """Tell whether anything plays this role."""
        return any(cell[1] == role for row in self.rows for cell in row)


@dataclass(frozen=True, slots=True)
class Stage:
    """A rectangle of the window: its upper left corner and its size, in characters."""

    x: int
    y: int
    width: int
    height: int

    def find(self, x: int, y: int) -> tuple[int, int] | None:
        """Return what a place of the window is on the stage, or None beside it."""
        x, y = x - self.x, y - self.y
        return (x, y) if 0 <= x < self.width and 0 <= y < self.height else None

    def show(self, picture: Picture, width: int, height: int) -> Picture:
        """Return the window's picture with this one, of the stage's size, in its place."""
        if (picture.width, picture.height) == (width, height):
            return picture
        whole = Picture(width, height)
        for y, row in enumerate(picture.rows, self.y):
            whole.rows[y][self.x : self.x + picture.width] = row
        return whole


def place_stage(size: tuple[int, int], window: tuple[int, int]) -> Stage:
    """Return where something of this size stands; of what the window has left over above and below, 2/5 are above.

    >>> place_stage((100, 30), (200, 50))
    Stage(x=50, y=8, width=100, height=30)
    """
    width, height = min(size[0], window[0]), min(size[1], window[1])
    return Stage((window[0] - width) // 2, (window[1] - height) * 2 // 5, width, height)


def measure(text: str) -> int:
    """Return how many cells a text takes."""
    return len(text) if text.isascii() else sum(map(get_character_cell_size, text))


def shorten(text: str, width: int) -> str:
    """Return the text, cut with an ellipsis where it takes more cells.

    >>> shorten("guest-otter", 6)
    'guest…'
    """
    if measure(text) <= width:
        return text
    kept = ""
    for character in text:
        if measure(kept + character) > width - 1:
            break
        kept += character
    return f"{kept}…"


def shorten_left(text: str, width: int) -> str:
    """Return the text, its beginning cut with an ellipsis where it takes more cells.

    >>> shorten_left("ws://localhost:8765  1 ms", 12)
    '…:8765  1 ms'
    """
    if measure(text) <= width:
        return text
    while text and measure(text) >= width:
        text = text[1:]
    return f"…{text}"


def shorten_words(text: str, width: int) -> str:
    """Return the text, cut after a whole word with an ellipsis where it takes more cells.

    >>> shorten_words("B2 is taken by O. Free: A2 C2 A3.", 20)
    'B2 is taken by O. …'
    """
    if measure(text) <= width:
        return text
    words, _, _ = shorten(text, width - 1).rpartition(" ")
    return f"{words} …" if words.strip() else shorten(text, width)


def fold(text: str, width: int, most: int) -> list[str]:
    """Return the text in at most so many lines, broken and at last cut between words."""
    lines = [line.strip() for line in wrap(text, width)]
    lines = [line for line in lines if line] or [""]
    return [*lines[: most - 1], shorten_words(" ".join(lines[most - 1 :]), width)] if len(lines) > most else lines


def wrap(text: str, width: int) -> list[str]:
    """Return the text in lines of at most so many cells, broken at spaces where there are any."""
    lines, line = [], ""
    for word in text.split(" "):
        while measure(word) > width:
            head = shorten(word, width)[:-1] or word[:1]
            if line:
                lines.append(line)
                line = ""
            lines.append(head)
            word = word[len(head) :]
        joined = f"{line} {word}" if line else word
        if measure(joined) <= width:
            line = joined
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def notice_size(needed: tuple[int, int], window: tuple[int, int], question: str) -> list[str]:
    """Return the lines for a window of this size, the notice first, and below it what is asked, empty for nothing.

    >>> notice_size((24, 9), (20, 8), "")
    ['needs at least 24x9,', 'now 20x8']
    """
    width, height = window
    asked = fold(question, width, height) if question else []
    size, now = f"{needed[0]}x{needed[1]}", f"now {width}x{height}"
    ways = [
        fold(text, width, height + 1)
        for text in (f"needs at least {size}, {now}", f"needs at least {size}", f"needs {size}")
    ]
    room = max(1, height - len(asked))
    notice = next((lines for lines in ways if len(lines) <= room), ways[0][:room])
    return [*notice, *asked][:height]
