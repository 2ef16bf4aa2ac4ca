"""Rooms that are not here: the one thing that is asked about the other servers of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import Listed
from tictactoe_server.rooms import Refused, Room


class Elsewhere(Protocol):
    """What is known of the rooms of other servers."""

    @property
    def urls(self) -> tuple[str, ...]:
        """Where they are reached."""
        ...

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def find(self, code: str) -> str | None:
        """Return the URL of the server that has a room, None where no other has it as far as is known."""
        ...

    async def may_take(self, room: Room) -> bool:
        """Tell whether a room that was found in the store is nobody's, and may be served here from now on."""
        ...

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Have the newest boards of these rooms, as far as others tell them soon."""
        ...


class Nowhere:
    """For a server on its own."""

    urls: tuple[str, ...] = ()
    count = 0

    def find(self, code: str) -> str | None:
        """Return None."""
        return None

    async def may_take(self, room: Room) -> bool:
        """Return True."""
        return True

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Do nothing."""


def moved(code: str, url: str) -> Refused:
    """Return the refusal for a room that another server has."""
    return Refused(ErrorCode.MOVED, f"Room {code} is at {url} now.", url=url)
