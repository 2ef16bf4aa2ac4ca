"""A board as text for a terminal, as plain mode draws it: the last move ``(O)``, a deciding line ``<X X X>``."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final

from tictactoe_engine import BLOCKED, FREE, format_column

_COLOURS: Final = (36, 33, 35, 32, 34, 31)


def draw_board(
    board: str, columns: int, marks: str, last: int | None, line: Collection[int] = (), *, is_coloured: bool = False
) -> list[str]:
    """Return the board as lines without trailing spaces, with `is_coloured` in ANSI's colours.

    >>> print("\\n".join(draw_board("X...O....", 3, "XO", 4)))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    >>> print("\\n".join(draw_board("XXXOO....", 3, "XO", 2, (0, 1, 2))))
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
    strong: set[int | None] = {*line} or {last}
    opening, closing = "<>" if line else "()"
    for row in range(rows):
        text = f"{row + 1:>{margin}} "
        for cell in range(row * columns, (row + 1) * columns):
            is_first, sign = cell % columns == 0, signs.get(board[cell], board[cell])
            before = not is_first and cell - 1 in strong
            if cell in strong:
                text += (" " if before else opening) + ("\x1b[1m" if is_coloured else "") + sign
            else:
                text += (closing if before else " ") + sign
        drawn.append(f"{text}{closing if cell in strong else ''}".rstrip())
    return drawn


@lru_cache(maxsize=64)
def _signs(marks: str) -> dict[str, str]:
    """Return what is drawn for each mark, and for a cell that is free or blocked, in colour."""
    coloured = {mark: f"\x1b[{_COLOURS[number % len(_COLOURS)]}m{mark}\x1b[0m" for number, mark in enumerate(marks)}
    return coloured | {sign: f"\x1b[2m{sign}\x1b[0m" for sign in (FREE, BLOCKED)}
