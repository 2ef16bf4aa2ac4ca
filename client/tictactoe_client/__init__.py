"""The terminal client, and `connect` for every other Python program that wants to play or watch.

    async with tictactoe_client.connect("ws://localhost:8765", name="ana") as client:
        room = await client.match("classic")

The names load on first use, so that `tictactoe-client --help` costs no import of the network.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tictactoe_client.online.address import Address, parse_address, parse_room
    from tictactoe_client.online.backoff import Backoff
    from tictactoe_client.online.client import Client, connect
    from tictactoe_client.online.errors import (
        BadAddress,
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

__all__ = [
    "Address",
    "Backoff",
    "BadAddress",
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
    "Unreachable",
    "VersionRefused",
    "connect",
    "parse_address",
    "parse_room",
]

_HOMES = {
    "Address": "online.address",
    "Backoff": "online.backoff",
    "Client": "online.client",
    "Message": "online.messages",
    "Messages": "online.messages",
    "Room": "online.room",
    "connect": "online.client",
    "parse_address": "online.address",
    "parse_room": "online.address",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'online.errors')}"), name)
    globals()[name] = value
    return value
