"""What is going on now: the rooms of this process, who is in them, and the one path of every change."""

from tictactoe_server.tables.agenda import Agenda
from tictactoe_server.tables.changes import Changes
from tictactoe_server.tables.listed import Listed
from tictactoe_server.tables.live_room import LiveRoom
from tictactoe_server.tables.lobby import Lobby
from tictactoe_server.tables.pressure import Pressure
from tictactoe_server.tables.registry import Registry
from tictactoe_server.tables.served_time import GRACE_SECONDS, ServedTime
from tictactoe_server.tables.session import Session, messages_rate
from tictactoe_server.tables.sources import Sources
from tictactoe_server.tables.tally import Tally
from tictactoe_server.tables.timers import Timers
from tictactoe_server.tables.uninterrupted import Uninterrupted

__all__ = [
    "GRACE_SECONDS",
    "Agenda",
    "Changes",
    "Listed",
    "LiveRoom",
    "Lobby",
    "Pressure",
    "Registry",
    "ServedTime",
    "Session",
    "Sources",
    "Tally",
    "Timers",
    "Uninterrupted",
    "messages_rate",
]
