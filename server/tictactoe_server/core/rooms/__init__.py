"""What happens in a room, as values: no sockets, no clock, no randomness, no logging."""

from tictactoe_server.core.rooms.applying import apply
from tictactoe_server.core.rooms.clock import expires_at, is_expired, is_first_move, seen_at
from tictactoe_server.core.rooms.commands import NOBODY, Command, Dropped, Enter, Expire, Player, Refused
from tictactoe_server.core.rooms.finished import FinishedGame, Participant, finished_game
from tictactoe_server.core.rooms.play import has_begun
from tictactoe_server.core.rooms.room import HOLD_MS, START_MS, Room
from tictactoe_server.core.rooms.seating import open_room
from tictactoe_server.core.rooms.view import held_seat_of, state_of, summary_of

__all__ = [
    "HOLD_MS",
    "NOBODY",
    "START_MS",
    "Command",
    "Dropped",
    "Enter",
    "Expire",
    "FinishedGame",
    "Participant",
    "Player",
    "Refused",
    "Room",
    "apply",
    "expires_at",
    "finished_game",
    "has_begun",
    "held_seat_of",
    "is_expired",
    "is_first_move",
    "open_room",
    "seen_at",
    "state_of",
    "summary_of",
]
