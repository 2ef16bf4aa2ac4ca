"""Rooms as immutable values: applying a command returns the next room, without I/O, clocks, randomness or logging."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from tictactoe_protocol.requests import Choose, Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_server.rooms import clock, offers, play, seating
from tictactoe_server.rooms.clock import expires_at, is_expired, seen_at
from tictactoe_server.rooms.finished import FinishedGame, finished_game
from tictactoe_server.rooms.room import (
    NOBODY,
    Command,
    Dropped,
    Enter,
    Expire,
    GoOn,
    HandOver,
    Player,
    Refused,
    Room,
    StandStill,
)
from tictactoe_server.rooms.seating import open_room
from tictactoe_server.rooms.view import state_of

__all__ = [
    "NOBODY",
    "Command",
    "Dropped",
    "Enter",
    "Expire",
    "FinishedGame",
    "GoOn",
    "HandOver",
    "Player",
    "Refused",
    "Room",
    "StandStill",
    "apply",
    "expires_at",
    "finished_game",
    "is_expired",
    "open_room",
    "seen_at",
    "state_of",
]

_CARRY_OUT: Final[Mapping[type[Command], Callable[[Room, Player, Any, int], Room]]] = {
    Move: play.move,
    Choose: play.choose,
    Enter: seating.enter,
    Dropped: seating.drop,
    HandOver: seating.hand_over,
    Leave: seating.leave,
    Resign: play.resign,
    Rematch: play.rematch,
    Draw: offers.offer,
    Undo: offers.offer,
    Claim: play.claim,
    Expire: play.expire,
    StandStill: clock.stand_still,
    GoOn: clock.go_on,
}
"""Each function returns the next room, or the same room if nothing changes."""


def apply(room: Room, player: Player, command: Command, now: int) -> Room:
    """Return the room after a command, or the same room if nothing changes. May raise `Refused`.

    `now` is in ms of served time.
    """
    after = _CARRY_OUT[type(command)](room, player, command, now)
    if after is room or after.seq != room.seq:  # the frequent commands increment `seq` themselves
        return after
    return replace(after, seq=room.seq + 1, happened=() if after.happened is room.happened else after.happened)
