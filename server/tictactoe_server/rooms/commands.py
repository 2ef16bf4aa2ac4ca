"""What can be asked of a room: the wire's own requests, and what the server tells it of connections and of time."""

from __future__ import annotations

from msgspec import Struct

from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign, Undo


class Enter(Struct, frozen=True):
    """The player takes a free seat, or is back in the one that they hold."""


class Dropped(Struct, frozen=True):
    """The player's connection is gone; the seat is held for them."""


class Expire(Struct, frozen=True):
    """The running clock may have run out; changes nothing where it has not. No player acts."""


Command = Move | Enter | Dropped | Leave | Resign | Rematch | Draw | Undo | Claim | Expire
