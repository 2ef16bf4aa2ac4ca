"""What can be asked of a room: the wire's own requests, and what the server tells it of connections."""

from __future__ import annotations

from msgspec import Struct

from tictactoe_protocol.requests import Leave, Move, Rematch, Resign


class Enter(Struct, frozen=True):
    """The player takes a free seat, or is back in the one that they hold."""


class Dropped(Struct, frozen=True):
    """The player's connection is gone; the seat is held for them."""


Command = Move | Enter | Dropped | Leave | Resign | Rematch
