"""The one way to change a room: a command in, the next room out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_server.core.rooms import offers, play, seating
from tictactoe_server.core.rooms.commands import Command, Dropped, Enter, Expire, Player
from tictactoe_server.core.rooms.room import Room

_CARRY_OUT: Final[Mapping[type[Command], Callable[[Room, Player, Any, int], Room]]] = {
    Move: play.move,
    Enter: seating.enter,
    Dropped: seating.drop,
    Leave: seating.leave,
    Resign: play.resign,
    Rematch: play.rematch,
    Draw: offers.offer,
    Undo: offers.offer,
    Claim: play.claim,
    Expire: play.expire,
}
"""Each returns the next room, or the very room that it was given where nothing changes."""


def apply(room: Room, player: Player, command: Command, now: int) -> Room:
    """Return the room after the command, this very room where it changes nothing; `now` is in ms of served time.

    Raises `Refused`, and has changed nothing.
    """
    after = _CARRY_OUT[type(command)](room, player, command, now)
    if after is room or after.seq != room.seq:  # a move, the most frequent command, counts itself
        return after
    return replace(after, seq=room.seq + 1)
