"""Sockets and frames: bytes in, texts out, and no word of rooms."""

from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.door import Door, key_of
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.listen import CannotListen, address_for_others, open_sockets, url_of
from tictactoe_server.transport.listener import Listener

__all__ = [
    "CannotListen",
    "Connection",
    "Door",
    "Listener",
    "Receiver",
    "address_for_others",
    "encode_frame",
    "key_of",
    "open_sockets",
    "url_of",
]
