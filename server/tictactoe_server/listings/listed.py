"""Rooms as lists know them, on this or another server, and `Elsewhere`, the interface to the other servers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Set
from typing import Any, NamedTuple

from msgspec import UNSET

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import HeldSeat, LiveBoard, RoomState, RoomSummary
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.listeners import Listeners
from tictactoe_server.rooms import Player, Refused, Room, state_of
from tictactoe_server.rooms.clock import clock_state
from tictactoe_server.rooms.view import rules_state, summary_of
from tictactoe_server.storage.store import StoreUnavailable

GameKind = tuple[Rules, ClockFields | None, str]
"""What matched players agree on: rules, clock, and the name of the room's purpose."""

RoomAt = tuple[str, str | None]
"""A room's code, and the URL of its server, None for this one."""


def kind_of(room: Room) -> GameKind:
    """Return the kind of game for matching."""
    return room.rules, room.clock, room.purpose.name


def live_board(position: Position, **about: Any) -> LiveBoard:
    """Return a small board for the lobby, with the fields of `about`."""
    rules = position.rules
    about |= {"board": position.board, "ply": position.ply, "last": position.last}
    return LiveBoard(preset=rules.preset, rows=rules.rows, columns=rules.columns, **about)


class Listed(ABC):
    """A room in lists.

    Attributes:
        owner: The player who opened the room, "" if unknown or not counted against limits.
        source: The key of that player's address in limits, or "".
        entering: Ids of players whose seat is being taken, or reserved.
        is_gone: Whether the room has been removed from all lists.
        is_opening: Whether the room is not stored yet.
        has_somebody: Whether a player is connected.
    """

    __slots__ = ("entering", "has_bots", "owner", "room", "source")

    knows_moves = True

    def __init__(self, room: Room, owner: str, source: str) -> None:
        self.room = room
        self.owner = "" if room.terms.is_organised else owner
        self.source = "" if room.terms.is_organised else source
        self.has_bots = room.has_bots
        self.entering: Set[str] = frozenset()

    @property
    @abstractmethod
    def is_gone(self) -> bool: ...

    @property
    @abstractmethod
    def is_opening(self) -> bool: ...

    @property
    @abstractmethod
    def has_somebody(self) -> bool: ...

    @property
    @abstractmethod
    def watching(self) -> int: ...

    @property
    def everybody(self) -> Set[str]:
        """The ids of the players with a seat, or about to take a seat."""
        return self.entering | {seat.player for seat in self.room.held_seats}

    @property
    def is_alive(self) -> bool:
        """Whether a player, or a watcher of bots, is connected; always True for an organised room."""
        return self.has_somebody or self.room.terms.is_organised or (self.room.is_for_bots and self.watching > 0)

    @property
    def ply(self) -> int:
        return self.room.position.ply

    def state(self, now: int) -> RoomState:
        return state_of(self.room, now, watchers=self.watching)

    def summary(self, now: int) -> RoomSummary:
        return summary_of(self.room, now, watchers=self.watching, ply=self.ply)

    def board(self, now: int) -> LiveBoard:
        room, position = self.room, self.room.position
        return live_board(
            position,
            room=room.code,
            game=room.game,
            turn=position.turn if room.status == "playing" else None,
            names=room.names,
            result=UNSET if room.result is None else room.result,
            clock=clock_state(room, now) or UNSET,
        )

    def held_seat(self, player: str) -> HeldSeat | None:
        """Return a player's seat while the game is not over, else None."""
        room = self.room
        mark, turn = room.mark_of(player), room.position.turn if room.status == "playing" else None
        if mark is None or room.status == "over":
            return None
        return HeldSeat(room.code, mark, rules_state(room.rules), room.names, turn if self.knows_moves else UNSET)


class ClusterIdentity(NamedTuple):
    """The id of a cluster, and the URLs of its servers, this server first."""

    id: str
    urls: tuple[str, ...]


class Elsewhere:
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


def moved(code: str, url: str) -> Refused:
    """Return the refusal for a room at another server."""
    return Refused(ErrorCode.MOVED, url=url, room=code, at=url)
