"""The interface of a client that its parts use."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Protocol, TypeVar

from msgspec import UNSET, UnsetType

from tictactoe_client.online.address import Cluster
from tictactoe_client.online.errors import ConnectionLost, ProtocolBroken
from tictactoe_client.online.events import ConnectionEvent
from tictactoe_client.online.messages import Messages
from tictactoe_client.online.room import Room, RoomRequests
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Request
from tictactoe_words.catalogue import say

Field = TypeVar("Field")
Awaited = TypeVar("Awaited")


class PartOwner(RoomRequests, Protocol):
    """The attributes of a client that its parts use."""

    name: str
    cluster: Cluster
    _ended: ConnectionLost | None
    _welcomed_at: float

    @property
    def is_here(self) -> bool:
        """Whether the server can be reached now."""

    async def ask(self, request: Request) -> Ok:
        """Send a request and return the answer; raises `Unreachable` if there is none within the timeout."""

    def messages(self) -> Messages:
        """Return a stream of everything that the server sends from now on."""

    def _publish(self, event: ConnectionEvent) -> None:
        """Publish an event to streams and rooms."""

    def _detach(self, room: Room) -> None:
        """End a room for us without telling the server."""

    async def _wait_for(self, coming: Awaitable[Awaited], request: Request) -> Awaited:
        """Return the result; raises `Unreachable` if there is none within the timeout."""


def require_field(field: Field | UnsetType) -> Field:
    """Return a required field of an answer; raises `ProtocolBroken` if it is missing."""
    if field is UNSET:
        raise ProtocolBroken(say("broken no answer"))
    return field
