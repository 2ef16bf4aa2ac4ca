"""The terminal client, and a library: other Python programs play or watch through `connect`.

    async with tictactoe_client.connect("ws://localhost:8765", name="ana") as client:
        room = await client.rooms.match("classic")

`docs/reference/library.md` is its manual. The names are imported on first use, so that `tictactoe-client --help` does
not have to import network code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tictactoe_client.online import events
    from tictactoe_client.online.address import Address, parse_address, parse_room
    from tictactoe_client.online.backoff import Backoff
    from tictactoe_client.online.client import Client, connect
    from tictactoe_client.online.errors import (
        BadAddress,
        BadCell,
        BadRoomCode,
        ClientError,
        ConnectionLost,
        Expelled,
        Interrupted,
        ProtocolBroken,
        Refused,
        Unreachable,
        VersionRefused,
    )
    from tictactoe_client.online.messages import Message, Messages
    from tictactoe_client.online.room import Room
    from tictactoe_client.online.tournament import Tournament

__all__ = [
    "Address",
    "Backoff",
    "BadAddress",
    "BadCell",
    "BadRoomCode",
    "Client",
    "ClientError",
    "ConnectionLost",
    "Expelled",
    "Interrupted",
    "Message",
    "Messages",
    "ProtocolBroken",
    "Refused",
    "Room",
    "Tournament",
    "Unreachable",
    "VersionRefused",
    "connect",
    "events",
    "parse_address",
    "parse_room",
]

_MODULES = ("errors", "address", "backoff", "client", "messages", "tournament")
"""The modules that define the names, beginning with the modules that need no network."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "events":
        return import_module(f"{__name__}.online.events")
    modules = (import_module(f"{__name__}.online.{module}") for module in _MODULES)
    return next(getattr(module, name) for module in modules if hasattr(module, name))
