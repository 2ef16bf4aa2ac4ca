"""What is going on now: the rooms of this process, who is in them, and the one path of every change."""

from tictactoe_server.core.agenda import Agenda
from tictactoe_server.core.changes import Changes
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.lobby import Lobby
from tictactoe_server.core.pressure import Pressure
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.served_time import GRACE_SECONDS, ServedTime
from tictactoe_server.core.session import Session, messages_rate
from tictactoe_server.core.sources import Sources
from tictactoe_server.core.tally import Tally
from tictactoe_server.core.timers import Timers
from tictactoe_server.core.uninterrupted import Uninterrupted

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
