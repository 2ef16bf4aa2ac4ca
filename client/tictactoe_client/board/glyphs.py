"""Marks that fill a cell, three, five or nine lines high, drawn from dots; large crosses and rings by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from tictactoe_engine import BLOCKED

_LARGE: Final = {
    "X": ("▀▄     ▄▀", "  ▀▄ ▄▀  ", "   ▄▀▄   ", " ▄▀   ▀▄ ", "▀       ▀"),
    "O": (" ▄▀▀▀▀▀▄ ", "█       █", "█       █", "▀▄     ▄▀", "  ▀▀▀▀▀  "),
}
_DOTS: Final = 17
_RING: Final = range(37, 72)
"""How far the dots of the largest ring are from its middle, squared."""
_HALVES: Final = {"  ": " ", "# ": "▀", " #": "▄", "##": "█"}
_LETTERS: Final = (
    (
        " ###  ####   #### ####  ##### #####  #### #   # ##### ##### #   # #     #   #",
        "#   # #   # #     #   # #     #     #     #   #   #      #  #  #  #     ## ##",
        "##### ####  #     #   # ####  ####  #  ## #####   #      #  ###   #     # # #",
        "#   # #   # #     #   # #     #     #   # #   #   #   #  #  #  #  #     #   #",
        "#   # ####   #### ####  ##### #      #### #   # #####  ##   #   # ##### #   #",
    ),
    (
        "#   #  ###  ####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####",
        "##  # #   # #   # #   # #   # #       #   #   # #   # #   #  # #   # #     # ",
        "# # # #   # ####  # # # ####   ###    #   #   # #   # # # #   #     #     #  ",
        "#  ## #   # #     #  #  #  #      #   #   #   #  # #  ## ##  # #    #    #   ",
        "#   #  ###  #      ## # #   # ####    #    ###    #   #   # #   #   #   #####",
    ),
)
"""A to M and N to Z, 5 by 5 dots each."""


@cache
def draw_glyph(mark: str, height: int, *, ascii_only: bool) -> tuple[str, ...]:
    """Return a mark in 3, 5 or 9 lines of one width, at most 5, 10 or 17 characters; in ASCII made of its own letter.

    Elsewhere the lower half of its last line is blank, so that marks one upon the other stay apart.

    >>> draw_glyph("X", 3, ascii_only=True), draw_glyph("X", 3, ascii_only=False)
    (('X   X', '  X  ', 'X   X'), ('▀▄ ▄▀', ' ▄▀▄ ', '▀   ▀'))
    """
    if mark == BLOCKED:
        return ((BLOCKED if ascii_only else "░") * (2 * height - 1),) * height
    if height > 5:
        return _draw_largest(mark, ascii_only=ascii_only)
    half, number = divmod(ord(mark) - ord("A"), 13)
    dots, is_large = [line[6 * number : 6 * number + 5] for line in _LETTERS[half]], height > 3
    if is_large and mark in _LARGE and not ascii_only:
        return _LARGE[mark]
    if is_large or ascii_only:
        signs = mark * 5 if ascii_only else "████▀"
        lines = ["".join(2 * dot for dot in line) for line in dots] if is_large else dots[::2]
        return tuple(line.replace("#", sign) for line, sign in zip(lines, signs, strict=False))
    pairs = zip(dots[::2], (*dots[1::2], " " * 5), strict=True)
    return tuple("".join(_HALVES[one + other] for one, other in zip(*pair, strict=True)) for pair in pairs)


def _draw_largest(mark: str, *, ascii_only: bool) -> tuple[str, ...]:
    """Return a mark of 17 by 17 dots, two of them above each other in a character."""
    half, number = divmod(ord(mark) - ord("A"), 13)
    letter = [line[6 * number : 6 * number + 5] for line in _LETTERS[half]]

    def has_dot(x: int, y: int) -> bool:
        if mark == "X":
            return min(abs(x - y), abs(x + y - _DOTS + 1)) <= 1
        if mark == "O":
            return _RING.start <= (x - _DOTS // 2) ** 2 + (y - _DOTS // 2) ** 2 < _RING.stop
        return letter[y * 5 // _DOTS][x * 5 // _DOTS] == "#"

    dots = ["".join("#" if has_dot(x, y) else " " for x in range(_DOTS)) for y in range(_DOTS)]
    if ascii_only:
        return tuple(line.replace("#", mark) for line in dots[::2])
    pairs = zip(dots[::2], (*dots[1::2], " " * _DOTS), strict=True)
    return tuple("".join(_HALVES[one + other] for one, other in zip(*pair, strict=True)) for pair in pairs)


def draw_words(words: Sequence[str], width: int, *, ascii_only: bool) -> list[str]:
    """Return words in letters three lines high, in one row where that fits, else one below the other; none if wider.

    >>> draw_words(["XI"], 11, ascii_only=True)
    ['X   X IIIII', '  X     I', 'X   X IIIII']
    """
    rows = [" ".join(words)] if 6 * len(" ".join(words)) - 1 <= width else list(words)
    if any(6 * len(row) - 1 > width for row in rows):
        return []
    drawn: list[str] = []
    for row in rows:
        glyphs = [draw_glyph(letter, 3, ascii_only=ascii_only) if letter != " " else ("", "", "") for letter in row]
        drawn += ["", *(" ".join(line).rstrip() for line in zip(*glyphs, strict=True))]
    return drawn[1:]
