"""A board as text for a terminal, as plain mode draws it: the last move ``(O)``, a deciding line ``<X X X>``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tictactoe_engine import format_column

_COLOURS: Final = (36, 33, 35, 32, 34, 31)
_BOLD, _DIM = 1, 2


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
    drawn = [" " * (margin + 2) + " ".join(name.rjust(tall)[level] for name in names).rstrip() for level in range(tall)]
    signs = [
        _sign(board[cell], marks, is_strong=cell in line or cell == last, is_coloured=is_coloured)
        for cell in range(len(board))
    ]
    for row in range(rows):
        cells = range(row * columns, (row + 1) * columns)
        text = f"{row + 1:>{margin}} " + _gap(None, cells[0], last, line)
        for cell in cells:
            text += signs[cell] + _gap(cell, cell + 1 if cell + 1 in cells else None, last, line)
        drawn.append(text.rstrip())
    return drawn


def _gap(left: int | None, right: int | None, last: int | None, line: Collection[int]) -> str:
    """Return what stands between two cells beside each other, None for the edge of the board."""
    if line:
        return " " if (left in line) == (right in line) else ">" if left in line else "<"
    if last is None:
        return " "
    return ")" if left == last else "(" if right == last else " "


def _sign(mark: str, marks: str, *, is_strong: bool, is_coloured: bool) -> str:
    if not is_coloured:
        return mark
    if mark not in marks:
        return f"\x1b[{_DIM}m{mark}\x1b[0m"
    colour = _COLOURS[marks.index(mark) % len(_COLOURS)]
    return f"\x1b[{f'{_BOLD};' if is_strong else ''}{colour}m{mark}\x1b[0m"
