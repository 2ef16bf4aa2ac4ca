"""A board as text for a terminal, as plain mode draws it: the last move ``(O)``, a deciding line ``<X X X>``."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final

from tictactoe_engine import BLOCKED, FREE, format_column

_COLOURS: Final = (36, 33, 35, 32, 34, 31)
_BOLD: Final = "\x1b[1m"
_END: Final = "\x1b[0m"


def draw_board(
    board: str,
    columns: int,
    marks: str,
    *,
    last: int | None = None,
    line: Collection[int] = (),
    is_coloured: bool = False,
) -> list[str]:
    """Return the board as lines without trailing spaces, with `is_coloured` in ANSI's colours.

    >>> print("\\n".join(draw_board("X...O....", 3, "XO", last=4)))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    >>> print("\\n".join(draw_board("XXXOO....", 3, "XO", last=2, line=(0, 1, 2))))
       A B C
    1 <X X X>
    2  O O .
    3  . . .
    """
    rows = len(board) // columns
    margin, names = len(str(rows)), [format_column(column) for column in range(columns)]
    tall = len(names[-1])
    drawn = [" " * (margin + 2) + " ".join(name.rjust(tall)[level] for name in names) for level in range(tall)]
    signs = _signs(marks) if is_coloured else {}
    strong = frozenset(line) or frozenset(() if last is None else (last,))
    brackets = "<>" if line else "()"
    for row in range(rows):
        cells = range(row * columns, (row + 1) * columns)
        some = strong.intersection(cells)
        text = [signs.get(mark, mark) for mark in board[cells.start : cells.stop]]
        gaps = [" "] * (columns + 1)
        for cell in some:
            place = cell - cells.start
            text[place] = _BOLD + text[place] if is_coloured else text[place]
            if cell - 1 not in some:
                gaps[place] = brackets[0]
            if cell + 1 not in some:
                gaps[place + 1] = brackets[1]
        drawn.append(f"{row + 1:>{margin}} {gaps[0]}{''.join(map(str.__add__, text, gaps[1:]))}".rstrip())
    return drawn


@lru_cache(maxsize=64)
def _signs(marks: str) -> dict[str, str]:
    """Return what is drawn for each mark, and for a cell that is free or blocked, in colour."""
    coloured = {mark: f"\x1b[{_COLOURS[number % len(_COLOURS)]}m{mark}{_END}" for number, mark in enumerate(marks)}
    return coloured | {sign: f"\x1b[2m{sign}{_END}" for sign in (FREE, BLOCKED)}
