"""Who acts in a room, what can be asked of it, and what is said where that is refused.

Commands are the wire's own requests, and what the server tells a room of connections and of time.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final

from msgspec import Struct

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.requests import Claim, Draw, Leave, Move, Rematch, Resign, Undo


class Player(Struct, frozen=True):
    """Who acts: `id` is public and stays, `name` is what others read."""

    id: str
    name: str


NOBODY: Final = Player("", "")  # who acts when time does


class Enter(Struct, frozen=True):
    """The player takes a free seat, or is back in the one that they hold."""


class Dropped(Struct, frozen=True):
    """The player's connection is gone; the seat is held for them."""


class Expire(Struct, frozen=True):
    """The running clock may have run out; changes nothing where it has not. No player acts."""


Command = Move | Enter | Dropped | Leave | Resign | Rematch | Draw | Undo | Claim | Expire


@dataclass(eq=False)
class Refused(Exception):
    """A command that was not carried out, with what its sender is told; `url` is where another server has the room."""

    code: ErrorCode
    message: str
    _: KW_ONLY
    path: str | None = None
    retry_ms: int | None = None
    url: str | None = None

    def __str__(self) -> str:
        return self.message
