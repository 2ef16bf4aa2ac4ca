"""The list of public rooms, and who is next in it: quick match reads the very list that people see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tictactoe_engine import Rules
from tictactoe_protocol.requests import ClockFields

if TYPE_CHECKING:
    from tictactoe_server.connection import Connection
    from tictactoe_server.hub import LiveRoom

GameKind = tuple[Rules, ClockFields | None]
"""What must be equal for two people to be matched."""


class Lobby:
    """Public rooms in the order of their opening, and those with a free seat by kind of game."""

    def __init__(self, changed: Callable[[], None]) -> None:
        """`changed` is called when subscribers have something to learn; see `take_changes`."""
        self.subscribers: dict[Connection, None] = {}
        self._public: dict[str, LiveRoom] = {}
        self._open: dict[GameKind, dict[str, LiveRoom]] = {}
        self._changed: dict[str, LiveRoom] = {}
        self._closed: dict[str, None] = {}
        self._on_change = changed

    def update(self, live: LiveRoom) -> None:
        """Take notice of a room that opened or whose seats changed."""
        room = live.room
        if room.visibility != "public":
            return
        self._public.setdefault(room.code, live)
        self._changed[room.code] = live
        self._on_change()
        kind = (room.rules, room.clock)
        if room.status == "waiting":
            self._open.setdefault(kind, {})[room.code] = live
        else:
            self._forget_open(kind, room.code)

    def remove(self, live: LiveRoom) -> None:
        """Take a room that is gone off the list."""
        code = live.room.code
        self._forget_open((live.room.rules, live.room.clock), code)
        if self._public.pop(code, None) is not None:
            self._changed.pop(code, None)
            self._closed[code] = None
            self._on_change()

    def take_changes(self) -> tuple[list[LiveRoom], tuple[str, ...]]:
        """Return the rooms that changed and the codes of those that closed since the last call."""
        changed, closed = list(self._changed.values()), tuple(self._closed)
        self._changed.clear()
        self._closed.clear()
        return changed, closed

    def newest(self, limit: int) -> list[LiveRoom]:
        """Return the public rooms, newest first, at most `limit`."""
        rows = reversed(self._public.values())
        return [live for live, _ in zip(rows, range(limit), strict=False)]

    def open_rooms(self, kind: GameKind) -> Iterator[LiveRoom]:
        """Yield the rooms of one kind that have a free seat, oldest first, as they were at the call."""
        yield from list(self._open.get(kind, {}).values())

    def _forget_open(self, kind: GameKind, code: str) -> None:
        rooms = self._open.get(kind)
        if rooms is None:
            return
        rooms.pop(code, None)
        if not rooms:
            del self._open[kind]
