"""The results of a cup: the cross-table with each entrant's strength, and the state of a test."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from tictactoe_client.text.lobby import align_columns
from tictactoe_engine.records import GameRecord
from tictactoe_lab.cup.file import FAILED
from tictactoe_lab.cup.strength import measure_elo, measure_ratio
from tictactoe_protocol.standings import Game, Standing, standings
from tictactoe_words.catalogue import say
from tictactoe_words.tournaments import format_points


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        failed: Number of games lost because the engine failed.
        elo: The difference to all other entrants together, or None before the first complete pair of games.
        error: The 95 % error of `elo`.
        against: Points by opponent.
    """

    place: int
    name: str
    points: float
    played: int
    won: int
    drawn: int
    lost: int
    failed: int
    elo: float | None
    error: float | None
    against: dict[str, float]


class Results:
    """The games played so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.games: list[Game] = []
        self.failed = Counter[str]()
        self._pairs = {name: [0] * 5 for name in names}
        self._half_pairs: dict[str, dict[str, int]] = {}

    def add(self, record: GameRecord) -> None:
        """Count a game."""
        winner = record.result.winner if record.result else None
        got = {name: 1 if winner is None else 2 * (mark == winner) for mark, name in record.players}
        one, other = got
        self.games.append(Game(one, other, got[one], got[other]))
        self.failed[min(got, key=got.__getitem__)] += FAILED in dict(record.tags)
        pair = (record.round or "").rpartition(".")[0]
        if before := self._half_pairs.pop(pair, None):
            for name, halves in got.items():
                self._pairs[name][before[name] + halves] += 1
        else:
            self._half_pairs[pair] = got

    def list_rows(self) -> list[Row]:
        """Return the table, best first."""
        return [self._make_row(standing) for standing in standings(self.names, self.games)]

    def _make_row(self, standing: Standing) -> Row:
        (place, me, points, played, _), got, against = standing, Counter[int](), defaultdict[str, float](float)
        for one, other, first, second, *_ in self.games:
            if me in (one, other):
                halves, opponent = (first, other) if me == one else (second, one)
                got[halves] += 1
                against[str(opponent)] += halves / 2
        elo, error = measure_elo(self._pairs[me]) if any(self._pairs[me]) else (None, None)
        return Row(place, me, points, played, got[2], got[1], got[0], self.failed[me], elo, error, dict(against))

    def measure_ratio(self, elo0: float, elo1: float) -> float:
        """Return the log-likelihood ratio of the first entrant being stronger by `elo1` rather than by `elo0`."""
        return measure_ratio(self._pairs[self.names[0]], elo0, elo1)


def draw_table(rows: Sequence[Row], *, in_ascii: bool) -> list[str]:
    """Return the lines of the cross-table; the last columns have the points against the entrant of each line."""
    names = [say(f"column {name}").capitalize() for name in ("player", "points", "games")]
    grid = [["", *names, "+", "=", "-", "Elo"]]
    grid[0] += [str(number) for number, _ in enumerate(rows, 1)]
    for number, row in enumerate(rows, 1):
        scores = [
            "-" if row_against is row else format_points(row.against.get(row_against.name, 0)) for row_against in rows
        ]
        line = ["=" if row.place < number else f"{number}.", row.name, format_points(row.points), str(row.played)]
        grid.append([*line, str(row.won), str(row.drawn), str(row.lost), _spell_elo(row, in_ascii), *scores])
    return align_columns(grid, to_the_right={0, *range(2, len(grid[0]))})


def _spell_elo(row: Row, in_ascii: bool) -> str:
    text = "-" if row.elo is None else f"{row.elo:+.0f} ± {row.error:.0f}"
    return text.replace("±", "+-") if in_ascii else text.replace("inf", "∞")
