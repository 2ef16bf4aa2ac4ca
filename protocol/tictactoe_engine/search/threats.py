"""Winning by threats alone: sequences in which every move threatens to complete a line and leaves one answer.

Threat-space search in the sense of Allis, van den Herik and Huntjens (Go-Moku and Threat-Space Search, 1993), kept
to threats with a single answer. As the other side never has a choice, what is found is proven however wide the board.
"""

from __future__ import annotations

from tictactoe_engine.search.budget import Meter
from tictactoe_engine.search.grid import Grid
from tictactoe_engine.search.patterns import Patterns


class ThreatSearch:
    """Looks for a forced win of the side to move; for grids without gravity and misère."""

    __slots__ = ("_grid", "_meter", "_patterns", "_refuted")

    def __init__(self, grid: Grid, patterns: Patterns, meter: Meter) -> None:
        self._grid = grid
        self._patterns = patterns
        self._meter = meter
        self._refuted: dict[tuple[int, int], int] = {}

    def shortest_win(self, own: int, other: int, max_threats: int) -> tuple[int, int] | None:
        """Return (first move's bit, plies to the end) of the shortest win by threats, or None.

        At most `max_threats` threats come before the line.
        """
        for threats in range(max_threats + 1):
            found = self.find_win(own, other, threats)
            if found is not None:
                return found
        return None

    def find_win(self, own: int, other: int, threats: int) -> tuple[int, int] | None:
        """Return (first move's bit, plies to the end) of a win with up to so many threats before it, or None."""
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
