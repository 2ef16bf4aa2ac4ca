"""Published cross-tables of tournaments, with their published points and tie-breaks.

The tables are in `cross_tables.json`. A row is a name, its results against all players in the order of the rows, one
game or two each, and the points. ``=`` is a draw, ``*`` the player's own column, ``.`` an unplayed game. `values` are
published tie-break values by name. `order` are the names in the published order of players with equal points, decided
by direct encounter, wins or Sonneborn-Berger.
"""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import Struct

from tictactoe_protocol.standings import Game

HALVES = {"1": 2, "=": 1, "0": 0, "+": 2, "-": 0, "U": 2, "H": 1, "Z": 0}


class CrossTable(Struct, frozen=True):
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
        return {row: results.split() for row, results, _ in self.rows}[name]

    @property
    def games(self) -> list[Game]:
        return list(chain.from_iterable(self._games_of(row) for row in range(len(self.rows))))

    def _games_of(self, row: int) -> list[Game]:
        name = self.names[row]
        games = []
        for column in range(row):
            other = self.names[column]
            for mine, theirs in zip(self.results(name)[column], self.results(other)[row], strict=True):
                if mine in "1=0":
                    games.append(Game(name, other, HALVES[mine], HALVES[theirs]))
        return games


*ROUND_ROBINS, SIX_IN_A_SWISS = msgspec.json.decode(
    Path(__file__).with_suffix(".json").read_bytes(), type=list[CrossTable]
)

# M. Held, exercises on FIDE's tie-break regulations of 2023. A round is an opponent's number, w or b, and the result,
# ``+`` and ``-`` by forfeit; or without an opponent ``H`` or ``Z`` by request, half a point or none, and ``U`` free.
SIXTEEN_IN_A_SWISS = (
    ("9w1 13b= 2w= 15b1 4w=", 11.0, 8.0, 2),
    ("10b1 7w1 1b= 16w1 3b=", 12.0, 9.5, 3),
    ("11w= 6b1 8w1 4b= 2w=", 13.0, 10.5, 2),
    ("12b1 H 13w1 3w= 1b=", 11.5, 9.75, 2),
    ("13w0 15b0 11w1 7b= 10w1", 7.5, 4.25, 2),
    ("14b0 3w0 U 10w1 8b1", 11.0, 6.5, 3),
    ("15w1 2b0 16b0 5w= 11b0", 12.5, 3.25, 1),
    ("16b= 14w1 3b0 13w1 6w0", 12.0, 5.25, 2),
    ("1b0 10w0 H 11b- U", 7.5, 2.25, 1),
    ("2w0 9b1 15w0 6b0 5b0", 11.5, 1.5, 1),
    ("3b= 16w0 5b0 9w+ 7w1", 12.0, 5.75, 2),
    ("4w0 U 14w+ Z Z", 9.5, 4.0, 2),
    ("5b1 1w= 4b0 8b0 14w0", 12.0, 4.25, 1),
    ("6w1 8b0 12b- Z 13b1", 9.0, 4.5, 2),
    ("7b0 5w1 10b1 1w0 16b0", 11.0, 3.5, 2),
    ("8w= 11b1 7w1 2b0 15w1", 11.0, 7.25, 3),
)
"""The rounds of players numbered from 1, and their Buchholz cut 1, Sonneborn-Berger and WIN."""

SIX_WITH_A_FORFEIT = (
    ("5w= 2w1 3b1 4w0 6b1", 9.25),
    ("6w1 1b0 5w1 3w= 4b1", 6.25),
    ("4w1 6b1 1w0 2b= 5w1", 6.25),
    ("3b0 5b0 6w= 1b1 2w0", 4.25),
    ("1b= 4w1 2b0 6w- 3b0", 3.25),
    ("2b0 3w0 4b= 5b+ 1w0", 2.25),
)
"""A round robin, with Sonneborn-Berger."""


def read_rounds(rows: Sequence[str]) -> list[Game]:
    games = []
    for number, row in enumerate(rows, 1):
        for round, (result, told) in enumerate(((one[-1], one) for one in row.split()), 1):
            opponent = int(told[:-2] or 0)
            if not opponent:
                games.append(Game(str(number), None, HALVES[result], 0, is_played=False, round=round))
            elif number < opponent:
                other = rows[opponent - 1].split()[round - 1][-1]
                is_played = result not in "+-"
                games.append(Game(str(number), str(opponent), HALVES[result], HALVES[other], is_played, round))
    return games
