"""The search for two sides: alpha-beta over padded bitboards to a given depth.

This is a principal variation search (Marsland and Campbell, 1982) with a transposition table. All images of a position
under the board's symmetries share an entry in the table. Without searching, it recognizes wins one move ahead and
double threats two moves ahead. It answers a single threat only with moves that stop it, and bounds the score if a side
can no longer complete a line. On wide boards it searches only the most promising moves; then a win is still proven, but
a loss is an estimate.

Scores are integers for the side to move. A draw is 0. A win is `WIN` plus the number of free cells after its last move,
so quicker wins are higher and a win has the same score at every ply before it. A loss is the negative of the opponent's
win. All other scores are estimates. The horizon is the depth where the search stops.
"""

from __future__ import annotations

from typing import Final

from tictactoe_engine.search.budget import Meter
from tictactoe_engine.search.grid import Grid, below
from tictactoe_engine.search.patterns import Patterns, places_by_weight
from tictactoe_engine.search.symmetry import symmetries_of
from tictactoe_engine.search.threats import ThreatSearch

WIN: Final = 1 << 20
INFINITE: Final = 1 << 21
FOREVER: Final = 1 << 12
"""The depth of an entry that is exact, so that it holds at any depth."""

_MAX_ENTRIES: Final = 500_000

_MAX_SYMMETRIC_CELLS: Final = 64
"""On larger boards, few positions in a search are images of each other, so symmetries are ignored."""

LIKELY: Final = WIN >> 1
"""Replaces `WIN` in a score that a move outside the search could change."""

_THREATS_AT_HORIZON: Final = 2

Entry = tuple[int, int, int, int]
"""The depth, the lowest and the highest possible score, and the best move's bit (0 if unknown)."""

_RANKS: Final = 1 << 10
"""Larger than any rank, so that sorting keys order moves by their threats first."""

Ordered = list[tuple[int, int, int]]
"""Moves in order, each with its sorting key, its bit, and the places that complete a line after it (-1 if unknown)."""


class Searcher:
    """A search on one grid, with a transposition table.

    Attributes:
        horizon_hits: The number of results so far that depended on the horizon or on moves that were not searched. A
            result is exact if the number stays the same during its search.

    Args:
        patterns: Estimates positions at the horizon; by default they count as draws.
        width: The largest number of moves to search in a position; None for all.
    """

    __slots__ = ("_grid", "_meter", "_patterns", "_ranks", "_table", "_width", "horizon_hits")

    def __init__(self, grid: Grid, meter: Meter, patterns: Patterns | None = None, *, width: int | None = None) -> None:
        self._grid = grid
        self._meter = meter
        self._patterns = patterns
        self._width = width
        self._table: dict[tuple[object, ...], Entry] = {}
        self._ranks = {bit: rank for rank, bit in enumerate(places_by_weight(grid))}
        self.horizon_hits = 0

    def _recall(self, key: tuple[object, ...], depth: int) -> tuple[int, int, int]:
        """Return the lowest and highest score known from an earlier search that holds at `depth`, and its best move."""
        entry = self._table.get(key)
        if entry is None:
            return -INFINITE, INFINITE, 0
        known_depth, low, high, move = entry
        if known_depth == FOREVER:
            return low, high, move
        if known_depth < depth:
            return low if low >= WIN else -INFINITE, high if high <= -WIN else INFINITE, move
        self.horizon_hits += 1
        return low, high, move

    def _remember(
        self, key: tuple[object, ...], hits: int, depth: int, best: int, alpha: int, beta: int, move: int = 0
    ) -> None:
        """Store the result of a search in the window from `alpha` to `beta`.

        `hits` is the value of `horizon_hits` before the search. If it is unchanged, no line of play was cut off, and
        the result holds at any depth.
        """
        low = best if best > alpha else -INFINITE
        high = best if best < beta else INFINITE
        if len(self._table) >= _MAX_ENTRIES:
            self._table.clear()
        self._table[key] = (FOREVER if hits == self.horizon_hits else depth, low, high, move)


class Duel(Searcher):
    """A search on one grid for two sides."""

    __slots__ = ("_canonical", "_threats")

    def __init__(self, grid: Grid, meter: Meter, patterns: Patterns | None = None, *, width: int | None = None) -> None:
        super().__init__(grid, meter, patterns, width=width)
        self._threats = ThreatSearch(grid, patterns, meter) if patterns and width else None
        symmetries = symmetries_of(grid) if grid.cells.bit_count() <= _MAX_SYMMETRIC_CELLS else None
        self._canonical = symmetries.canonical if symmetries else None

    def score_move(self, own: int, other: int, move: int, depth: int, alpha: int, beta: int) -> int:
        """Return the score of `move` (one bit) for the side that plays it; see `search`."""
        if self._grid.completing(own) & move:
            won = WIN + (self._grid.cells & ~(own | other)).bit_count() - 1
            return -won if self._grid.misere else won
        return -self.search(other, own | move, depth - 1, -beta, -alpha)

    def search(self, own: int, other: int, depth: int, alpha: int, beta: int) -> int:
        """Return the score of an open position, searched to `depth` plies.

        A score outside the window from `alpha` to `beta` is a bound of the true score (fail-soft).
        """
        completing = self._grid.completing
        return self._search(own, other, completing(own), completing(other), depth, alpha, beta)

    def _search(self, own: int, other: int, wins: int, threats: int, depth: int, alpha: int, beta: int) -> int:
        """Like `search`; `wins` and `threats` are the places that complete a line for `own` and `other`."""
        self._meter.spend()
        free = self._grid.cells & ~(own | other)
        score, moves = self._look_ahead(wins, threats, free)
        if score is not None:
            return score
        if depth > 0 and not moves & (moves - 1):
            after = own | moves
            return -self._search(other, after, threats, self._grid.completing(after), depth - 1, -beta, -alpha)
        lowest, highest = self._bounds(own, other, free)
        if lowest >= beta or lowest == highest:
            return lowest
        if highest <= alpha:
            return highest
        alpha, beta = max(alpha, lowest), min(beta, highest)
        key = (own, other) if self._canonical is None else self._canonical(own, other)
        low, high, first = self._recall(key, depth)
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        alpha, beta = max(alpha, low), min(beta, high)
        if depth <= 0:
            return min(max(self._guess(own, other, free), lowest), highest)
        hits = self.horizon_hits
        ordered = self._ordered(own, other, moves, free, first)
        best, best_move = self._best_of(own, other, threats, ordered, depth, alpha, beta)
        if best <= -WIN and self._width is not None and moves.bit_count() > self._width:
            best += WIN - LIKELY
        self._remember(key, hits, depth, best, alpha, beta, best_move)
        return best

    def _best_of(
        self, own: int, other: int, threats: int, moves: Ordered, depth: int, alpha: int, beta: int
    ) -> tuple[int, int]:
        """Return the best score and its move's bit.

        The first move is searched with the full window, the others with a minimal one, and again if they exceed it.
        """
        best, best_move = -INFINITE, 0
        for _, move, wins in moves:
            after = own | move
            if wins < 0:
                wins = self._grid.completing(after)
            if not best_move:
                score = -self._search(other, after, threats, wins, depth - 1, -beta, -alpha)
            else:
                score = -self._search(other, after, threats, wins, depth - 1, -alpha - 1, -alpha)
                if alpha < score < beta:
                    score = -self._search(other, after, threats, wins, depth - 1, -beta, -alpha)
            if score > best:
                best, best_move = score, move
                if score >= beta:
                    break
                alpha = max(alpha, score)
        return best, best_move

    def _look_ahead(self, wins: int, threats: int, free: int) -> tuple[int | None, int]:
        """Return the score, or None if two plies do not decide it, and the moves that do not lose within two plies."""
        left = free.bit_count()
        if not left:
            return 0, 0
        moves = self._grid.playable(free)
        if self._grid.misere:
            moves &= ~wins
            return (None, moves) if moves else (-(WIN + left - 1), 0)
        if wins & moves:
            return WIN + left - 1, 0
        threats &= free
        if threats:
            moves = self._defences(moves, threats, free)
            if not moves:
                return -(WIN + left - 2), 0
        return None, moves

    def _defences(self, moves: int, threats: int, free: int) -> int:
        """Return the moves after which the other side cannot complete a line at once."""
        threatened = threats & moves
        if threatened & (threatened - 1):
            return 0
        if threatened:
            moves = threatened
        # With gravity, a move below a threatened cell makes that cell playable.
        return moves & ~below(self._grid, threats, free) if self._grid.column_masks else moves

    def _bounds(self, own: int, other: int, free: int) -> tuple[int, int]:
        """Return the lowest and highest possible score of a position that is not decided within two plies."""
        grid = self._grid
        left = free.bit_count()
        can_win, can_lose = grid.has_line(own | free), grid.has_line(other | free)
        if grid.misere:
            can_win, can_lose = can_lose, can_win
            return -(WIN + left - 3) if can_lose else 0, WIN + left - 2 if can_win else 0
        return -(WIN + left - 4) if can_lose else 0, WIN + left - 3 if can_win else 0

    def _guess(self, own: int, other: int, free: int) -> int:
        self.horizon_hits += 1
        if self._patterns is None:
            return 0
        if self._threats is not None:
            found = self._threats.find_win(own, other, _THREATS_AT_HORIZON)
            if found is not None:
                return WIN + free.bit_count() - found[1]
        return self._patterns.estimate(own, other)

    def _ordered(self, own: int, other: int, moves: int, free: int, first: int) -> Ordered:
        """Return the moves to search: `first`, the best move of an earlier search, then others from the best guess."""
        if self._width is None or self._patterns is None or moves.bit_count() <= self._width:
            return self._by_threats(own, moves, free, first)
        self.horizon_hits += 1
        candidates = self._patterns.candidates(own, (other,), moves, self._width)
        if first & moves:
            candidates = [first, *(move for move in candidates if move != first)]
        return [(0, move, -1) for move in candidates]

    def _by_threats(self, own: int, moves: int, free: int, first: int) -> Ordered:
        completing, ranks = self._grid.completing, self._ranks
        sign = _RANKS if self._grid.misere else -_RANKS
        ordered = []
        while moves:
            move = moves & -moves
            moves ^= move
            wins = completing(own | move)
            key = -INFINITE if move == first else sign * (wins & free).bit_count() + ranks[move]
            ordered.append((key, move, wins))
        ordered.sort()
        return ordered
