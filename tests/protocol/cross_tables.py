"""Published cross-tables of tournaments: who got what against whom, and what their publishers made of it.

They stand in `cross_tables.json`. A row is a name, its results against all in the order of the rows, one game or two,
and the points. ``=`` is a draw and ``*`` oneself; ``.`` a game that was not played yet. `values` are published
tie-break values, by names; `order` are names as the publisher ranked those who had as many points by direct encounter,
wins or Sonneborn-Berger.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from tictactoe_protocol.standings import Game

HALVES = {"1": 2, "=": 1, "0": 0}


class CrossTable(Struct, frozen=True):
    """One tournament, with the page that has it."""

    title: str
    source: str
    rows: tuple[tuple[str, str, float], ...]
    values: dict[str, float] = {}
    order: tuple[tuple[str, ...], ...] = ()
    shared: tuple[tuple[str, ...], ...] = ()

    @property
    def names(self) -> list[str]:
        return [name for name, _, _ in self.rows]

    def results(self, name: str) -> list[str]:
        """Return the results of a player against each row."""
        return {row: results.split() for row, results, _ in self.rows}[name]

    @property
    def games(self) -> list[Game]:
        """All games, each once."""
        return list(chain.from_iterable(self._games_of(row) for row in range(len(self.rows))))

    def _games_of(self, row: int) -> list[Game]:
        name = self.names[row]
        games = []
        for column in range(row):
            other = self.names[column]
            for mine, theirs in zip(self.results(name)[column], self.results(other)[row], strict=True):
                if mine in HALVES:
                    games.append(Game(name, other, HALVES[mine], HALVES[theirs]))
        return games


*ROUND_ROBINS, SIX_IN_A_SWISS = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=list[CrossTable]
)
