"""A room as lists know it: one that is served here, or what is known of one that another server has.

What is asked about the other servers of a cluster is here, too: `Elsewhere`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Set
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import HeldSeat, LiveBoard, RoomState, RoomSummary
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms import Player, Refused, Room, state_of
from tictactoe_server.rooms.clock import clock_state
from tictactoe_server.rooms.view import rules_state, summary_of
from tictactoe_server.storage.store import StoreUnavailable
from tictactoe_server.watching.topics import Listeners

GameKind = tuple[Rules, ClockFields | None, bool]
"""What must be equal for two people to be matched: also whether their game is rated."""

RoomAt = tuple[str, str | None]
"""A room's code, and the URL of the server that has it, None for this one."""

_NOBODY: Final[Set[str]] = frozenset()  # one for all rooms: each of its own would be 216 bytes


def kind_of(room: Room) -> GameKind:
    """Return the kind of game for matching: rules, clock and whether it is rated."""
    return room.rules, room.clock, room.rated


def live_board(position: Position, **about: Any) -> LiveBoard:
    """Return a small board for the lobby, with the fields of `about`."""
    rules = position.rules
    about |= {"board": position.board, "ply": position.ply, "last": position.last}
    return LiveBoard(preset=rules.preset, rows=rules.rows, columns=rules.columns, **about)


class Listed(ABC):
    """`owner` is the player who opened it and `source` what limits know their address by, both empty where unknown,
    and for a room that counts for nobody.

    `entering` are the ids of those for whom a seat is being taken, or kept.
    """

    __slots__ = ("entering", "has_bots", "owner", "room", "source")

    knows_moves = True
    """Whether the moves of its `room` are known."""

    def __init__(self, room: Room, owner: str, source: str) -> None:
        self.room = room
        self.owner = owner if room.terms.is_counted else ""
        self.source = source if room.terms.is_counted else ""
        self.has_bots = room.has_bots
        self.entering = _NOBODY

    @property
    @abstractmethod
    def is_gone(self) -> bool:
        """Whether it is in no list any more."""

    @property
    @abstractmethod
    def is_opening(self) -> bool:
        """Whether somebody is about to open it."""

    @property
    @abstractmethod
    def has_somebody(self) -> bool:
        """Whether a player is connected."""

    @property
    @abstractmethod
    def watching(self) -> int:
        """How many watch."""

    @property
    def everybody(self) -> Set[str]:
        """The ids of all players with a seat or about to take one."""
        return self.entering | {seat.player for seat in self.room.held_seats}

    @property
    def is_alive(self) -> bool:
        """Whether a player, or a watcher of bots, is connected; always True for a kept room."""
        return self.has_somebody or self.room.terms.is_kept or (self.room.is_for_bots and self.watching > 0)

    @property
    def ply(self) -> int:
        return self.room.position.ply

    def state(self, now: int) -> RoomState:
        """Return the state for watchers; `now` is in ms of served time."""
        return state_of(self.room, now, watchers=self.watching)

    def summary(self, now: int) -> RoomSummary:
        """Return the row for the list of public rooms; `now` is in ms of served time."""
        return summary_of(self.room, now, watchers=self.watching, ply=self.ply)

    def board(self, now: int) -> LiveBoard:
        """Return a small board for the lobby; `now` is in ms of served time."""
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
    """By what players know a cluster, and where its servers are reached, this one first."""

    id: str
    urls: tuple[str, ...]


class Elsewhere:
    """What is known of the rooms of other servers: there are none for a server on its own.

    A cluster, which `is_several`, has its own kind. Listeners of `on_changed` hear of what another server has changed,
    by its table and key; some of it may never be heard.
    """

    is_several = False

    def __init__(self) -> None:
        self.on_changed = Listeners[[str, str]]()

    @property
    def cluster(self) -> ClusterIdentity | None:
        """The cluster, or None for a single server."""
        return None

    @property
    def urls(self) -> tuple[str, ...]:
        """The URLs of the other servers."""
        return () if self.cluster is None else self.cluster.urls[1:]

    @property
    def count(self) -> int:
        return 0

    def find(self, code: str) -> str | None:
        """Return the URL of the server that has a room, or None if it is not known to be elsewhere."""
        return None

    def suits(self, code: str) -> bool:
        """Return whether this server may give a new room this code."""
        return True

    async def ask_for(self, code: str, player: str, url: str) -> None:
        """Take a room over where a player in it reaches its server at this URL no more, and nobody else does either.

        Raises `Refused` where another server keeps it; one that does not answer has it as before.
        """
        raise Refused(ErrorCode.BAD_MESSAGE, "server", path="unreachable", at=url)

    def source_of(self, address: str) -> str:
        """Return the key under which all servers count an address."""
        return address

    async def take(self, room: Room, revision: int) -> bool:
        """Adopt a stored room unless it is another server's; return False if it can only be this server's."""
        return False

    async def find_match(self, kind: GameKind, player: Player, but: Collection[str] = ()) -> RoomAt:
        """Return the room for a player who asks for a match, without the players `but`.

        If this server is to open the room, it does not exist yet. Raises `StoreUnavailable` if no server can answer.
        """
        raise StoreUnavailable("there is no other server")

    def is_chosen(self, key: str) -> bool:
        """Return whether this server, of all running ones, is responsible for a key."""
        return True

    def tell_changed(self, table: str, key: str) -> None:
        """Tell the others that something was changed here that is kept in a table."""

    async def look_at(self, rooms: Iterable[Listed]) -> None:
        """Have the newest boards of these rooms, as far as others tell them soon."""


def moved(code: str, url: str) -> Refused:
    """Return the refusal for a room at another server."""
    return Refused(ErrorCode.MOVED, url=url, room=code, at=url)
