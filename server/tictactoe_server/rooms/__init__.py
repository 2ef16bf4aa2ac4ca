"""What happens in a room, as values: no sockets, no clock, no randomness, no logging."""

from tictactoe_server.rooms.clock import expires_at, is_expired
from tictactoe_server.rooms.commands import Command, Dropped, Enter, Expire
from tictactoe_server.rooms.document import UnreadableRoom, decode_room, encode_room
from tictactoe_server.rooms.finished import FinishedGame, decode_game, encode_game, finished_game
from tictactoe_server.rooms.player import Player, Refused
from tictactoe_server.rooms.room import HOLD_MS, Room
from tictactoe_server.rooms.view import state_of, summary_of

__all__ = [
    "HOLD_MS",
    "Command",
    "Dropped",
    "Enter",
    "Expire",
    "FinishedGame",
    "Player",
    "Refused",
    "Room",
    "UnreadableRoom",
    "decode_game",
    "decode_room",
    "encode_game",
    "encode_room",
    "expires_at",
    "finished_game",
    "is_expired",
    "state_of",
    "summary_of",
]
