"""Solved small boards for two players: the value of each position in one byte.

The number of a position has a digit in base three for each cell, the lowest for the first cell: 0 if the cell is free,
1 for a stone of the side to move, 2 for a stone of the other side. The fullest positions are solved first, so that the
values of the positions after each move are known (retrograde analysis). A table can be pickled for another process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from tictactoe_engine.position import Position
from tictactoe_engine.rules import Rules
from tictactoe_engine.search.duel import WIN
from tictactoe_engine.search.grid import Grid, bits_of, grid_of

_MAX_CELLS: Final = 9
_EVEN: Final = _MAX_CELLS + 1
"""The byte for a draw. A win adds one more than the free cells after its last move; a loss subtracts as much."""


@dataclass(frozen=True, slots=True)
class Table:
    """The solution of a small board, at most 20 KB; created by `solve`.

    Attributes:
        scores: The byte of each position, by its number.
    """

    rules: Rules
    scores: bytes

    def score_move(self, own: int, other: int, move: int) -> int:
        """Return the score, as in `Duel`, of `move` (one bit) for the side with the padded stones `own`."""
        grid = grid_of(self.rules)
        if grid.completing(own) & move:
            left = (grid.cells & ~(own | other | move)).bit_count()
            return -(WIN + left) if grid.misere else WIN + left
        worth = _EVEN - self.scores[_number_of(grid, other) + 2 * _number_of(grid, own | move)]
        return worth and (WIN + worth - 1 if worth > 0 else worth + 1 - WIN)


def fits_table(position: Position) -> bool:
    """Return whether a table can be solved for the position: two players and up to nine cells."""
    rules = position.rules
    return len(rules.marks) == 2 and rules.size - len(rules.blocked) <= _MAX_CELLS


def solve(rules: Rules) -> Table:
    """Return the table for a small board (see `fits_table`). Takes about 10 ms."""
    grid = grid_of(rules)
    places = tuple(bits_of(grid.cells))
    everything = (1 << len(places)) - 1
    # The index of each list is a set of places, with bit `i` for place `i`. Its items are, for stones on these places,
    # the padded stones, their digits in a position's number, and the places where one more stone completes a line;
    # and, if these places are free, the playable ones.
    stones, numbers = _sums_of(places), _sums_of([3**index for index in range(len(places))])
    completing = [_packed(places, grid.completing(own)) for own in stones]
    playable = [_packed(places, grid.playable(free)) for free in stones]
    scores = bytearray([_EVEN]) * 3 ** len(places)
    for taken in sorted(range(everything), key=int.bit_count, reverse=True):
        free = everything ^ taken
        end = _EVEN - free.bit_count() if grid.misere else _EVEN + free.bit_count()
        for own in map(sum, combinations(bits_of(taken), taken.bit_count() // 2)):
            other = taken ^ own
            ends = completing[own] & playable[free]
            quiet = 0 if ends and not grid.misere else playable[free] & ~ends
            after = numbers[other] + 2 * numbers[own]
            values = [2 * _EVEN - scores[after + 2 * numbers[move]] for move in bits_of(quiet)]
            scores[numbers[own] + 2 * numbers[other]] = max(values, default=end)
    return Table(rules, bytes(scores))


def _number_of(grid: Grid, stones: int) -> int:
    return sum(3**index for index, place in enumerate(bits_of(grid.cells)) if stones & place)


def _sums_of(values: Sequence[int]) -> list[int]:
    """Return the sum of each subset of `values`, indexed by the bits of the subset."""
    sums = [0]
    for value in values:
        sums += [value + others for others in sums]
    return sums


def _packed(places: Sequence[int], bitboard: int) -> int:
    return sum(1 << index for index, place in enumerate(places) if bitboard & place)
