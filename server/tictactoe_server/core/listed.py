"""The view of a room that lists and indexes use, whether the room is on this server or on another server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Set
from typing import Any

from msgspec import UNSET

from tictactoe_engine import Position, Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import HeldSeat, LiveBoard, RoomState, RoomSummary
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.rooms import Refused, Room, state_of
from tictactoe_server.rooms.clock import clock_state
from tictactoe_server.rooms.view import rules_state, summary_of

GameKind = tuple[Rules, ClockFields | None, str]
"""The choices that must be equal for a match: rules, clock, and the name of the room's purpose."""


def kind_of(room: Room) -> GameKind:
    """Return the kind of game in a room."""
    return room.rules, room.clock, room.purpose.name


def live_board(position: Position, **about: Any) -> LiveBoard:
    """Return a position as a small board for the lobby; `about` contains the other fields of `LiveBoard`."""
    rules = position.rules
    about |= {"board": position.board, "ply": position.ply, "last": position.last}
    return LiveBoard(preset=rules.preset, rows=rules.rows, columns=rules.columns, **about)


class Listed(ABC):
    """A room that can be listed.

    Attributes:
        owner: Id of the player who opened the room, or "" if unknown or if limits ignore the room.
        source: The key of the owner's address in limits, or "".
        entering: Ids of players who are about to take a seat or have a reserved seat.
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
        """The ids of the players who have a seat or are about to take a seat."""
        return self.entering | {seat.player for seat in self.room.held_seats}

    @property
    def is_alive(self) -> bool:
        """Whether a player or, in a game between bots, a watcher is connected. True for every organised room."""
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
        """Return the player's seat, or None if the player has no seat or the game is over."""
        room = self.room
        mark, turn = room.mark_of(player), room.position.turn if room.status == "playing" else None
        if mark is None or room.status == "over":
            return None
        return HeldSeat(room.code, mark, rules_state(room.rules), room.names, turn if self.knows_moves else UNSET)


def moved(code: str, url: str) -> Refused:
    """Return the refusal of a request for a room on another server."""
    return Refused(ErrorCode.MOVED, url=url, room=code, at=url)
