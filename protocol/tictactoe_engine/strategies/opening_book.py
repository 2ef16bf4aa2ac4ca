"""A book of balanced openings for the first three marks of swap2, found by our own search.

The openings are for lines of five on any board without blocked cells that has at least nine rows and columns. They are
played in the middle of the board, in every rotation and reflection.
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
"""The rules of the search that found the openings, whose cells are named as on this board."""

MARKS_OF_OPENING: Final = 3

Square = tuple[int, int]

_MIN_SIDE: Final = 9
_MIDDLE: Final = 7


def opening_cells(position: Position) -> tuple[int, ...]:
    """Return the cells that continue an opening in the book; empty if there are none.

    A cell occurs once for each opening that it continues, so a random choice plays all openings with equal frequency.
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
    """Return the three cells of an opening (X, O, X), each as its row and column relative to the middle."""
    pairs = (divmod(parse_cell(name, BOOK_RULES), BOOK_RULES.columns) for name in opening.split())
    first, second, third = ((row - _MIDDLE, column - _MIDDLE) for row, column in pairs)
    return first, second, third


@lru_cache(maxsize=64)
def _placed(rows: int, columns: int) -> tuple[tuple[int, int], ...]:
    """Return every rotation and reflection of the openings on a board, each as the bitboards of X and O."""
    images = {image for opening in OPENINGS for image in _images(cells_of_opening(opening), rows, columns)}
    return tuple(sorted(images))


def _images(opening: tuple[Square, Square, Square], rows: int, columns: int) -> Iterator[tuple[int, int]]:
    for down, right, is_transposed in product((1, -1), (1, -1), (False, True)):
        first, second, third = (
            1 << (rows // 2 + down * row) * columns + columns // 2 + right * column
            for row, column in ((column, row) if is_transposed else (row, column) for row, column in opening)
        )
        yield first | third, second
