"""A board with gravity as bitboards by column, with bounds of a position's value that need no search.

The cell at `height`, from the bottom, in column `column` is bit `column * stride + height`. Each column has a cell of
padding on top that is never set. So adding the bottom cells to the stones gives the next free cell of every column at
once, and lines end at the edge of the board without masks.

If the columns have an even height and the number of free cells is even (X to move in connect-four), the other side can
answer each stone with a stone on top of it until the board is full, so it is certain to get these cells (Allis, A
Knowledge-Based Approach of Connect-Four, 1988: claimeven, baseinverse and odd threats).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from tictactoe_engine.geometry import cells_of, runs_from
from tictactoe_engine.rules import Rules
from tictactoe_engine.search.completing import completing_of

Bounds = tuple[int, int]
"""The lowest and the highest possible value for the side to move: 1 is a win, 0 a draw, -1 a loss."""

LOST: Final[Bounds] = (-1, -1)
EVEN: Final[Bounds] = (0, 0)
NOT_WON: Final[Bounds] = (-1, 0)
NOT_LOST: Final[Bounds] = (0, 1)
OPEN: Final[Bounds] = (-1, 1)


class Columns:
    """A board with gravity and without blocked cells, in bitboards by column; created by `columns_of`."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.stride = rules.rows + 1
        steps = (1, self.stride - 1, self.stride, self.stride + 1)
        self.bottom = sum(1 << column * self.stride for column in range(rules.columns))
        self.cells = self.bottom * ((1 << rules.rows) - 1)
        self.masks = tuple(((1 << rules.rows) - 1) << column * self.stride for column in range(rules.columns))
        middle = rules.columns - 1
        self.ranks = {self.bit_of(cell): abs(2 * (cell % rules.columns) - middle) for cell in range(rules.size)}
        """The distance of each bit from the middle column."""
        self.is_paired = rules.rows % 2 == 0
        self.low = self.bottom * sum(1 << height for height in range(0, rules.rows, 2))
        """The cells in the first, third, … row from the bottom."""
        self.high = self.cells ^ self.low
        is_usual = rules.line == 4 and steps == _FOUR_STEPS
        self.is_connect_four = is_usual and rules.columns == 7
        self.completing = completing_four if is_usual else completing_of(rules.line, steps)
        self.has_line = _has_four if is_usual else _has_line_of(rules.line, steps)

    def pad(self, bitboard: int) -> int:
        """Convert a bitboard of `Position` (row-major, the top row first) to a bitboard by columns."""
        return sum(map(self.bit_of, cells_of(bitboard)))

    def bit_of(self, cell: int) -> int:
        row, column = divmod(cell, self.rules.columns)
        return 1 << column * self.stride + self.rules.rows - 1 - row

    def cell_of(self, bit: int) -> int:
        column, height = divmod(bit.bit_length() - 1, self.stride)
        return (self.rules.rows - 1 - height) * self.rules.columns + column

    def bounds(self, own: int, other: int, threats: int) -> Bounds:
        """Return a lower and an upper bound of the position's value for the side to move.

        The caller makes sure that neither side has a line, and that the side to move cannot complete one at once.

        Args:
            own: The stones of the side to move.
            other: The stones of the other side.
            threats: The free cells that complete a line of the other side.
        """
        taken = own | other
        free = self.cells & ~taken
        if self.is_paired:
            raised = (taken + self.bottom) & self.high
            if free.bit_count() & 1:
                if threats & self.low and self._is_squeezed(own, free, raised, threats & self.low):
                    return LOST
                may_win = self.has_line(own | free)
            else:
                may_win = self.has_line(own | free & self.low | raised)
                if not may_win and self.has_line(other | free & self.high & ~raised):
                    return LOST
        else:
            may_win = self.has_line(own | free)
        if may_win:
            return OPEN if self.has_line(other | free) else NOT_LOST
        return NOT_WON if self.has_line(other | free) else EVEN

    def _is_squeezed(self, own: int, free: int, raised: int, threats: int) -> bool:
        """Return whether the side to move (`own`) must finally play below a low threat without having completed a line.

        The other side answers in the same column, or in another raised column if the former is full or raised itself.
        """
        low = free & self.low | raised
        for mask in self.masks:
            if mask & raised and mask & threats:
                threat = mask & threats
                threat &= -threat
                reached = own | low & ~mask | free & self.high & mask & threat - 1
                if not self.has_line(reached):
                    return True
        return False


columns_of: Final = lru_cache(maxsize=16)(Columns)

_FOUR_STEPS: Final = (1, 6, 7, 8)


def completing_four(stones: int) -> int:
    """Return the cells that complete a line of four on a board with six rows. No stone may lie above a free cell."""
    found = stones << 1 & stones << 2 & stones << 3
    before, after = stones << 7, stones >> 7
    before_two, after_two = before & stones << 14, after & stones >> 14
    found |= before_two & stones << 21 | after_two & stones >> 21 | before_two & after | before & after_two
    before, after = stones << 6, stones >> 6
    before_two, after_two = before & stones << 12, after & stones >> 12
    found |= before_two & stones << 18 | after_two & stones >> 18 | before_two & after | before & after_two
    before, after = stones << 8, stones >> 8
    before_two, after_two = before & stones << 16, after & stones >> 16
    return found | before_two & stones << 24 | after_two & stones >> 24 | before_two & after | before & after_two


def _has_four(stones: int) -> bool:
    pairs = stones & stones >> 7
    if pairs & pairs >> 14:
        return True
    pairs = stones & stones >> 6
    if pairs & pairs >> 12:
        return True
    pairs = stones & stones >> 8
    if pairs & pairs >> 16:
        return True
    pairs = stones & stones >> 1
    return pairs & pairs >> 2 != 0


def _has_line_of(line: int, steps: tuple[int, ...]) -> Callable[[int], bool]:
    return lambda stones: any(runs_from(stones, line, step) for step in steps)
