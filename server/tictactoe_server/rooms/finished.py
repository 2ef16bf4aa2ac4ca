"""A finished game as the archive keeps it: who played what, and how it ended. It never changes again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_engine.records import GameRecord, GameResult, MoveClock, SeatClock
from tictactoe_protocol.events import round_of
from tictactoe_protocol.guests import SEPARATOR, other_owner, owner_of
from tictactoe_protocol.pushes import PastPlayer, PlayedGame, Result, is_server_bot
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.rooms.room import Room, id_of
from tictactoe_server.rooms.view import rules_state

_ID: Final = re.compile(r"([0-9A-Z]{6})-([1-9][0-9]{0,8})-[1-9][0-9]{0,15}", re.ASCII)


class Participant(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who played a mark: the public id and name of then; `bot` as in `SeatState`."""

    player: str
    name: str
    bot: str | None = None


class FinishedGame(msgspec.Struct, frozen=True, omit_defaults=True):
    """Game number `game` of a room, ended at `at` (ms since 1970, UTC); `passed` and `chosen` as in `Position`.

    `event`, `pairing` and `rated` are as in `Room`.
    """

    room: str
    game: int
    at: int
    rules: RulesState
    players: dict[str, Participant]
    moves: tuple[int, ...]
    result: Result
    passed: tuple[tuple[int, str], ...] = ()
    clock: ClockFields | None = None
    chosen: tuple[str, ...] = ()
    event: str = ""
    pairing: str = ""
    public: bool = False
    rated: bool = False

    @property
    def id(self) -> str:
        """Its `game_id`; see `place_of`."""
        return id_of(self.room, self.game, self.at)

    @property
    def people(self) -> tuple[str, ...]:
        """The ids of the players who are no bots; guests count as the player who brought them."""
        owners = {
            one.player.partition(SEPARATOR)[0]: None
            for one in self.players.values()
            if one.bot is None or not is_server_bot(one.bot)
        }
        return tuple(owners)


def finished_game(room: Room, at: int) -> FinishedGame:
    """Return the game that a room has just finished; raises ValueError where it has not."""
    code, position, result = room.code, room.position, room.result
    if result is None:
        raise ValueError(f"The game of room {code} is not over.")
    players = {mark: Participant(seat.player, seat.name, seat.bot) for mark, seat in room.seats.items() if seat}
    rules = rules_state(position.rules)
    played = (position.moves, result, position.passed, room.clock, position.chosen, room.event, room.pairing)
    return FinishedGame(code, room.game, at, rules, players, *played, room.visibility == "public", room.rated)


def game_with_stand_in(game: FinishedGame, id: str, stand_in: str) -> FinishedGame:
    """Return the game with a stand-in's name and id for a forgotten player and for the player's guests."""
    players = dict(game.players)
    for mark, one in game.players.items():
        if owner_of(one.player) == id:
            name = other_owner(one.player, id, stand_in)
            players[mark] = replace(one, player=name, name=name)
    return replace(game, players=players)


def place_of(id: str) -> tuple[str, int] | None:
    """Return the room's code and the game's number in it, None if this is no game id.

    >>> place_of("K7M4PQ-2-1795208400000"), place_of("17"), place_of("K7M4PQ-0-1")
    (('K7M4PQ', 2), None, None)
    """
    found = _ID.fullmatch(id)
    return None if found is None else (found[1], int(found[2]))


def players_of(game: FinishedGame) -> dict[str, PastPlayer]:
    """Return who played, by mark, as the wire says it."""
    return {mark: PastPlayer(player.player, player.name) for mark, player in game.players.items()}


def event_of(game: FinishedGame) -> tuple[str | UnsetType, str | UnsetType]:
    """Return of what event a game was, and of which of its pairings, as the wire says it."""
    return game.event or UNSET, game.pairing or UNSET


def final_position(game: FinishedGame) -> Position:
    """Return how a finished game stood at its end, with all of its moves."""
    return Position.replay(game.rules.to_rules(), game.moves, game.passed, game.chosen)


def played_game(game: FinishedGame) -> PlayedGame:
    """Return a finished game as the wire says all of it."""
    board, played = final_position(game).board, (game.moves, game.result, game.passed, game.chosen, *event_of(game))
    return PlayedGame(game.id, game.room, game.game, game.at, game.rules, players_of(game), board, *played)


def record_of(game: FinishedGame) -> GameRecord:
    """Return a finished game as its record has it."""
    return GameRecord(
        rules=game.rules.to_rules(),
        moves=game.moves,
        result=GameResult(game.result.reason, game.result.winner),
        players=tuple((mark, player.name) for mark, player in game.players.items()),
        date=datetime.fromtimestamp(game.at // 1000, UTC).isoformat().replace("+00:00", "Z"),
        event=game.event or None,
        round=round_of(game.pairing) or None,
        room=game.room,
        game=game.game,
        clock=_clock_of(game.clock),
        passed=game.passed,
        chosen=game.chosen,
    )


def _clock_of(clock: ClockFields | None) -> SeatClock | MoveClock | None:
    if clock is None:
        return None
    return MoveClock(clock.move_ms) if clock.move_ms else SeatClock(clock.initial_ms or 0, clock.increment_ms or 0)
