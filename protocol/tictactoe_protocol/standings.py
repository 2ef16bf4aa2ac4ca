"""The table of a tournament with its tie-breaks, each with the sum that made it: a fold over the games.

A win counts 1, a draw 1/2. All of it is reckoned in half points, so nothing is rounded, and the order in which results
came does not matter. The tie-breaks are those of the FIDE Handbook, C.07: direct encounter, where all who are level
have met; wins; Sonneborn-Berger, the points of all whom one beat and half of theirs with whom one drew; Buchholz cut 1,
the points of all whom one met but the least. A bye or a round without a game adds nothing to either, and is cut first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

ROUND_ROBIN: Final = ("direct", "wins", "sonneborn_berger")
SWISS: Final = ("buchholz_cut_1", *ROUND_ROBIN)


class Game(NamedTuple):
    """What one pairing came to in half points; `second` is None where nobody was there to play.

    `is_played` is false for a bye and for what was given without a game.
    """

    first: str
    second: str | None
    first_halves: int
    second_halves: int
    is_played: bool = True


class Tie(NamedTuple):
    """A tie-break: its name, its value, and the sum that made it in figures."""

    name: str
    value: float
    sum: str


class Standing(NamedTuple):
    """One row of a table, `played` without what was given. `tie` is there where others have as many points."""

    place: int
    player: str
    points: float
    played: int
    tie: tuple[Tie, ...] = ()


class Meeting(NamedTuple):
    """A game as one of both had it; `opponent` is None for nobody."""

    opponent: str | None
    halves: int
    is_played: bool


class Results:
    """What everybody got against whom, and the tie-breaks as sums of that."""

    def __init__(self, players: Sequence[str], games: Iterable[Game]) -> None:
        self.players = tuple(players)
        self.meetings: dict[str, list[Meeting]] = defaultdict(list)
        for first, second, first_halves, second_halves, is_played in games:
            self.meetings[first].append(Meeting(second, first_halves, is_played))
            if second is not None:
                self.meetings[second].append(Meeting(first, second_halves, is_played))
        self.halves = {player: sum(one.halves for one in self.meetings[player]) for player in self.players}
        self.played = {player: sum(one.is_played for one in self.meetings[player]) for player in self.players}

    def direct(self, player: str, level: Sequence[str]) -> Tie | None:
        """Return the points against those who are level, or None where not all of them have met."""
        met = {one: {meeting.opponent for meeting in self.meetings[one]} for one in level}
        if any(other not in met[one] for one in level for other in level if other != one):
            return None
        got = sorted((one.halves for one in self.meetings[player] if one.opponent in level), reverse=True)
        return Tie("direct", sum(got) / 2, _add(got))

    def wins(self, player: str, level: Sequence[str]) -> Tie:
        """Return how many games were won, those given among them but no byes."""
        count = sum(one.halves == 2 and one.opponent is not None for one in self.meetings[player])
        return Tie("wins", count, str(count))

    def sonneborn_berger(self, player: str, level: Sequence[str] = ()) -> Tie:
        """Return the points of those beaten and half the points of those drawn with, as ``4+1+½(3+2½)``."""
        beaten, drawn = (self._opponents(player, halves) for halves in (2, 1))
        half = f"½({_add(drawn)})" if drawn else ""
        return Tie("sonneborn_berger", (2 * sum(beaten) + sum(drawn)) / 4, "+".join(filter(None, (_add(beaten), half))))

    def buchholz_cut_1(self, player: str, level: Sequence[str] = ()) -> Tie:
        """Return the points of all opponents but the least, as ``4+3+2½ (1)`` with what is cut in brackets."""
        rounds = max(1, *map(len, self.meetings.values()))
        *kept, cut = (self._opponents(player) + [0] * rounds)[:rounds]
        return Tie("buchholz_cut_1", sum(kept) / 2, f"{_add(kept)} ({spell_halves(cut)})")

    def _opponents(self, player: str, halves: int | None = None) -> list[int]:
        """Return what the opponents have, the most first, all or those against whom one got so many half points."""
        meetings = (one for one in self.meetings[player] if halves is None or one.halves == halves)
        return sorted((self.halves.get(one.opponent or "", 0) for one in meetings), reverse=True)


def standings(
    players: Sequence[str], games: Iterable[Game], breaks: Sequence[str] = ROUND_ROBIN
) -> tuple[Standing, ...]:
    """Return the table, best first; who is level after all tie-breaks shares a place, in the order of `players`.

    Who never played stands behind all who did.

    >>> table = standings(["ana", "bo", "cem"], [Game("ana", "bo", 1, 1), Game("bo", "cem", 2, 0)])
    >>> [(row.place, row.player, row.points) for row in table]
    [(1, 'bo', 1.5), (2, 'ana', 0.5), (3, 'cem', 0.0)]
    """
    results = Results(players, games)
    ranked: list[tuple[str, tuple[Tie, ...], int]] = []

    def first_key(player: str) -> tuple[bool, int]:
        return not results.played[player], -results.halves[player]

    for _, level in groupby(sorted(results.players, key=first_key), first_key):
        start = len(ranked)
        ranked += [(player, tie, start + before) for player, tie, before in _break(results, [*level], tuple(breaks))]
    return tuple(
        Standing(before + 1, player, results.halves[player] / 2, results.played[player], tie)
        for player, tie, before in ranked
    )


def _break(results: Results, level: list[str], breaks: tuple[str, ...]) -> list[tuple[str, tuple[Tie, ...], int]]:
    """Return those who are level in their order by these tie-breaks, each with how many of them are before."""
    if len(level) == 1 or not breaks:
        return [(player, (), 0) for player in level]
    name, *others = breaks
    find: Callable[[str, Sequence[str]], Tie | None] = getattr(results, name)
    found = {player: find(player, level) for player in level}

    def value(player: str) -> float:
        tie = found[player]
        return 0 if tie is None else -tie.value

    ranked: list[tuple[str, tuple[Tie, ...], int]] = []
    for _, still in groupby(sorted(level, key=value), value):
        start = len(ranked)
        for player, ties, before in _break(results, [*still], tuple(others)):
            tie = found[player]
            ranked.append((player, ties if tie is None else (tie, *ties), start + before))
    return ranked


def _add(halves: Iterable[int]) -> str:
    return "+".join(map(spell_halves, halves))


def spell_halves(halves: int) -> str:
    """Return half points in figures.

    >>> spell_halves(1), spell_halves(4), spell_halves(5)
    ('½', '2', '2½')
    """
    return f"{halves // 2 or ''}½" if halves % 2 else str(halves // 2)
