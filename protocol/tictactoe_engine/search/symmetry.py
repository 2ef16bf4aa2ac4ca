"""The symmetries of a board, as maps between padded bitboards.

A rotation or reflection is a symmetry if it preserves the sides of the board, the blocked cells and the direction of
gravity. With gravity, only the reflection of left and right can be a symmetry.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Final

from tictactoe_engine.search.grid import Grid

_CHUNK_BITS: Final = 6
_CHUNK_MASK: Final = (1 << _CHUNK_BITS) - 1

ChunkTables = tuple[tuple[int, ...], ...]


class Symmetries:
    """The symmetries of a grid, except for the identity.

    A symmetry is stored as one table for each six bits of a bitboard, so mapping six cells takes one lookup and one OR.
    """

    __slots__ = ("_images",)

    def __init__(self, grid: Grid) -> None:
        places = sorted(set(_place_maps(grid)) - {_identity(grid)})
        self._images = tuple(_chunk_tables(grid, place) for place in places)

    def __len__(self) -> int:
        return len(self._images)

    def canonical(self, own: int, other: int) -> tuple[int, int]:
        """Return the smallest image of a position, which is the same for all positions symmetric to it."""
        best_own, best_other = own, other
        for tables in self._images:
            image = 0
            rest = own
            for table in tables:
                image |= table[rest & _CHUNK_MASK]
                rest >>= _CHUNK_BITS
            if image > best_own:
                continue
            image_other = 0
            rest = other
            for table in tables:
                image_other |= table[rest & _CHUNK_MASK]
                rest >>= _CHUNK_BITS
            if image < best_own or image_other < best_other:
                best_own, best_other = image, image_other
        return best_own, best_other


symmetries_of: Final = lru_cache(maxsize=64)(Symmetries)


def _identity(grid: Grid) -> tuple[int, ...]:
    return tuple(range(grid.rows * grid.stride))


def _place_maps(grid: Grid) -> list[tuple[int, ...]]:
    """Return every symmetry as a tuple: item `i` is the image of place `i`. Padding stays."""
    last_row, last_column = grid.rows - 1, grid.columns - 1
    row_flips = (False,) if grid.column_masks else (False, True)
    transpositions = row_flips if grid.rows == grid.columns else (False,)
    maps = []
    for transposed, row_flipped, column_flipped in product(transpositions, row_flips, (False, True)):
        places = list(_identity(grid))
        for row in range(grid.rows):
            for column in range(grid.columns):
                to_row, to_column = (column, row) if transposed else (row, column)
                to_row = last_row - to_row if row_flipped else to_row
                to_column = last_column - to_column if column_flipped else to_column
                places[row * grid.stride + column] = to_row * grid.stride + to_column
        if sum(1 << to for place, to in enumerate(places) if grid.cells >> place & 1) == grid.cells:
            maps.append(tuple(places))
    return maps


def _chunk_tables(grid: Grid, places: tuple[int, ...]) -> ChunkTables:
    tables = []
    for start in range(0, len(places), _CHUNK_BITS):
        table = [0]
        for to in places[start : start + _CHUNK_BITS]:
            table += [image | 1 << to for image in table]
        tables.append(tuple(table + [0] * (_CHUNK_MASK + 1 - len(table))))
    return tuple(tables)
