"""Finished games as they are stored."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_engine.records import DayClock, GameRecord, GameResult, MoveClock, SeatClock
from tictactoe_protocol.guests import SEPARATOR, other_owner, owner_of
from tictactoe_protocol.pushes import PastPlayer, PlayedGame, Result, is_server_bot, opening_fields
from tictactoe_protocol.terms import ClockFields, RulesState
from tictactoe_server.rooms.room import CASUAL, USUAL, Purpose, Room, id_of, rules_state

_ID: Final = re.compile(r"([0-9A-Z]{6})-([1-9][0-9]{0,8})-[1-9][0-9]{0,15}", re.ASCII)


class FinishedGame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finished game. Fields without a comment are as in `Room` and `Position`."""

    room: str  # the room's code
    game: int  # the number of the game in the room
    at: int  # the end of the game (ms since 1970)
    rules: RulesState
    players: dict[str, PastPlayer]
    moves: tuple[int, ...]
    result: Result
    passed: tuple[tuple[int, str], ...] = ()
    clock: ClockFields | None = None
    chosen: tuple[str, ...] = ()
    public: bool = False
    purpose: Purpose = CASUAL  # its terms are not stored

    @property
    def id(self) -> str:
        return id_of(self.room, self.game, self.at)

    @property
    def people(self) -> tuple[str, ...]:
        """The ids of the human players. A guest is represented by the id of the guest's host."""
        people: dict[str, None] = {}
        for player in self.players.values():
            if player.bot is None or not is_server_bot(player.bot):
                people[player.player.partition(SEPARATOR)[0]] = None
        return tuple(people)


def finished_game(room: Room, at: int) -> FinishedGame:
    """Return the finished game in a room. Raise ValueError if the game is not over."""
    code, position, result = room.code, room.position, room.result
    if result is None:
        raise ValueError(f"The game of room {code} is not over.")
    players = {mark: PastPlayer(seat.player, seat.name, seat.bot) for mark, seat in room.seats.items() if seat}
    rules = rules_state(position.rules)
    played = (position.moves, result, position.passed, room.clock, position.chosen)
    purpose = replace(room.purpose, terms=USUAL) if room.purpose.name else CASUAL
    return FinishedGame(code, room.game, at, rules, players, *played, room.visibility == "public", purpose)


def game_with_stand_in(game: FinishedGame, id: str, stand_in: str) -> FinishedGame:
    """Return the game with the forgotten player `id`, and the player's guests, replaced by `stand_in` (id and name)."""
    players = dict(game.players)
    for mark, player in game.players.items():
        if owner_of(player.player) == id:
            name = other_owner(player.player, id, stand_in)
            players[mark] = replace(player, player=name, name=name)
    return replace(game, players=players)


def place_of(id: str) -> tuple[str, int] | None:
    """Return the code of the room and the number of the game from a game id, or None if the id is malformed.

    >>> place_of("K7M4PQ-2-1795208400000"), place_of("17"), place_of("K7M4PQ-0-1")
    (('K7M4PQ', 2), None, None)
    """
    found = _ID.fullmatch(id)
    return None if found is None else (found[1], int(found[2]))


def final_position(game: FinishedGame) -> Position:
    """Return the position at the end of a game."""
    return Position.replay(game.rules.to_rules(), game.moves, game.passed, game.chosen)


def played_game(game: FinishedGame) -> PlayedGame:
    """Return a game as it is sent to clients."""
    last, played = final_position(game), (game.moves, game.result, game.passed)
    about = game.id, game.room, game.game, game.at, game.rules, game.players
    fields: dict[str, Any] = opening_fields(last, is_over=True) | game.purpose.fields_of(PlayedGame)
    return PlayedGame(*about, last.board, *played, **fields)


def record_of(game: FinishedGame) -> GameRecord:
    """Return a game as it is exported."""
    return GameRecord(
        rules=game.rules.to_rules(),
        moves=game.moves,
        result=GameResult(game.result.reason, game.result.winner),
        players=tuple((mark, player.name) for mark, player in game.players.items()),
        date=datetime.fromtimestamp(game.at // 1000, UTC).isoformat().replace("+00:00", "Z"),
        room=game.room,
        game=game.game,
        clock=_clock_of(game.clock),
        passed=game.passed,
        chosen=game.chosen,
        **game.purpose.fields_of(GameRecord),
    )


def _clock_of(clock: ClockFields | None) -> SeatClock | MoveClock | DayClock | None:
    if clock is None:
        return None
    if clock.counts_days:
        return DayClock(clock.days or 0, clock.bank_days or 0)
    return MoveClock(clock.move_ms) if clock.move_ms else SeatClock(clock.initial_ms or 0, clock.increment_ms or 0)
