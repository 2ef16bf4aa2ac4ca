"""What the server's operator sees and does: figures, bans, an orderly end, and the socket over which orders come."""

from tictactoe_server.operator.bans import BadSubject, Bans, describe_ban
from tictactoe_server.operator.control import ControlSocket, NoServer, OrderRefused, ask, socket_path
from tictactoe_server.operator.drain import Drain
from tictactoe_server.operator.expelling import Barred, expel
from tictactoe_server.operator.housekeeping import Housekeeping
from tictactoe_server.operator.lag import LoopLag
from tictactoe_server.operator.meter import Meter, MeteredConnection
from tictactoe_server.operator.office import Office, warn_in_bulk
from tictactoe_server.operator.presence import Presence
from tictactoe_server.operator.site import LimitsNow, Site

__all__ = [
    "BadSubject",
    "Bans",
    "Barred",
    "ControlSocket",
    "Drain",
    "Housekeeping",
    "LimitsNow",
    "LoopLag",
    "Meter",
    "MeteredConnection",
    "NoServer",
    "Office",
    "OrderRefused",
    "Presence",
    "Site",
    "ask",
    "describe_ban",
    "expel",
    "socket_path",
    "warn_in_bulk",
]
