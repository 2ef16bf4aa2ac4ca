"""Who seems to stand better in connect-four where nothing is proven: a search whose leaves are told by their threats.

What counts is which side can complete lines where, and whose turn it is to fill up the columns: a threat in an odd row
is for the side that began, one in an even row for the other (Allis, A Knowledge-Based Approach of Connect-Four, 1988).
How much each is worth was fitted to a few hundred thousand positions that a solver had solved on its way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tictactoe_engine.search.budget import Meter, OutOfBudget
from tictactoe_engine.search.columns import Bounds, Columns, completing_four
from tictactoe_engine.search.proof import Memory

SURE: Final = 10_000
"""A score that nothing but a proven win or loss has."""

_INFINITE: Final = SURE + 1
_MOST: Final = 3_000
_BOTTOM: Final = sum(1 << column * 7 for column in range(7))
_LOW: Final = _BOTTOM * 0b010101
_HIGH: Final = _BOTTOM * 0b101010
_CELLS: Final = _LOW | _HIGH
_ROWS: Final = tuple(_BOTTOM << height for height in range(1, 6))
_BELOW: Final = {
    1 << 7 * column + height: (1 << height) - 1 << 7 * column for column in range(7) for height in range(6)
}
_MAX_ENTRIES: Final = 100_000

_Weights = tuple[int, tuple[int, ...], tuple[tuple[int, ...], tuple[int, ...]], tuple[tuple[int, ...], tuple[int, ...]]]
_WEIGHTS: Final[tuple[_Weights, _Weights]] = (
    (
        89,
        (57, -9, -131, -163, -393, -348, 335, 222, 65, -7, -315, -233, 596, 282, 195, 44, -450, 0),
        ((75, 26, 108, 37, 80), (-256, 54, -133, 38, -173)),
        (
            (12, 22, 68, 75, 18, -45),
            (-23, -20, -52, -53, 1, 4),
        ),
    ),
    (
        -72,
        (-51, -126, -28, -57, -37, -31, 189, 140, 227, 220, 56, 389, 366, 327, 291, 295, -98, 384),
        ((116, 33, 153, 9, 199), (-205, -146, -85, -127, -67)),
        (
            (12, 21, 59, 49, 23, -28),
            (-19, -19, -56, -63, 11, 9),
        ),
    ),
)
"""What counts for the side that began, in hundredths of log-odds: where it moves, and where the other side does.

A constant. By how many threats of the first side are in odd rows (none, one, more), how many of the second, and whether
the second has one in an even row that is the first of its column. Threats by row, from the second on, of the first and
of the second side. Of each side the lines, across and diagonal, that have one stone and no other, those that have two,
and the cells, in odd and in even rows, that those with two lack and that cannot be played yet.
"""


class Outlook:
    """Scores of the moves of one position, by their bits, for the side that makes them."""

    __slots__ = ("_columns", "_memory", "_meter", "_other", "_own", "_table", "scores")

    def __init__(self, columns: Columns, own: int, other: int, memory: Memory, meter: Meter) -> None:
        self._columns = columns
        self._own = own
        self._other = other
        self._memory = memory
        self._meter = meter
        self._table: dict[int, tuple[int, int, int]] = {}
        self.scores: dict[int, int] = {}

    def run(self, bounds: Mapping[int, Bounds], *, every: bool) -> None:
        """Look ever deeper at the moves that are neither won nor lost, or at those alone that may be the best.

        Swallows `OutOfBudget`.
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
                latest[move] = score if every or score > best else min(score, best - 1)  # no more is known of it
                best = max(best, score)
        finally:
            # What was looked at less deep is comparable only where the best move of then has its new score.
            if len(latest) == len(order) or (latest and not every):
                rest = {move: min(score, best - 1) for move, score in self.scores.items() if move not in latest}
                self.scores = rest | latest

    def _score(self, own: int, other: int, depth: int, alpha: int, beta: int) -> int:
        """Return the score for `own`, who moves, as far as it lies between alpha and beta."""
        self._meter.spend()
        columns = self._columns
        cells, completing = columns.cells, columns.completing
        taken = own | other
        moves = taken + _BOTTOM & cells
        if not moves:
            return 0
        if completing(own) & moves:
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
            return min(max(outlook(own, other), low * SURE), high * SURE)
        left = depth if forced else depth - 1
        known = self._table.get(key)
        if known is not None and known[0] == depth:
            if known[1] >= beta or known[1] == known[2]:
                return known[1]
            if known[2] <= alpha:
                return known[2]
            alpha, beta = max(alpha, known[1]), min(beta, known[2])
        best, first = -_INFINITE, alpha
        for after in self._ordered(own, taken, moves):
            best = max(best, -self._score(other, after, left, -beta, -alpha))
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        if len(self._table) >= _MAX_ENTRIES:
            self._table.clear()
        self._table[key] = depth, best if best > first else -_INFINITE, best if best < beta else _INFINITE
        return best

    def _ordered(self, own: int, taken: int, moves: int) -> list[int]:
        """Return the stones of `own` after each move, those with more threats first, then the more central ones."""
        completing, ranks = self._columns.completing, self._columns.ranks
        free = self._columns.cells & ~taken
        found = []
        while moves:
            move = moves & -moves
            moves ^= move
            after = own | move
            found.append((-(completing(after) & free).bit_count(), ranks[move], after))
        if len(found) > 1:
            found.sort()
        return [after for _, _, after in found]


def outlook(own: int, other: int) -> int:
    """Return how the position looks for `own`, who moves and has no line to complete: 150 is halfway to a win."""
    taken = own | other
    is_second = taken.bit_count() & 1
    first, second = (other, own) if is_second else (own, other)
    free = _CELLS & ~taken
    score, parities, threats, shapes = _WEIGHTS[is_second]
    ours, theirs = completing_four(first) & free, completing_four(second) & free
    odd, even, is_ahead = (ours & ~(theirs << 1) & _LOW).bit_count(), (theirs & _LOW).bit_count(), False
    rest = theirs & _HIGH
    while rest and not is_ahead:
        is_ahead = not (ours | theirs) & _BELOW[rest & -rest]
        rest &= rest - 1
    score += parities[min(odd, 2) * 6 + min(even, 2) * 2 + is_ahead]
    for found, weights in zip((ours, theirs), threats, strict=True):
        if found:
            for row, weight in zip(_ROWS, weights, strict=True):
                score += weight * (found & row).bit_count()
    far = free & ~(taken + _BOTTOM)
    score += _shape(first, free, far, shapes[0]) + _shape(second, free, far, shapes[1])
    score = min(max(score, -_MOST), _MOST)
    return -score if is_second else score


def _shape(stones: int, free: int, far: int, weights: tuple[int, ...]) -> int:
    """Return what the lines of four are worth that the stones of one side may still complete."""
    one_across, one_diagonal, two_across, two_diagonal, odd, even = weights
    usable = stones | free
    score = lacking = 0
    for step, one, two in (
        (7, one_across, two_across),
        (6, one_diagonal, two_diagonal),
        (8, one_diagonal, two_diagonal),
    ):
        pairs = usable & usable >> step
        lines = pairs & pairs >> 2 * step
        # How many of four places are taken is added up bit by bit, for all lines at once.
        single, double = stones ^ stones >> step, stones & stones >> step
        last = single >> 2 * step
        is_odd = single ^ last
        is_high = double ^ double >> 2 * step ^ single & last
        with_two = lines & is_high & ~is_odd
        score += one * (lines & is_odd & ~is_high).bit_count() + two * with_two.bit_count()
        with_two |= with_two << step
        lacking |= with_two | with_two << 2 * step
    lacking &= far
    return score + odd * (lacking & _LOW).bit_count() + even * (lacking & _HIGH).bit_count()
