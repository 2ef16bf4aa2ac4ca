"""Computes the table of a tournament from its games, with each tie-break and the sum that produced it.

A win counts 1 point, a draw 1/2. Scores are stored in half points, so nothing is rounded, and the order of the results
does not matter. The tie-breaks are defined in the FIDE Handbook, C.07 of 2023:

- direct encounter: the points against the other tied players;
- wins, including wins without a game;
- Sonneborn-Berger: the points of all beaten opponents and half the points of all opponents in drawn games;
- Buchholz cut 1: the points of all opponents except the lowest.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby, takewhile
from typing import Final, NamedTuple

ROUND_ROBIN: Final = ("direct", "wins", "sonneborn_berger")
SWISS: Final = ("buchholz_cut_1", *ROUND_ROBIN)


class Game(NamedTuple):
    """The result of a pairing.

    In a Swiss, every player has an entry with its `round` for each round that has begun, even if they were not paired.

    Attributes:
        first: The id of the first player.
        second: The id of the second player, or None for a bye or an unpaired player.
        first_halves: The first player's score in half points.
        second_halves: The second player's score in half points.
        is_played: Whether a game was played, not for a bye or a result without a game; None while the game is running.
    """

    first: str
    second: str | None
    first_halves: int
    second_halves: int
    is_played: bool | None = True
    round: int = 0


class Tie(NamedTuple):
    """A tie-break: its name, its value, and the sum that produced it."""

    name: str
    value: float
    sum: str


class Standing(NamedTuple):
    """A row of a table.

    Attributes:
        played: The number of games played, without byes and results without a game.
        tie: The tie-breaks, if other players have the same points.
    """

    place: int
    player: str
    points: float
    played: int
    tie: tuple[Tie, ...] = ()


class Meeting(NamedTuple):
    """A result from the side of either player.

    Attributes:
        opponent: The id of the opponent, or None if there was no opponent.
        halves: The player's score in half points.
        is_played: As in `Game`.
    """

    opponent: str | None
    halves: int
    is_played: bool | None
    round: int

    @property
    def is_voluntary(self) -> bool:
        """Whether the player chose not to play or was absent, as far as the points show."""
        return self.is_played is False and self.halves < 2


class Results:
    """The results of all players, and their tie-breaks. Results without a game count like games.

    Attributes:
        decides_early: Whether direct encounter can rank some of the tied players if not all of them have met.
        meetings: The results of each player, by id.
        halves: The score of each player in half points, by id.
        played: The number of games played by each player, by id.
    """

    decides_early = False

    def __init__(self, players: Sequence[str], games: Iterable[Game]) -> None:
        self.players = tuple(players)
        self.meetings: dict[str, list[Meeting]] = defaultdict(list)
        self._encounters: dict[tuple[str, ...], dict[str, Tie]] = {}
        for first, second, first_halves, second_halves, is_played, round in games:
            self.meetings[first].append(Meeting(second, first_halves, is_played, round))
            if second is not None:
                self.meetings[second].append(Meeting(first, second_halves, is_played, round))
        self.halves = {player: sum(meeting.halves for meeting in self.meetings[player]) for player in self.players}
        self.played = {player: sum(one.is_played is True for one in self.meetings[player]) for player in self.players}

    def first_key(self, player: str) -> tuple[int, int]:
        """Return the sorting key before tie-breaks: the points and, without points, whether the player has played."""
        return -self.halves[player], not self.halves[player] and not self.played[player]

    def direct(self, player: str, level: Sequence[str]) -> Tie | None:
        """Return the points against the other tied players in `level`, or None if they cannot rank the player."""
        key = tuple(level)
        if key not in self._encounters:
            self._encounters[key] = dict(self._find_encounters(level))
        return self._encounters[key].get(player)

    def wins(self, player: str, level: Sequence[str] = ()) -> Tie:
        """Return the number of wins, including wins without a game."""
        count = sum(meeting.halves == 2 for meeting in self.meetings[player])
        return Tie("wins", count, str(count))

    def sonneborn_berger(self, player: str, level: Sequence[str] = ()) -> Tie:
        """Return the points of beaten opponents and half the points of drawn opponents: ``4+1+½(3+2½)``."""
        had = self.meetings[player]
        beaten, drawn = (self.worths(player, [one for one in had if one.halves == halves]) for halves in (2, 1))
        half = f"½({_add(drawn)})" if drawn else ""
        return Tie("sonneborn_berger", (2 * sum(beaten) + sum(drawn)) / 4, "+".join(filter(None, (_add(beaten), half))))

    def _find_encounters(self, level: Sequence[str]) -> Iterable[tuple[str, Tie]]:
        """Yield the players in `level` that direct encounter can rank, each with the tie-break.

        If all of them have met, these are all players. Otherwise, with `decides_early`, these are the players at the
        top, if the others could not reach their points even by winning all missing games.
        """
        rest = set(level)
        while rest:
            games = {player: [one for one in self.meetings[player] if self._is_met(one, rest)] for player in rest}
            got = {player: sorted((game.halves for game in games[player]), reverse=True) for player in rest}
            missing = {player: len(rest) - 1 - len({game.opponent for game in games[player]}) for player in rest}
            ties = {player: Tie("direct", sum(got[player]) / 2, _add(got[player])) for player in rest}
            if not any(missing.values()):
                yield from ties.items()
                return
            first = max(rest, key=lambda player: ties[player].value)
            rest.remove(first)
            if not self.decides_early or any(ties[one].value + missing[one] >= ties[first].value for one in rest):
                return
            yield first, ties[first]

    def _is_met(self, one: Meeting, others: set[str]) -> bool:
        return one.is_played is not None and one.opponent in others

    def worths(self, player: str, meetings: Iterable[Meeting]) -> list[int]:
        """Return the scores of the opponents in `meetings` in half points, the highest first."""
        return sorted((self._worth(player, one) for one in meetings if one.is_played is not None), reverse=True)

    def _worth(self, player: str, one: Meeting) -> int:
        return self.halves.get(one.opponent or "", 0)


class SwissResults(Results):
    """The results of a Swiss, with different rules for unplayed games in tie-breaks.

    A player's unplayed game counts as a game against an opponent with the player's own points. The last rounds of an
    opponent, if the opponent chose not to play them, count as draws of the opponent.
    """

    decides_early = True

    def __init__(self, players: Sequence[str], games: Iterable[Game]) -> None:
        super().__init__(players, games)
        self._adjusted = {player: self.halves[player] + self._drawn_in_the_end(player) for player in self.players}

    def buchholz_cut_1(self, player: str, level: Sequence[str] = ()) -> Tie:
        """Return the points of all opponents except the lowest, which is shown in brackets: ``4+3+2½ (1)``.

        If the player chose not to play some rounds, the lowest of these is cut instead. Nothing is cut while a game of
        the player is running.
        """
        had, cut = self.meetings[player], 0
        kept = self.worths(player, had)
        if kept and all(meeting.is_played is not None for meeting in had):
            cut = min(self.worths(player, [meeting for meeting in had if meeting.is_voluntary]) or kept)
            kept.remove(cut)
        return Tie("buchholz_cut_1", sum(kept) / 2, f"{_add(kept) or 0} ({spell_halves(cut)})")

    def _is_met(self, one: Meeting, others: set[str]) -> bool:
        return one.is_played is True and one.opponent in others

    def _worth(self, player: str, one: Meeting) -> int:
        return self._adjusted.get(one.opponent or "", 0) if one.is_played else self.halves[player]

    def _drawn_in_the_end(self, player: str) -> int:
        newest_first = sorted(self.meetings[player], key=lambda one: -one.round)
        return sum(1 - one.halves for one in takewhile(lambda one: one.is_voluntary, newest_first))


def standings(
    players: Sequence[str], games: Iterable[Game], breaks: Sequence[str] = ROUND_ROBIN
) -> tuple[Standing, ...]:
    """Return the table, best players first.

    Players who are tied after all tie-breaks share a place, in the order of `players`. Among players without points,
    the players who have played a game are ahead.

    >>> table = standings(["ana", "bo", "cem"], [Game("ana", "bo", 1, 1), Game("bo", "cem", 2, 0)])
    >>> [(row.place, row.player, row.points) for row in table]
    [(1, 'bo', 1.5), (2, 'ana', 0.5), (3, 'cem', 0.0)]
    """
    return rank((SwissResults if "buchholz_cut_1" in breaks else Results)(players, games), breaks)


def rank(results: Results, breaks: Sequence[str]) -> tuple[Standing, ...]:
    """Return the table for `results`, with the tie-breaks named in `breaks`."""
    rows: list[Standing] = []
    for _, level in groupby(sorted(results.players, key=results.first_key), results.first_key):
        first = len(rows) + 1
        rows += [
            Standing(first + before, player, results.halves[player] / 2, results.played[player], tie)
            for player, tie, before in _break(results, [*level], tuple(breaks))
        ]
    return tuple(rows)


def _break(results: Results, level: list[str], breaks: tuple[str, ...]) -> list[tuple[str, tuple[Tie, ...], int]]:
    """Rank the tied players in `level` by the tie-breaks named in `breaks`.

    Each player is returned with their tie-breaks and the number of players in `level` who are ahead.
    """
    if len(level) == 1 or not breaks:
        return [(player, (), 0) for player in level]
    name, *others = breaks
    find: Callable[[str, Sequence[str]], Tie | None] = getattr(results, name)
    found = {player: (tie,) if (tie := find(player, level)) else () for player in level}
    values = {player: -sum(tie.value for tie in ties) for player, ties in found.items()}
    ranked: list[tuple[str, tuple[Tie, ...], int]] = []
    for _, still in groupby(sorted(level, key=values.__getitem__), values.__getitem__):
        start = len(ranked)
        rest = _break(results, [*still], tuple(others))
        ranked += [(player, (*found[player], *ties), start + before) for player, ties, before in rest]
    return ranked


def _add(halves: Iterable[int]) -> str:
    return "+".join(map(spell_halves, halves))


def spell_halves(halves: int) -> str:
    """Return a number of half points as points in figures.

    >>> spell_halves(1), spell_halves(4), spell_halves(5)
    ('½', '2', '2½')
    """
    return f"{halves // 2 or ''}½" if halves % 2 else str(halves // 2)
