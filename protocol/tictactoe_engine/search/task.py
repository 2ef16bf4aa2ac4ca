"""What a search is asked to do: one position as bitboards, its budget, and how much of the answer is wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tictactoe_engine.position import Position
from tictactoe_engine.search.budget import Budget, Meter
from tictactoe_engine.search.grid import Grid, grid_of

WIDE_CELLS: Final = 24
"""With more free cells than these not every move can be looked at."""


@dataclass(frozen=True, slots=True)
class Task:
    """One position to rank: its grid and the padded stones of the players who still move, the next one's first.

    With `every` the score of each move is wanted, else only the best moves. The `meter` runs from the start.
    """

    grid: Grid
    stones: tuple[int, ...]
    free: int
    meter: Meter
    budget: Budget
    every: bool

    @property
    def is_wide(self) -> bool:
        """Whether a search looks at the most promising moves only."""
        return self.free.bit_count() > WIDE_CELLS and not self.grid.column_masks and not self.grid.misere


def task_of(position: Position, budget: Budget, *, every: bool) -> Task:
    """Return the task for an open position; the stones of players who were passed over become blocked cells."""
    gone = union_of(position.stones(mark) for _, mark in position.passed)
    grid = grid_of(position.rules, gone)
    stones = tuple(grid.pad(position.stones(mark)) for mark in position.marks_from_turn)
    return Task(grid, stones, grid.cells & ~union_of(stones), Meter(budget), budget, every)


def union_of(bitboards: Iterable[int]) -> int:
    """Return every place that one of the bitboards has."""
    union = 0
    for bitboard in bitboards:
        union |= bitboard
    return union
