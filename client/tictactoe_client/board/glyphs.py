"""Draws marks that fill a cell, three, five or nine lines high: enlarged letters, special crosses and rings."""

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
"""The squared distances of the largest ring's dots from the middle."""
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
"""The letters A to M, then N to Z, of 5 by 5 dots each."""


@cache
def draw_glyph(mark: str, height: int, *, ascii_only: bool) -> tuple[str, ...]:
    """Return a mark as 3, 5 or 9 lines of equal width (at most 5, 10 or 17).

    In ASCII, the mark is made of its own letter. Otherwise the lower half of the last line is blank, to separate the
    mark from a mark below it.

    >>> draw_glyph("X", 3, ascii_only=True), draw_glyph("X", 3, ascii_only=False)
    (('X   X', '  X  ', 'X   X'), ('▀▄ ▄▀', ' ▄▀▄ ', '▀   ▀'))
    """
    if mark == BLOCKED:
        return ((BLOCKED if ascii_only else "░") * (2 * height - 1),) * height
    half, number = divmod(ord(mark) - ord("A"), 13)
    dots = [line[6 * number : 6 * number + 5] for line in _LETTERS[half]]
    if height == 5:
        if mark in _LARGE and not ascii_only:
            return _LARGE[mark]
        signs = mark * 5 if ascii_only else "████▀"
        return tuple(
            "".join(2 * dot for dot in line).replace("#", sign) for line, sign in zip(dots, signs, strict=True)
        )
    if height > 5:
        reach = range(_DOTS)
        dots = ["".join("#" if _has_dot(mark, dots, x, y) else " " for x in reach) for y in reach]
    if ascii_only:
        return tuple(line.replace("#", mark) for line in dots[::2])
    pairs = zip(dots[::2], (*dots[1::2], " " * len(dots)), strict=True)
    return tuple("".join(_HALVES[upper + lower] for upper, lower in zip(*pair, strict=True)) for pair in pairs)


def _has_dot(mark: str, letter: Sequence[str], x: int, y: int) -> bool:
    """Return True if a mark of the largest size has a dot here; crosses and rings are computed, letters enlarged."""
    if mark == "X":
        return min(abs(x - y), abs(x + y - _DOTS + 1)) <= 1
    if mark == "O":
        return _RING.start <= (x - _DOTS // 2) ** 2 + (y - _DOTS // 2) ** 2 < _RING.stop
    return letter[y * 5 // _DOTS][x * 5 // _DOTS] == "#"


def draw_words(words: Sequence[str], width: int, *, ascii_only: bool) -> list[str]:
    """Return words in letters three lines high, side by side or one below the other; [] if neither fits.

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
