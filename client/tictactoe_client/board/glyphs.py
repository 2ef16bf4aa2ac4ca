"""Marks that fill a cell, three or five lines high, drawn from dots; large crosses and rings by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from tictactoe_engine import BLOCKED

_LARGE: Final = {
    "X": ("▀▄     ▄▀", "  ▀▄ ▄▀  ", "   ▄▀▄   ", " ▄▀   ▀▄ ", "▀       ▀"),
    "O": (" ▄▀▀▀▀▀▄ ", "█       █", "█       █", "▀▄     ▄▀", "  ▀▀▀▀▀  "),
}
_HALVES: Final = {"  ": " ", "# ": "▀", " #": "▄", "##": "█"}
_DOTS: Final = {
    "A": (" ### ", "#   #", "#####", "#   #", "#   #"),
    "B": ("#### ", "#   #", "#### ", "#   #", "#### "),
    "C": (" ####", "#    ", "#    ", "#    ", " ####"),
    "D": ("#### ", "#   #", "#   #", "#   #", "#### "),
    "E": ("#####", "#    ", "#### ", "#    ", "#####"),
    "F": ("#####", "#    ", "#### ", "#    ", "#    "),
    "G": (" ####", "#    ", "#  ##", "#   #", " ####"),
    "H": ("#   #", "#   #", "#####", "#   #", "#   #"),
    "I": ("#####", "  #  ", "  #  ", "  #  ", "#####"),
    "J": ("#####", "   # ", "   # ", "#  # ", " ##  "),
    "K": ("#   #", "#  # ", "###  ", "#  # ", "#   #"),
    "L": ("#    ", "#    ", "#    ", "#    ", "#####"),
    "M": ("#   #", "## ##", "# # #", "#   #", "#   #"),
    "N": ("#   #", "##  #", "# # #", "#  ##", "#   #"),
    "O": (" ### ", "#   #", "#   #", "#   #", " ### "),
    "P": ("#### ", "#   #", "#### ", "#    ", "#    "),
    "Q": (" ### ", "#   #", "# # #", "#  # ", " ## #"),
    "R": ("#### ", "#   #", "#### ", "#  # ", "#   #"),
    "S": (" ####", "#    ", " ### ", "    #", "#### "),
    "T": ("#####", "  #  ", "  #  ", "  #  ", "  #  "),
    "U": ("#   #", "#   #", "#   #", "#   #", " ### "),
    "V": ("#   #", "#   #", "#   #", " # # ", "  #  "),
    "W": ("#   #", "#   #", "# # #", "## ##", "#   #"),
    "X": ("#   #", " # # ", "  #  ", " # # ", "#   #"),
    "Y": ("#   #", " # # ", "  #  ", "  #  ", "  #  "),
    "Z": ("#####", "   # ", "  #  ", " #   ", "#####"),
}


@cache
def draw_glyph(mark: str, height: int, *, ascii_only: bool) -> tuple[str, ...]:
    """Return a mark in 3 or 5 lines of one width, at most 5 or 10 characters; in ASCII made of its own letter.

    Elsewhere the lower half of its last line is blank, so that marks one upon the other stay apart.

    >>> draw_glyph("X", 3, ascii_only=True), draw_glyph("X", 3, ascii_only=False)
    (('X   X', '  X  ', 'X   X'), ('▀▄ ▄▀', ' ▄▀▄ ', '▀   ▀'))
    """
    if mark == BLOCKED:
        return ((BLOCKED if ascii_only else "░") * (2 * height - 1),) * height
    dots, is_large = _DOTS[mark], height > 3
    if ascii_only:
        return tuple((_double(line) if is_large else line).replace("#", mark) for line in dots[:: 1 if is_large else 2])
    if is_large and mark in _LARGE:
        return _LARGE[mark]
    if is_large:
        return tuple(_double(line).replace("#", block) for line, block in zip(dots, "████▀", strict=True))
    pairs = zip(dots[::2], (*dots[1::2], " " * 5), strict=True)
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
        drawn += [""] if drawn else []
        drawn += [" ".join(glyph[line] for glyph in glyphs).rstrip() for line in range(3)]
    return drawn


def _double(line: str) -> str:
    return "".join(dot * 2 for dot in line)
