"""Sockets and frames: bytes in, texts out, and no word of rooms."""

from tictactoe_server.transport.announcement import Announcement
from tictactoe_server.transport.certificate import CannotUseCertificate, Certificate
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.door import Door, key_of
from tictactoe_server.transport.frames import encode_frame
from tictactoe_server.transport.http import too_many
from tictactoe_server.transport.listen import (
    CannotListen,
    addresses_at,
    addresses_for_others,
    is_for_others,
    open_sockets,
    url_of,
)
from tictactoe_server.transport.listener import Listener
from tictactoe_server.transport.own_names import OwnNames
from tictactoe_server.transport.plain import Request, Response, say

__all__ = [
    "Announcement",
    "CannotListen",
    "CannotUseCertificate",
    "Certificate",
    "Connection",
    "Door",
    "Listener",
    "OwnNames",
    "Receiver",
    "Request",
    "Response",
    "addresses_at",
    "addresses_for_others",
    "encode_frame",
    "is_for_others",
    "key_of",
    "open_sockets",
    "say",
    "too_many",
    "url_of",
]
