"""The board of a search: padded bitboards that allow all lines to be tested at once.

Cell (row, column) is bit `row * stride + column` with `stride = columns + 1`. The column of padding is never set, so a
run of stones ends at the edge of the board in all four directions without masks, and one shift moves every cell. A grid
depends on the rules and on the stones of players who no longer move, which count as blocked cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tictactoe_engine.geometry import runs_from
from tictactoe_engine.rules import Rules
from tictactoe_engine.search.completing import Completing, completing_of


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A board and its rules, in padded bitboards; created by `grid_of`.

    Attributes:
        steps: The distances between neighbours in the four directions, in bits.
        cells: All cells that are not blocked.
        column_masks: With gravity, the cells of each column; otherwise empty.
        completing: Returns the places where one more stone completes a line.
    """

    rows: int
    columns: int
    line: int
    misere: bool
    exact: bool
    stride: int
    steps: tuple[int, ...]
    cells: int
    column_masks: tuple[int, ...]
    completing: Completing

    def pad(self, bitboard: int) -> int:
        """Convert a bitboard of `Position` (stride `columns`) to a padded bitboard."""
        return _padded(bitboard, self.rows, self.columns)

    def cell_of(self, bit: int) -> int:
        row, column = divmod(bit.bit_length() - 1, self.stride)
        return row * self.columns + column

    def playable(self, free: int) -> int:
        """Return the free cells that may be played next: all, or with gravity the lowest one in each column."""
        if not self.column_masks:
            return free
        lowest = 0
        for mask in self.column_masks:
            column = free & mask
            if column:
                lowest |= 1 << column.bit_length() - 1
        return lowest

    def has_line(self, stones: int) -> bool:
        """Return whether `stones` contain a line.

        With the free cells added to a side's stones, it says whether the side can still complete a line.
        """
        for step in self.steps:  # noqa: SIM110 - called at every node; a generator takes 5 % longer
            if runs_from(stones, self.line, step):
                return True
        return False


def bits_of(bitboard: int) -> Iterator[int]:
    """Yield every set bit as a bitboard of its own, ascending."""
    while bitboard:
        lowest = bitboard & -bitboard
        yield lowest
        bitboard ^= lowest


def below(grid: Grid, cells: int, free: int) -> int:
    """Return the next free cell below each of `cells`, skipping blocked ones."""
    found = 0
    while cells:
        bit = (cells & -cells) << grid.stride
        cells &= cells - 1
        while bit <= free and not bit & free:
            bit <<= grid.stride
        found |= bit & free
    return found


@lru_cache(maxsize=256)
def grid_of(rules: Rules, gone: int = 0) -> Grid:
    """Return the grid for `rules`. `gone` are the stones (stride `columns`) of players who no longer move."""
    stride = rules.columns + 1
    column = sum(1 << row * stride for row in range(rules.rows))
    blocked = gone | sum(1 << cell for cell in rules.blocked)
    steps = (1, stride, stride + 1, stride - 1)
    return Grid(
        rows=rules.rows,
        columns=rules.columns,
        line=rules.line,
        misere=rules.misere,
        exact=rules.exact,
        stride=stride,
        steps=steps,
        cells=_padded((1 << rules.size) - 1 & ~blocked, rules.rows, rules.columns),
        column_masks=tuple(column << index for index in range(rules.columns)) if rules.gravity else (),
        completing=completing_of(rules.line, steps, exact=rules.exact),
    )


def _padded(bitboard: int, rows: int, columns: int) -> int:
    row_mask = (1 << columns) - 1
    return sum((bitboard >> row * columns & row_mask) << row * (columns + 1) for row in range(rows))
