"""Ladders as a fold over the log of rated games and verdicts: the same log has the same digest on every machine. Pure.

A fold can continue from an earlier state as long as no newer verdict changes a game in that state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from tictactoe_protocol.ratings import plackett_luce
from tictactoe_protocol.ratings.glicko import MS_A_PERIOD, Advantage, Number, expect, play_rated, rest
from tictactoe_protocol.ratings.log import Entry, Judge, RatedGame, Verdict, count_unchanged, list_verdicts

WATCHED: Final = 200
"""Of how many last games a ladder counts those that were decided."""
FEWEST_DECIDED: Final = 50
MOST_ADVANTAGE: Final = 250
FEWEST_FOR_ADVANTAGE: Final = 100
OPPONENTS: Final = 4
"""How many different opponents are kept of a player: the first ones."""
TREND: Final = 10
"""Over how many games a trend goes."""

_DECIDED: Final = "+"
_DRAWN: Final = "="


class Player(Struct, frozen=True, omit_defaults=True):
    """Somebody in a ladder, as of the end `at` (ms since 1970) of their last game there.

    `opponents` are the first of those they met, `ratings` those they had before each of their last games.
    """

    number: Number = Number()
    at: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    opponents: tuple[str, ...] = ()
    ratings: tuple[float, ...] = ()

    @property
    def games(self) -> int:
        """How many games they played."""
        return self.wins + self.draws + self.losses

    @property
    def trend(self) -> float:
        """By how much their last games moved the rating."""
        return self.number.rating - self.ratings[0] if self.ratings else 0.0

    def number_at(self, at: int) -> Number:
        """Return the number at a time, with what the deviation has grown since the last game."""
        return rest(self.number, (at - self.at) / MS_A_PERIOD) if self.at else self.number


class Closing(NamedTuple):
    """Why a ladder rates no more games: `figure` of the last `of` games were decided, or the advantage after `of`."""

    reason: Literal["undecided", "advantage"]
    figure: int
    of: int


class Ladder(Struct, omit_defaults=True):
    """Who plays by one set of rules, how many games, and what the first move is worth there.

    `players` are in the order in which they first played, those of one game in the order of turns. `decided` has a sign
    for each of the last games: ``+`` where it was decided, ``=`` where it was drawn.
    """

    players: dict[str, Player] = {}
    games: int = 0
    advantage: Advantage = Advantage()
    decided: str = ""

    @property
    def closing(self) -> Closing | None:
        """Why it rates no more games, or None while it does."""
        decided = self.decided.count(_DECIDED)
        if len(self.decided) == WATCHED and decided < FEWEST_DECIDED:
            return Closing("undecided", decided, WATCHED)
        if self.games >= FEWEST_FOR_ADVANTAGE and abs(self.advantage.points) > MOST_ADVANTAGE:
            return Closing("advantage", round(self.advantage.points), self.games)
        return None

    def expected(self, game: RatedGame) -> list[float]:
        """Return the points that each player of a game that is not rated yet is expected to get, from 0 to 1.

        Of several it is the share of the others whom one leaves behind.
        """
        numbers = [own.number_at(game.at) for own in self._known(game)]
        if len(numbers) > 2:
            return plackett_luce.expect_points(numbers)
        (one, other), odds = numbers, self.advantage.odds
        return [expect(one.rating, other, odds), expect(other.rating, one, 1 / odds)]

    def copy(self) -> Ladder:
        """Return one that is added to without this one."""
        return Ladder(dict(self.players), self.games, self.advantage, self.decided)

    def add(self, game: RatedGame) -> None:
        """Rate one game."""
        known = self._known(game)
        best = min(game.places)
        is_shared, is_drawn = game.places.count(best) > 1, game.places.count(best) == len(game.places)
        rate = self._rate_two if len(known) == 2 else _rate_several
        for id, own, number, place in zip(game.players, known, rate(known, game), game.places, strict=True):
            opponents = own.opponents
            if len(opponents) < OPPONENTS:
                met = (one for one in game.players if one != id and one not in opponents)
                opponents = (*opponents, *met)[:OPPONENTS]
            self.players[id] = Player(
                number,
                max(own.at, game.at),
                own.wins + (place == best and not is_shared),
                own.draws + (place == best and is_shared),
                own.losses + (place != best),
                opponents,
                (*own.ratings, own.number.rating)[-TREND:],
            )
        self.games += 1
        self.decided = (self.decided + (_DRAWN if is_drawn else _DECIDED))[-WATCHED:]

    def _known(self, game: RatedGame) -> list[Player]:
        newcomer = Player() if len(game.players) == 2 else Player(plackett_luce.START)
        return [self.players.get(id, newcomer) for id in game.players]

    def _rate_two(self, known: Sequence[Player], game: RatedGame) -> Sequence[Number]:
        odds, (one, other) = self.advantage.odds, game.places
        score = 0.5 if one == other else float(one < other)
        times = [max(0.0, (game.at - own.at) / MS_A_PERIOD) if own.at else 0.0 for own in known]
        first, second = (rest(own.number, time - 1) for own, time in zip(known, times, strict=True))
        self.advantage = self.advantage.learn(first, second, score)
        return (
            play_rated(first, second, score, odds, min(times[0], 1)),
            play_rated(second, first, 1 - score, 1 / odds, min(times[1], 1)),
        )


def _rate_several(known: Sequence[Player], game: RatedGame) -> Sequence[Number]:
    return plackett_luce.play_places([own.number for own in known], game.places)


class State(Struct, frozen=True, omit_defaults=True):
    """The result of folding the first `entries` of the log by these verdicts.

    Attributes:
        ladders: By key, the name of the rules.
    """

    entries: int = 0
    verdicts: tuple[Verdict, ...] = ()
    ladders: dict[str, Ladder] = {}

    @property
    def digest(self) -> str:
        """The SHA-256 of all ladders, rounded to 1e-6, in hex; equal for two folds with the same result.

        It contains no names or ids, so that forgetting a player does not change it.
        """
        digest = hashlib.sha256()
        for row in self._list_rows():
            digest.update(msgspec.json.encode(row) + b"\n")
        return digest.hexdigest()

    def _list_rows(self) -> Iterator[list[str | int]]:
        """Yield a row for each ladder, sorted by key, followed by a row for each of its players, oldest first."""
        for key, ladder in sorted(self.ladders.items()):
            yield [key, ladder.games, *(round(value * 1e6) for value in ladder.advantage), ladder.decided]
            for own in ladder.players.values():
                yield [*(round(value * 1e6) for value in own.number), own.at, own.wins, own.draws, own.losses]


def fold(entries: Sequence[Entry], games: Mapping[str, RatedGame]) -> State:
    """Return the state after all entries; raises KeyError if a game is missing."""
    return advance(State(), entries, games, list_verdicts(entries))


def advance(
    state: State, entries: Sequence[Entry], games: Mapping[str, RatedGame], verdicts: tuple[Verdict, ...]
) -> State:
    """Return the state after the next `entries`, by all verdicts of the log; raises KeyError if a game is missing.

    The state has to be usable with these verdicts; see `newest_usable`. The cost grows with the new entries alone.
    """
    judge = Judge(verdicts).judge
    ladders, copied = dict(state.ladders), set[str]()
    for entry in entries:
        for game in filter(None, (judge(games[id]) for id in entry.games)):
            if game.rules not in copied:
                copied.add(game.rules)
                ladders[game.rules] = ladders[game.rules].copy() if game.rules in ladders else Ladder()
            ladders[game.rules].add(game)
    return State(state.entries + len(entries), verdicts, ladders)


def newest_usable(states: Iterable[State], entries: Sequence[Entry], games: Mapping[str, RatedGame]) -> State:
    """Return the newest state from which the log can be folded on, or the empty state.

    Later states are stale: a newer verdict has changed games that they contain.
    """
    verdicts = list_verdicts(entries)

    @cache
    def reach(known: tuple[Verdict, ...]) -> int:
        return len(entries) if known == verdicts else count_unchanged(entries, games, known, verdicts)

    newest_first = sorted(states, key=lambda state: state.entries, reverse=True)
    return next((state for state in newest_first if state.entries <= reach(state.verdicts)), State())
