"""Finds wins by threats: sequences of moves that each threaten to complete a line and leave a single answer.

This is a threat-space search (Allis, van den Herik and Huntjens, Go-Moku and Threat-Space Search, 1993), restricted to
threats with a single answer. As the other side never has a choice, the wins are proven on boards of any size.
"""

from __future__ import annotations

from tictactoe_engine.search.budget import Meter
from tictactoe_engine.search.grid import Grid
from tictactoe_engine.search.patterns import Patterns


class ThreatSearch:
    """Searches for a forced win of the side to move, on a grid without gravity and misère."""

    __slots__ = ("_grid", "_meter", "_patterns", "_refuted")

    def __init__(self, grid: Grid, patterns: Patterns, meter: Meter) -> None:
        self._grid = grid
        self._patterns = patterns
        self._meter = meter
        self._refuted: dict[tuple[int, int], int] = {}

    def shortest_win(self, own: int, other: int, max_threats: int) -> tuple[int, int] | None:
        """Return the win with the fewest threats, at most `max_threats`, as in `find_win`, or None if there is none."""
        wins = (self.find_win(own, other, threats) for threats in range(max_threats + 1))
        return next((win for win in wins if win is not None), None)

    def find_win(self, own: int, other: int, threats: int) -> tuple[int, int] | None:
        """Return the first move's bit and the plies to the end of a win with up to `threats` threats, or None."""
        grid = self._grid
        free = grid.cells & ~(own | other)
        wins = grid.completing(own) & free
        if wins:
            return wins & -wins, 1
        if not threats or self._refuted.get((own, other), -1) >= threats:
            return None
        self._meter.spend()
        forced = grid.completing(other) & free
        if not forced & (forced - 1):
            found = self._try_threats(own, other, free, forced or free, threats)
            if found is not None:
                return found
        self._refuted[own, other] = threats
        return None

    def _try_threats(self, own: int, other: int, free: int, allowed: int, threats: int) -> tuple[int, int] | None:
        makers = self._patterns.threat_makers(own, free) & allowed
        single: list[tuple[int, int]] = []
        while makers:
            move = makers & -makers
            makers ^= move
            wins = self._grid.completing(own | move) & free & ~move
            if wins & (wins - 1):
                return move, 3
            if wins:
                single.append((move, wins))
        if threats > 1:
            for move, answer in single:
                found = self.find_win(own | move, other | answer, threats - 1)
                if found is not None:
                    return move, found[1] + 2
        return None
