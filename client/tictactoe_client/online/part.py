"""The part of `Client` that `Rooms`, `Challenges` and the like use; it avoids a circular import."""

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
    """The client as its parts, such as `Rooms`, see it."""

    name: str
    cluster: Cluster
    _ended: ConnectionLost | None
    _welcomed_at: float

    @property
    def is_here(self) -> bool:
        """Whether there is a connection now."""

    async def ask(self, request: Request) -> Ok:
        """Send a request and return the answer; raises `Unreachable` if there is no answer within the timeout."""

    def messages(self) -> Messages:
        """Return a stream of every message from now on."""

    def _publish(self, event: ConnectionEvent) -> None:
        """Publish an event to the streams and to our rooms."""

    def _detach(self, room: Room) -> None:
        """Stop following a room, without telling the server."""

    async def _wait_for(self, coming: Awaitable[Awaited], request: Request) -> Awaited:
        """Return the result of a request; raises `Unreachable` if there is none within the timeout."""


def require_field(field: Field | UnsetType) -> Field:
    """Return a required field of an answer; raises `ProtocolBroken` if it is missing."""
    if field is UNSET:
        raise ProtocolBroken(say("broken no answer"))
    return field
