"""Ratings as a fold over the log of entries: the same log comes to the same digest, on every machine. Pure.

A state is where the fold has come to. A later fold goes on from it, as long as no verdict that came since changes what
it was made from.
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
    """Where the fold has come to: after how many entries, with which verdicts, and the ladders by their keys."""

    entries: int = 0
    verdicts: tuple[Verdict, ...] = ()
    ladders: dict[str, Ladder] = {}

    @property
    def digest(self) -> str:
        """What tells whether two folds came to the same: the SHA-256 of all rows, rounded to 1e-6, as hex figures.

        No row names anybody, so that it stays as it is where a name is forgotten.
        """
        digest = hashlib.sha256()
        for row in self._list_rows():
            digest.update(msgspec.json.encode(row) + b"\n")
        return digest.hexdigest()

    def _list_rows(self) -> Iterator[list[str | int]]:
        """Yield a row for each ladder, by their keys, and after it one for each player, as they first played there."""
        for key, ladder in sorted(self.ladders.items()):
            yield [key, ladder.games, *(round(value * 1e6) for value in ladder.advantage), ladder.decided]
            for own in ladder.players.values():
                yield [*(round(value * 1e6) for value in own.number), own.at, own.wins, own.draws, own.losses]


def fold(
    entries: Sequence[Entry], games: Mapping[str, RatedGame], states: Iterable[State] = (), *, until: int | None = None
) -> State:
    """Return the state after all entries, or after the first `until` of them; raises KeyError where a game is missing.

    It goes on from the newest of some earlier `states` that is usable, so that only games since that one are asked for
    where no verdict is new. All verdicts of the log count, also those after `until`.
    """
    end = len(entries) if until is None else until
    start = newest_usable((state for state in states if state.entries <= end), entries, games)
    return advance(start, entries[start.entries : end], games, list_verdicts(entries))


def advance(
    state: State, entries: Sequence[Entry], games: Mapping[str, RatedGame], verdicts: tuple[Verdict, ...]
) -> State:
    """Return the state after the next `entries`, by all verdicts of the log; raises KeyError where a game is missing.

    The state has to be usable by these verdicts; see `newest_usable`. It costs as much as these entries do.
    """
    judge = Judge(verdicts).judge
    ladders, own = dict(state.ladders), set[str]()
    for entry in entries:
        for game in filter(None, (judge(games[id]) for id in entry.games)):
            if game.rules not in own:
                own.add(game.rules)
                ladders[game.rules] = ladders[game.rules].copy() if game.rules in ladders else Ladder()
            ladders[game.rules].add(game)
    return State(state.entries + len(entries), verdicts, ladders)


def newest_usable(states: Iterable[State], entries: Sequence[Entry], games: Mapping[str, RatedGame]) -> State:
    """Return the newest of these states that the log can be folded on from, else the empty one.

    Those after it are of no use any more: they were made from games that a verdict has changed since.
    """
    verdicts = list_verdicts(entries)

    @cache
    def reach(known: tuple[Verdict, ...]) -> int:
        return len(entries) if known == verdicts else count_unchanged(entries, games, known, verdicts)

    newest_first = sorted(states, key=lambda state: state.entries, reverse=True)
    return next((state for state in newest_first if state.entries <= reach(state.verdicts)), State())
