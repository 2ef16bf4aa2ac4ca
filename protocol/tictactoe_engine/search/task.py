"""The task of a search: a position as bitboards, and a budget."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tictactoe_engine.position import Position
from tictactoe_engine.search.budget import Budget, Meter
from tictactoe_engine.search.grid import Grid, grid_of

WIDE_CELLS: Final = 24
"""With more free cells, only the most promising moves are searched."""


@dataclass(frozen=True, slots=True)
class Task:
    """A position whose moves a search ranks.

    Attributes:
        stones: The padded stones of the active players in turn order, starting with the player to move.
        free: The free cells, padded.
        every: Whether the score of each move is needed, instead of the best moves only.
    """

    grid: Grid
    stones: tuple[int, ...]
    free: int
    meter: Meter
    budget: Budget
    every: bool

    @property
    def is_wide(self) -> bool:
        """Whether only the most promising moves are searched."""
        return self.free.bit_count() > WIDE_CELLS and not self.grid.column_masks and not self.grid.misere


def task_of(position: Position, budget: Budget, *, every: bool) -> Task:
    """Return the task for an open position. The stones of players who no longer move become blocked cells."""
    gone = union_of(position.stones(mark) for _, mark in position.passed)
    grid = grid_of(position.rules, gone)
    stones = tuple(grid.pad(position.stones(mark)) for mark in position.marks_from_turn)
    return Task(grid, stones, grid.cells & ~union_of(stones), Meter(budget), budget, every)


def union_of(bitboards: Iterable[int]) -> int:
    """Return the union of bitboards."""
    union = 0
    for bitboard in bitboards:
        union |= bitboard
    return union
