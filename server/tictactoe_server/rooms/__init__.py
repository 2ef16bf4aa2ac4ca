"""What happens in a room, as values: no sockets, no clock, no randomness, no logging."""

from tictactoe_server.rooms.commands import Command, Dropped, Enter
from tictactoe_server.rooms.document import decode_room, encode_room
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.view import state_of, summary_of

__all__ = [
    "Command",
    "Dropped",
    "Enter",
    "Player",
    "Refused",
    "Room",
    "decode_room",
    "encode_room",
    "state_of",
    "summary_of",
]
