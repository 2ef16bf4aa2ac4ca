"""The list of public rooms, who hears of its changes, and who is next in it.

Quick match reads the very list that people see; there is no second queue that could drift from it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from tictactoe_engine import Rules
from tictactoe_protocol import MAX_LISTED_ROOMS
from tictactoe_protocol.pushes import LobbyChange, RoomSummary
from tictactoe_protocol.requests import ClockFields
from tictactoe_server.connection import Connection, encode_frame
from tictactoe_server.live_room import LiveRoom
from tictactoe_server.rooms import summary_of

GameKind = tuple[Rules, ClockFields | None]
"""What must be equal for two people to be matched."""

GATHER_SECONDS: Final = 0.1
"""How long changes are gathered before subscribers hear of them."""


class Lobby:
    """Public rooms in the order of their opening, and those with a free seat by kind of game.

    `now` returns ms of served time; `subscribers` hear of every change.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self.subscribers: dict[Connection, None] = {}
        self._now = now
        self._public: dict[str, LiveRoom] = {}
        self._open: dict[GameKind, dict[str, LiveRoom]] = {}
        self._changed: dict[str, LiveRoom] = {}
        self._closed: dict[str, None] = {}
        self._due: asyncio.TimerHandle | None = None

    def list_rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first, as many as one list may have."""
        return self._summaries(islice(reversed(self._public.values()), MAX_LISTED_ROOMS))

    def open_rooms(self, kind: GameKind) -> Iterator[LiveRoom]:
        """Yield the rooms of one kind that have a free seat, oldest first, as they were at the call."""
        yield from list(self._open.get(kind, {}).values())

    def update(self, live: LiveRoom) -> None:
        """Take notice of a room that opened or whose seats changed."""
        room = live.room
        if room.visibility != "public":
            return
        self._public.setdefault(room.code, live)
        kind = (room.rules, room.clock)
        if room.status == "waiting":
            self._open.setdefault(kind, {})[room.code] = live
        else:
            self._forget_open(kind, room.code)
        self._changed[room.code] = live
        self._tell_later()

    def remove(self, live: LiveRoom) -> None:
        """Take a room that is gone off the list."""
        code = live.room.code
        self._forget_open((live.room.rules, live.room.clock), code)
        if self._public.pop(code, None) is not None:
            self._changed.pop(code, None)
            self._closed[code] = None
            self._tell_later()

    def put_in_order(self) -> None:
        """Order the rooms by their opening, after they came back in no order."""
        for rooms in (self._public, *self._open.values()):
            in_order = sorted(rooms.items(), key=lambda item: item[1].room.opened_at)
            rooms.clear()
            rooms.update(in_order)

    def _tell_later(self) -> None:
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._tell)

    def _tell(self) -> None:
        """Send what changed to all subscribers, encoded once."""
        self._due = None
        if self.subscribers:
            frame = encode_frame(LobbyChange(self._summaries(self._changed.values()), tuple(self._closed)))
            for connection in self.subscribers:
                connection.push_frame(frame)
        self._changed.clear()
        self._closed.clear()

    def _summaries(self, rooms: Iterable[LiveRoom]) -> tuple[RoomSummary, ...]:
        now = self._now()
        return tuple(summary_of(live.room, now, watchers=len(live.watchers)) for live in rooms)

    def _forget_open(self, kind: GameKind, code: str) -> None:
        rooms = self._open.get(kind)
        if rooms is None:
            return
        rooms.pop(code, None)
        if not rooms:
            del self._open[kind]
