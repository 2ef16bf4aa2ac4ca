"""Rooms that are not here, and what others have changed: all that is asked about the other servers of a cluster."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import NamedTuple

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.matchmaking import GameKind
from tictactoe_server.core.rooms import Player, Refused, Room
from tictactoe_server.core.topics import Listeners


class ClusterIdentity(NamedTuple):
    """By what players know a cluster, and where its servers are reached, this one first."""

    id: str
    urls: tuple[str, ...]


class Elsewhere:
    """What is known of the rooms of other servers: there are none for a server on its own.

    A cluster, which `is_several`, has its own kind. There `seek` returns the code of the room for one who asks for a
    match, and where that is, None for here; there is no such room yet where it is to be opened here. It raises
    `StoreUnavailable` where nobody can say. Listeners of `on_changed` hear of what another server has changed, by its
    table and key; some of it may never be heard.
    """

    is_several = False
    seek: Callable[[GameKind, Player], Awaitable[tuple[str, str | None]]]

    def __init__(self) -> None:
        self.on_changed = Listeners[[str, str]]()

    @property
    def cluster(self) -> ClusterIdentity | None:
        """The servers of which this is one, or None for one on its own."""
        return None

    @property
    def urls(self) -> tuple[str, ...]:
        """Where the others are reached."""
        return () if self.cluster is None else self.cluster.urls[1:]

    @property
    def count(self) -> int:
        """How many rooms there are."""
        return 0

    def find(self, code: str) -> str | None:
        """Return the URL of the server that has a room, None where no other has it as far as is known."""
        return None

    async def may_take(self, room: Room) -> bool:
        """Tell whether a room that was found in the store is nobody's, and may be served here from now on."""
        return True

    def is_chosen(self, key: str) -> bool:
        """Tell whether of all living servers this is the one that does what is due for something, by its key."""
        return True

    def tell_changed(self, table: str, key: str) -> None:
        """Tell the others that something was changed here that is kept in a table."""

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Have the newest boards of these rooms, as far as others tell them soon."""


def moved(code: str, url: str) -> Refused:
    """Return the refusal for a room that another server has."""
    return Refused(ErrorCode.MOVED, url=url, room=code, at=url)
