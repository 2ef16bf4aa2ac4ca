"""The interface to the other servers in a cluster and to their rooms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.view import GameKind, RoomListing
from tictactoe_server.scheduler import Listeners
from tictactoe_server.storage.store import StoreUnavailable

RoomAt = tuple[str, str | None]
"""A room's code, and the URL of the room's server, or None for this server."""


class ClusterStatus(NamedTuple):
    """The state of a cluster as seen by this server; the defaults are for a single server.

    Attributes:
        urls: The URLs of the servers, this server first.
        names: The names of the running servers by id, this server first.
        has_joined: Whether this server has joined and may serve players.
        faulty_nodes: Nodes of the store that have wrong copies or do not respond.
        lost_writes: How many acknowledged writes the store has lost, by stream.
    """

    id: str = ""
    urls: tuple[str, ...] = ()
    names: Mapping[str, str] = {"": ""}
    has_joined: bool = True
    faulty_nodes: Collection[str] = ()
    lost_writes: Mapping[str, int] = {}


class RemoteServers:
    """The other servers and their rooms. This base class is for a single server; a cluster overrides its methods.

    Attributes:
        is_several: Whether there may be other servers.
        time: The served time of all servers, or None for a single server, which has its own.
        on_changed: By table, listeners that are called with the key of a value that another server has changed. Calls
            may be missing.
    """

    is_several = False
    time: ServedTime | None = None

    def __init__(self) -> None:
        self.on_changed = defaultdict[str, Listeners[[str]]](Listeners)

    @property
    def cluster_status(self) -> ClusterStatus:
        return ClusterStatus()

    @property
    def count(self) -> int:
        return 0

    def find(self, code: str) -> str | None:
        """Return the URL of the other server that owns a room, or None if no other server is known to own it."""
        return None

    def server_of(self, code: str) -> str:
        """Return the id of the other server that owns a room, or this server's id if no owner is known."""
        return ""

    async def ask_order(self, id: str, order: bytes) -> bytes:
        """Return another server's reply to an operator's order. May raise `StoreUnavailable`."""
        raise StoreUnavailable("there is no other server")

    def start(self, core: Any) -> Iterable[Any]:
        """Return the services (`Service`) of this connection, once the core of the server has been made."""
        return ()

    async def run(self) -> None:
        """Stay in contact with the other servers, and take over rooms without a server, until cancelled."""

    async def leave(self) -> bool:
        """Leave, and wait for the other servers to take over all rooms. Return False if there is no other server."""
        return False

    def suits(self, code: str) -> bool:
        """Return True if this server may use `code` for a new room."""
        return True

    async def ask_for(self, code: str, player: str, url: str) -> None:
        """Take over a room if its players cannot reach its server at `url`. Raise `Refused` if it keeps the room."""
        raise Refused(ErrorCode.BAD_MESSAGE, "server", path="unreachable", at=url)

    def source_of(self, address: str) -> str:
        return address

    async def adopt(self, room: Room, revision: int) -> bool:
        """Adopt a stored room unless another server owns it. Return False, without adopting it, on a single server."""
        return False

    async def find_match(self, kind: GameKind, player: Player, excluded: Collection[str] = ()) -> RoomAt:
        """Return a room for a match with players who are not in `excluded`. The room may be a new room on this server.

        Raise `StoreUnavailable` if no server responds.
        """
        raise StoreUnavailable("there is no other server")

    def is_chosen(self, key: str) -> bool:
        """Return True if this server is the running server that is responsible for a key."""
        return True

    def broadcast_change(self, table: str, key: str) -> None:
        """Notify the other servers that a value in a table has changed."""

    def notify(self, table: str, key: str) -> None:
        """Notify the listeners of this server and of the other servers that a value in a table has changed."""
        self.on_changed[table](key)
        self.broadcast_change(table, key)

    async def look_at(self, rooms: Iterable[RoomListing]) -> None:
        """Request the newest boards of these rooms from other servers, and wait briefly for them."""
