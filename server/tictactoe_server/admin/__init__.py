"""What the server's operator sees and does: figures, bans, an orderly end, and the socket over which orders come."""

from tictactoe_server.admin.bans import BadSubject, Bans, describe_ban
from tictactoe_server.admin.control import ControlSocket, NoServer, OrderRefused, ask, socket_path
from tictactoe_server.admin.drain import Drain
from tictactoe_server.admin.expelling import Barred, expel
from tictactoe_server.admin.housekeeping import Housekeeping
from tictactoe_server.admin.lag import LoopLag
from tictactoe_server.admin.meter import Meter, MeteredConnection
from tictactoe_server.admin.office import Office, warn_in_bulk
from tictactoe_server.admin.presence import Presence
from tictactoe_server.admin.site import LimitsNow, Site

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
