"""Proves wins, draws and losses on a board with gravity, without counting moves to the end.

The search is alpha-beta over yes-or-no questions (can the side to move reach at least this value?) on bitboards by
column. Before it searches the moves in a position, it looks them all up in the `Memory` and in `Columns.bounds`. Moves
that make more threats come first, then more central moves. The moves in the first position are searched in rounds of
growing effort, so that a hard move does not use up the budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tictactoe_engine.search.budget import Meter, OutOfBudget
from tictactoe_engine.search.columns import EVEN, LOST, NOT_LOST, NOT_WON, OPEN, Bounds, Columns

WON: Final[Bounds] = (1, 1)

_FIRST_EFFORT: Final = 500
_GROWTH: Final = 3
"""A question may take `_FIRST_EFFORT` nodes in the first round, and `_GROWTH` times as many in each next round."""

_MAX_ENTRIES: Final = 150_000
"""The number of entries in each of the two halves of a memory; together they take about 30 MB."""

_RAISED: Final[dict[tuple[Bounds, int], Bounds]] = {
    (OPEN, 0): NOT_LOST,
    (NOT_WON, 0): EVEN,
    (OPEN, 1): WON,
    (NOT_LOST, 1): WON,
}
"""The new bounds, by old bounds and target, after the answer yes: the value is at least the target."""

_LOWERED: Final[dict[tuple[Bounds, int], Bounds]] = {
    (OPEN, 0): LOST,
    (NOT_WON, 0): LOST,
    (OPEN, 1): NOT_WON,
    (NOT_LOST, 1): EVEN,
}
"""The new bounds, by old bounds and target, after the answer no: the value is less than the target."""


class Memory:
    """A cache of the bounds of positions on one board. It drops its oldest entries.

    Attributes:
        fresh: The half that receives new entries.
        older: The half with earlier entries.
    """

    __slots__ = ("_columns", "fresh", "older")

    def __init__(self) -> None:
        self._columns: Columns | None = None
        self.fresh: dict[int, Bounds] = {}
        self.older: dict[int, Bounds] = {}

    def turn_to(self, columns: Columns) -> None:
        """Clear the memory if it is for another board than `columns`."""
        if self._columns is not columns:
            self._columns, self.fresh, self.older = columns, {}, {}

    def make_room(self) -> None:
        """If the fresh half is full, let it replace the older half and start a new one."""
        if len(self.fresh) >= _MAX_ENTRIES:
            self.fresh, self.older = {}, self.fresh


class _Enough(Exception):
    """Raised when a question has used up its effort in this round."""


class Proof:
    """Proves the values of the moves in one position.

    Attributes:
        bounds: The bounds of the value of each move, by the move's bit, for the side that moves; narrowed by `run`.
    """

    __slots__ = ("_columns", "_effort_ends", "_memory", "_meter", "_other", "_own", "bounds")

    def __init__(self, columns: Columns, own: int, other: int, memory: Memory, meter: Meter) -> None:
        self._columns = columns
        self._own = own
        self._other = other
        self._memory = memory
        self._meter = meter
        self._effort_ends = 0
        memory.turn_to(columns)
        self.bounds: dict[int, Bounds] = {}
        moves, wins = (own | other) + columns.bottom & columns.cells, columns.completing(own)
        for mask in columns.masks:
            if moves & mask:
                self.bounds[moves & mask] = WON if moves & mask & wins else OPEN

    def narrow(self, move: int, known: Bounds) -> None:
        """Narrow the bounds of `move` to those already known."""
        low, high = self.bounds[move]
        self.bounds[move] = max(low, known[0]), min(high, known[1])

    def run(self, moves: Sequence[int], *, every: bool) -> None:
        """Narrow the bounds until the best move is known, or with `every` each value, or the budget ends.

        `moves` are searched first, in this order.
        """
        moves = [*moves, *sorted(self.bounds.keys() - set(moves), key=self._columns.ranks.__getitem__)]
        effort = _FIRST_EFFORT
        try:
            while not self.is_decided(every=every):
                for move in moves:
                    for target in (1, 0):
                        if self._is_worth_asking(move, target, every=every):
                            self._ask(move, target, effort)
                effort *= _GROWTH
        except OutOfBudget:
            pass

    def is_decided(self, *, every: bool) -> bool:
        """Return whether the best move is known or, with `every`, the value of each move."""
        low = max(low for low, _ in self.bounds.values())
        if every:
            return all(low == high for low, high in self.bounds.values())
        return all(high <= low for _, high in self.bounds.values())

    def _is_worth_asking(self, move: int, target: int, *, every: bool) -> bool:
        low, high = self.bounds[move]
        if not low < target <= high:
            return False
        return every or all(target > low for low, _ in self.bounds.values())

    def _ask(self, move: int, target: int, effort: int) -> None:
        """Find out within `effort` nodes whether the value of `move` is at least `target`, and narrow its bounds."""
        self._effort_ends = self._meter.nodes + effort
        own, other = self._own | move, self._other
        try:
            is_reached = not self._reaches_after(own, other, 1 - target)
        except _Enough:
            return
        narrowed = _RAISED if is_reached else _LOWERED
        self.bounds[move] = narrowed[self.bounds[move], target]

    def _reaches_after(self, own: int, other: int, target: int) -> bool:
        """Return whether the side to move, with the stones `other`, reaches `target` after a move of the side `own`."""
        columns = self._columns
        taken = own | other
        replies = taken + columns.bottom & columns.cells
        threats = columns.completing(own) & columns.cells & ~taken
        if not replies or columns.completing(other) & replies:
            return target <= 0 if not replies else True
        forced = replies & threats
        if forced & forced - 1:
            return target < 0
        replies = (forced or replies) & ~(threats >> 1)
        low, high = columns.bounds(other, own, threats)
        if not replies or high < target:
            return False
        return low >= target or self._reaches(other, own, replies, (low, high), target)

    def _reaches(self, own: int, other: int, moves: int, bounds: Bounds, target: int) -> bool:
        """Return whether the side `own` reaches `target` with any of `moves`. No move may lose at once.

        `bounds` are the known bounds of the value; they must leave both answers open.
        """
        meter = self._meter
        meter.spend()
        if meter.nodes > self._effort_ends:
            raise _Enough
        columns, memory = self._columns, self._memory
        cells, bottom, completing, bounds_of = columns.cells, columns.bottom, columns.completing, columns.bounds
        fresh, older, ranks = memory.fresh, memory.older, columns.ranks
        taken = own | other
        is_reached = False
        found = []
        rest = moves
        while rest:
            move = rest & -rest
            rest ^= move
            after, now = own | move, taken | move
            key = other + now
            known = fresh.get(key) or older.get(key)
            if known is not None:
                if -known[1] >= target:
                    is_reached = True
                    break
                if -known[0] < target:
                    continue
            threats = completing(after) & cells & ~now
            replies = now + bottom & cells
            forced = replies & threats
            if forced:
                if forced & forced - 1:
                    is_reached = True
                    break
                replies = forced
            replies &= ~(threats >> 1)
            if not replies:
                if now != cells or target <= 0:
                    is_reached = True
                    break
                continue
            if known is None:
                known = bounds_of(other, after, threats)
                if -known[1] >= target:
                    is_reached = True
                    break
                if -known[0] < target:
                    continue
            found.append((-threats.bit_count(), ranks[move], after, replies, known))
        if not is_reached:
            found.sort()
            for _, _, after, replies, known in found:
                if not self._reaches(other, after, replies, known, 1 - target):
                    is_reached = True
                    break
        memory.fresh[own + taken] = (_RAISED if is_reached else _LOWERED)[bounds, target]
        memory.make_room()
        return is_reached
