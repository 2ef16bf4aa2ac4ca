"""Estimates unproven moves in connect-four: a search with the `network` as its evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tictactoe_engine.search.budget import Meter, OutOfBudget
from tictactoe_engine.search.columns import Bounds, Columns
from tictactoe_engine.search.network import network
from tictactoe_engine.search.proof import Memory

SURE: Final = 10_000
"""The score of a proven win."""

_INFINITE: Final = SURE + 1
_BOTTOM: Final = sum(1 << column * 7 for column in range(7))
_MAX_ENTRIES: Final = 100_000


class Outlook:
    """Scores the moves in one position.

    Attributes:
        scores: The score of each searched move, by the move's bit, for the side that moves.
    """

    __slots__ = ("_columns", "_judge", "_memory", "_meter", "_other", "_own", "_table", "scores")

    def __init__(self, columns: Columns, own: int, other: int, memory: Memory, meter: Meter) -> None:
        self._columns = columns
        self._own = own
        self._other = other
        self._memory = memory
        self._meter = meter
        self._judge = network()
        self._table: dict[int, tuple[int, int, int, int]] = {}
        self.scores: dict[int, int] = {}

    def run(self, bounds: Mapping[int, Bounds], *, every: bool) -> None:
        """Search the undecided moves, deeper each time, until the budget ends.

        `bounds` are the known bounds of the value of each move. Without `every`, the scores below the best one are only
        upper bounds.
        """
        order = [move for move, (low, high) in bounds.items() if low < 1 and high > -1]
        free = (self._columns.cells & ~(self._own | self._other)).bit_count()
        try:
            for depth in range(1, free, 2):
                self._look(order, depth, bounds, every=every)
                order.sort(key=lambda move: -self.scores[move])
        except OutOfBudget:
            pass

    def _look(self, order: Sequence[int], depth: int, bounds: Mapping[int, Bounds], *, every: bool) -> None:
        latest: dict[int, int] = {}
        best = -_INFINITE
        try:
            for move in order:
                low, high = bounds[move]
                alpha = -_INFINITE if every else best
                score = -self._score(self._other, self._own | move, depth, -_INFINITE, -alpha)
                score = min(max(score, low * SURE), high * SURE)
                latest[move] = score if every or score > best else min(score, best - 1)  # a bound
                best = max(best, score)
        finally:
            # Older scores can be kept only if the former best move has been searched again.
            if len(latest) == len(order) or (latest and not every):
                rest = {move: min(score, best - 1) for move, score in self.scores.items() if move not in latest}
                self.scores = rest | latest

    def _score(self, own: int, other: int, depth: int, alpha: int, beta: int) -> int:
        """Return the score for the side to move, whose stones are `own`, in the window from `alpha` to `beta`."""
        self._meter.spend()
        columns = self._columns
        cells, completing = columns.cells, columns.completing
        taken = own | other
        moves = taken + _BOTTOM & cells
        if not moves:
            return 0
        wins = completing(own)
        if wins & moves:
            return SURE
        threats = completing(other) & cells & ~taken
        forced = moves & threats
        if forced & forced - 1:
            return -SURE
        moves = (forced or moves) & ~(threats >> 1)
        if not moves:
            return -SURE
        key = own + taken
        low, high = self._memory.fresh.get(key) or self._memory.older.get(key) or columns.bounds(own, other, threats)
        if low == high:
            return low * SURE
        alpha, beta = max(alpha, low * SURE), min(beta, high * SURE)
        if alpha >= beta:
            return alpha if alpha == low * SURE else beta
        if depth <= 0 and not forced:
            return min(max(self._judge(own, other, wins & cells & ~taken, threats), low * SURE), high * SURE)
        left = depth if forced else depth - 1
        known = self._table.get(key)
        if known is not None and known[0] == depth:
            if known[1] >= beta or known[1] == known[2]:
                return known[1]
            if known[2] <= alpha:
                return known[2]
            alpha, beta = max(alpha, known[1]), min(beta, known[2])
        best, chosen, first = -_INFINITE, 0, alpha
        for after in self._ordered(own, taken, moves, 0 if known is None else known[3]):
            most = beta if best == -_INFINITE else alpha + 1  # a minimal window after the first move
            score = -self._score(other, after, left, -most, -alpha)
            if most <= score < beta:
                score = -self._score(other, after, left, -beta, -score)
            if score > best:
                best, chosen = score, after
                alpha = max(alpha, best)
                if alpha >= beta:
                    break
        if len(self._table) >= _MAX_ENTRIES:
            self._table.clear()
        self._table[key] = depth, best if best > first else -_INFINITE, best if best < beta else _INFINITE, chosen
        return best

    def _ordered(self, own: int, taken: int, moves: int, first: int) -> list[int]:
        """Return the stones of the side to move after each move, in the order of the search.

        `first` comes first, then moves that make more threats, then more central moves.
        """
        completing, ranks = self._columns.completing, self._columns.ranks
        free = self._columns.cells & ~taken
        found = []
        while moves:
            move = moves & -moves
            moves ^= move
            after = own | move
            threats = 9 if after == first else (completing(after) & free).bit_count()
            found.append((-threats, ranks[move], after))
        if len(found) > 1:
            found.sort()
        return [after for _, _, after in found]
