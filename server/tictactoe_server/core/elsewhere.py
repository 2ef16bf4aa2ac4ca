"""Rooms that are not here: the one thing that is asked about the other servers of a cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from typing import NamedTuple, Protocol

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.matchmaking import GameKind
from tictactoe_server.core.rooms import Player, Refused, Room


class ClusterIdentity(NamedTuple):
    """By what players know a cluster, and where its servers are reached, this one first."""

    id: str
    urls: tuple[str, ...]


class Elsewhere(Protocol):
    """What is known of the rooms of other servers; with `is_several` there may be some."""

    is_several: bool

    @property
    def cluster(self) -> ClusterIdentity | None:
        """The servers of which this is one, or None for one on its own."""

    def seek(self, kind: GameKind, player: Player, /) -> Awaitable[tuple[str, str | None]]:
        """Return the code of the room for one who asks for a match, and where that is, None for here.

        There is no such room yet where it is to be opened here. Raises `StoreUnavailable` where nobody can say.
        """

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the others are reached."""

    @property
    def count(self) -> int:
        """How many there are."""

    def find(self, code: str) -> str | None:
        """Return the URL of the server that has a room, None where no other has it as far as is known."""

    async def may_take(self, room: Room) -> bool:
        """Tell whether a room that was found in the store is nobody's, and may be served here from now on."""

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Have the newest boards of these rooms, as far as others tell them soon."""


class Nowhere:
    """For a server on its own."""

    is_several = False
    cluster = None
    urls: tuple[str, ...] = ()
    count = 0

    async def seek(self, kind: GameKind, player: Player) -> tuple[str, str | None]:
        raise LookupError("This server is on its own.")

    def find(self, code: str) -> str | None:
        return None

    async def may_take(self, room: Room) -> bool:
        return True

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        pass


def moved(code: str, url: str) -> Refused:
    """Return the refusal for a room that another server has."""
    return Refused(ErrorCode.MOVED, f"Room {code} is at {url} now.", url=url)
