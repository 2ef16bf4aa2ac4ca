"""The interface to the other servers of a cluster and their rooms; a single server has none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import GameKind, Listed
from tictactoe_server.listeners import Listeners
from tictactoe_server.rooms import Player, Refused, Room
from tictactoe_server.storage.store import StoreUnavailable

RoomAt = tuple[str, str | None]
"""A room's code, and the URL of its server, None for this one."""


class ClusterIdentity(NamedTuple):
    """The id of a cluster, and the URLs of its servers, this server first."""

    id: str
    urls: tuple[str, ...]


class RemoteServers:
    """The other servers and their rooms, here for a single server; a cluster overrides the methods.

    Attributes:
        is_several: Whether there may be other servers.
        faulty_nodes: Nodes of the store that have wrong copies or do not answer.
        on_changed: Called with the table and key of a value that another server has changed; notices may be lost.
    """

    is_several = False

    def __init__(self) -> None:
        self.faulty_nodes: set[str] = set()
        self.on_changed = Listeners[[str, str]]()

    @property
    def cluster(self) -> ClusterIdentity | None:
        return None

    @property
    def has_joined(self) -> bool:
        """Whether this server has joined its cluster, so that it may serve; always true for a single server."""
        return True

    @property
    def names(self) -> Mapping[str, str]:
        """The names of the running servers by id, this one first."""
        return {"": ""}

    @property
    def lost_writes(self) -> Mapping[str, int]:
        """How many acknowledged writes the store has lost, by stream."""
        return {}

    @property
    def urls(self) -> tuple[str, ...]:
        return () if self.cluster is None else self.cluster.urls[1:]

    @property
    def count(self) -> int:
        return 0

    def find(self, code: str) -> str | None:
        """Return the URL of the server that has a room, or None if it is not known to be elsewhere."""
        return None

    def server_of(self, code: str) -> str:
        """Return the id of the server that has a room, or of this one."""
        return ""

    async def ask_order(self, id: str, order: bytes) -> bytes:
        """Return another server's answer to an operator's order; raises `StoreUnavailable`."""
        raise StoreUnavailable("there is no other server")

    async def leave(self) -> bool:
        """Hand all rooms to the others and wait until they have them; return whether there are others."""
        return False

    def suits(self, code: str) -> bool:
        """Return whether this server may give a new room this code."""
        return True

    async def ask_for(self, code: str, player: str, url: str) -> None:
        """Take over a room whose server its players cannot reach at this URL; raises `Refused` if it keeps the room."""
        raise Refused(ErrorCode.BAD_MESSAGE, "server", path="unreachable", at=url)

    def source_of(self, address: str) -> str:
        return address

    async def take(self, room: Room, revision: int) -> bool:
        """Adopt a stored room unless it is another server's; return False if only this server can have it."""
        return False

    async def find_match(self, kind: GameKind, player: Player, but: Collection[str] = ()) -> RoomAt:
        """Return the room, maybe a new one of this server, for a match with other players than `but`.

        Raises `StoreUnavailable` if no server can answer.
        """
        raise StoreUnavailable("there is no other server")

    def is_chosen(self, key: str) -> bool:
        """Return whether this server, of all running ones, is responsible for a key."""
        return True

    def tell_changed(self, table: str, key: str) -> None:
        """Notify the other servers of a changed value in a table."""

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Request the newest boards of these rooms from other servers, and wait briefly for them."""
