"""Ladders, computed by a fold over the log of rated games and verdicts. Pure.

The same log gives the same digest on every machine. A fold can continue from an earlier state unless a newer verdict
changes a game in that state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from tictactoe_protocol.rated import LadderClosing
from tictactoe_protocol.ratings.glicko import MS_A_PERIOD, Advantage, Number, expect, play_rated, rest
from tictactoe_protocol.ratings.log import Entry, Judge, RatedGame, Verdict, list_verdicts

WATCHED: Final = 200
"""The number of recent games among which a ladder counts the decided ones."""
FEWEST_DECIDED: Final = 50
MOST_ADVANTAGE: Final = 250
FEWEST_FOR_ADVANTAGE: Final = 100
OPPONENTS: Final = 2
"""The number of different opponents that a player's record stores."""
TREND: Final = 10
"""The number of games over which a trend is measured."""

_DECIDED: Final = "+"
_DRAWN: Final = "="


class Player(Struct, frozen=True, omit_defaults=True):
    """A player's record in one ladder.

    Attributes:
        number: The rating, deviation and volatility after the last game.
        at: The end of the last game in ms since 1970, or 0 before the first game.
        opponents: The ids of the first `OPPONENTS` different opponents.
        ratings: The rating before each of the last `TREND` games, oldest first.
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
        return self.wins + self.draws + self.losses

    @property
    def trend(self) -> float:
        """The change of the rating over the last `TREND` games."""
        return self.number.rating - self.ratings[0] if self.ratings else 0.0

    def periods_until(self, at: int) -> float:
        """Return the number of rating periods between the last game and the time `at`; 0 before the first game."""
        return max(0.0, (at - self.at) / MS_A_PERIOD) if self.at else 0.0

    def number_at(self, at: int) -> Number:
        """Return the rating at the time `at`; its deviation has grown since the last game."""
        return rest(self.number, self.periods_until(at))

    def add(self, game: RatedGame, score: float, opponent: str, number: Number) -> Player:
        """Return the record after a game, with `number` as the new rating."""
        opponents = self.opponents
        if len(opponents) < OPPONENTS and opponent not in opponents:
            opponents = (*opponents, opponent)
        return Player(
            number,
            max(self.at, game.at),
            self.wins + (score == 1),
            self.draws + (score == 0.5),
            self.losses + (score == 0),
            opponents,
            (*self.ratings, self.number.rating)[-TREND:],
        )


class Ladder(Struct, omit_defaults=True):
    """The ratings of all players under one set of rules, and the advantage of the first move.

    Attributes:
        players: The record of each player, by id, in the order of their first games. The first player in a game comes
            before the second.
        decided: A character for each of the last `WATCHED` games: ``+`` for a decided game, ``=`` for a draw.
    """

    players: dict[str, Player] = {}
    games: int = 0
    advantage: Advantage = Advantage()
    decided: str = ""

    @property
    def closing(self) -> LadderClosing | None:
        """Why the ladder has stopped rating games, or None if it has not."""
        decided = self.decided.count(_DECIDED)
        if len(self.decided) == WATCHED and decided < FEWEST_DECIDED:
            return LadderClosing("undecided", decided, WATCHED)
        if self.games >= FEWEST_FOR_ADVANTAGE and abs(self.advantage.points) > MOST_ADVANTAGE:
            return LadderClosing("advantage", round(self.advantage.points), self.games)
        return None

    def expected(self, game: RatedGame) -> tuple[float, float]:
        """Return the expected score of each player, from 0 to 1, in a game that has not been rated yet."""
        first, second = (own.number_at(game.at) for own in self._find_players(game))
        odds = self.advantage.odds
        return expect(first.rating, second, odds), expect(second.rating, first, 1 / odds)

    def copy(self) -> Ladder:
        return Ladder(dict(self.players), self.games, self.advantage, self.decided)

    def add(self, game: RatedGame) -> None:
        one, other = self._find_players(game)
        first_id, second_id = game.players
        odds, score = self.advantage.odds, game.score
        one_periods, other_periods = one.periods_until(game.at), other.periods_until(game.at)
        first, second = rest(one.number, one_periods - 1), rest(other.number, other_periods - 1)
        after_first = play_rated(first, second, score, odds, min(one_periods, 1))
        after_second = play_rated(second, first, 1 - score, 1 / odds, min(other_periods, 1))
        self.players[first_id] = one.add(game, score, second_id, after_first)
        self.players[second_id] = other.add(game, 1 - score, first_id, after_second)
        self.advantage = self.advantage.learn(first, second, score)
        self.games += 1
        self.decided = (self.decided + (_DRAWN if score == 0.5 else _DECIDED))[-WATCHED:]

    def _find_players(self, game: RatedGame) -> tuple[Player, Player]:
        first, second = game.players
        return self.players.get(first, Player()), self.players.get(second, Player())


class State(Struct, frozen=True, omit_defaults=True):
    """The result of a fold over the start of the log.

    Attributes:
        entries: The number of entries of the log that were folded.
        verdicts: The verdicts that were applied.
        ladders: The ladders by key, which is the name of their rules.
    """

    entries: int = 0
    verdicts: tuple[Verdict, ...] = ()
    ladders: dict[str, Ladder] = {}

    @property
    def digest(self) -> str:
        """The SHA-256 of all ladders in hex, with numbers rounded to 1e-6. Folds with the same result have the same.

        The hashed data contain no names or ids, so that forgetting a player does not change the digest.
        """
        digest = hashlib.sha256()
        for row in self._list_rows():
            digest.update(msgspec.json.encode(row) + b"\n")
        return digest.hexdigest()

    def _list_rows(self) -> Iterator[list[str | int]]:
        """Yield a row for each ladder, sorted by key, each followed by the rows of its players, oldest first."""
        for key, ladder in sorted(self.ladders.items()):
            yield [key, ladder.games, *(round(value * 1e6) for value in ladder.advantage), ladder.decided]
            for own in ladder.players.values():
                yield [*(round(value * 1e6) for value in own.number), own.at, own.wins, own.draws, own.losses]


def fold(entries: Sequence[Entry], games: Mapping[str, RatedGame]) -> State:
    """Return the state after all `entries`; raises KeyError if `games` lacks a game."""
    return advance(State(), entries, games, list_verdicts(entries))


def advance(
    state: State, entries: Sequence[Entry], games: Mapping[str, RatedGame], verdicts: tuple[Verdict, ...]
) -> State:
    """Return the state after the next `entries`; raises KeyError if `games` lacks one of their games.

    The cost depends on the new entries alone.

    Args:
        state: The state to continue from, which must be usable with `verdicts`; see `is_usable`.
        entries: The entries that follow in the log.
        games: The rated games by id.
        verdicts: All verdicts in the log.
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


def is_usable(state: State, entries: Sequence[Entry], games: Mapping[str, RatedGame]) -> bool:
    """Return whether the fold can continue from `state`, because no newer verdict has changed a game in it.

    Args:
        state: An earlier state.
        entries: All entries of the log.
        games: The rated games by id. Games that are no longer stored count as unchanged.
    """
    before, after = Judge(state.verdicts), Judge(list_verdicts(entries))
    known = (games[id] for entry in entries[: state.entries] for id in entry.games if id in games)
    return all(before.judge(game) == after.judge(game) for game in known)
