"""The one way to change a room: a command in, the next room out."""

from __future__ import annotations

from typing import assert_never

from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign, Undo
from tictactoe_server.rooms import offers, play, seating
from tictactoe_server.rooms.commands import Command, Dropped, Enter, Expire
from tictactoe_server.rooms.player import Player
from tictactoe_server.rooms.room import Room


def apply(room: Room, player: Player, command: Command, now: int) -> Room:
    """Return the room after the command, this very room where it changes nothing; `now` is in ms of served time.

    Raises `Refused`, and has changed nothing.
    """
    match command:
        case Move():
            return play.move(room, player, command, now)
        case Enter():
            return seating.enter(room, player, now)
        case Dropped():
            return seating.drop(room, player, now)
        case Leave():
            return seating.leave(room, player, now)
        case Resign():
            return play.resign(room, player, now)
        case Rematch():
            return play.rematch(room, player, command, now)
        case Draw():
            return offers.draw(room, player, command, now)
        case Undo():
            return offers.undo(room, player, command, now)
        case Claim():
            return play.claim(room, player, command, now)
        case Expire():
            return play.expire(room, now)
        case _:
            assert_never(command)
