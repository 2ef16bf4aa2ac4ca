"""Where to place the first three marks of swap2: balanced openings that our own search has found.

The openings are for lines of five, and lie in the middle of whatever board is at least nine cells wide and high,
turned and reflected in every way. What lies there already says how to go on: nothing else is remembered.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from tictactoe_engine.geometry import cells_of
from tictactoe_engine.notation import parse_cell
from tictactoe_engine.position import Position
from tictactoe_engine.rules import Rules
from tictactoe_engine.strategies.balanced import OPENINGS

BOOK_RULES: Final = Rules(15, 15, 5, exact=True)
"""The board that the openings are written for, and the rules that they were searched with."""

MARKS_OF_OPENING: Final = 3

Square = tuple[int, int]

_MIN_SIDE: Final = 9
_MIDDLE: Final = 7


def opening_cells(position: Position) -> tuple[int, ...]:
    """Return the next cell of each way in which an opening of the book goes on from here; empty where none does.

    A cell is there as often as openings have it: who takes any of them plays each opening as often as the others.
    """
    opening = position.opening
    if opening is None or opening.rule != "swap2" or position.ply >= MARKS_OF_OPENING:
        return ()
    rules = position.rules
    if rules.line != BOOK_RULES.line or rules.blocked or min(rules.rows, rules.columns) < _MIN_SIDE:
        return ()
    own, other = map(position.stones, rules.marks)
    cells: list[int] = []
    for first, second in _placed(rules.rows, rules.columns):
        if not own & ~first and not other & ~second:
            left = second if position.ply == 1 else first & ~own
            cells += cells_of(left)
    return tuple(sorted(cells))


def cells_of_opening(opening: str) -> tuple[Square, Square, Square]:
    """Return the cells of X, O and X in an opening of the book, as rows and columns from the middle of the board."""
    pairs = (divmod(parse_cell(name, BOOK_RULES), BOOK_RULES.columns) for name in opening.split())
    first, second, third = ((row - _MIDDLE, column - _MIDDLE) for row, column in pairs)
    return first, second, third


@lru_cache(maxsize=64)
def _placed(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Return each opening on such a board in all its images, as the bitboards of X and O."""
    images = {image for opening in OPENINGS for image in _images(cells_of_opening(opening), rows, columns)}
    return tuple(sorted(images))


def _images(opening: tuple[Square, Square, Square], rows: int, columns: int) -> Iterator[tuple[int, int]]:
    for down, right, is_transposed in product((1, -1), (1, -1), (False, True)):
        first, second, third = (
            1 << (rows // 2 + down * row) * columns + columns // 2 + right * column
            for row, column in ((column, row) if is_transposed else (row, column) for row, column in opening)
        )
        yield first | third, second
