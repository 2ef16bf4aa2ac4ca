"""Sockets and frames: bytes in, texts out, and no word of rooms."""

from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.listen import CannotListen, address_for_others, open_sockets, url_of
from tictactoe_server.transport.listener import Listener

__all__ = [
    "CannotListen",
    "Connection",
    "Listener",
    "Receiver",
    "address_for_others",
    "encode_frame",
    "open_sockets",
    "url_of",
]
