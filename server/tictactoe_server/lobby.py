"""The list of public rooms, and who is next in it: quick match reads the very list that people see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tictactoe_engine import Rules
from tictactoe_protocol.requests import ClockFields

if TYPE_CHECKING:
    from tictactoe_server.hub import LiveRoom

GameKind = tuple[Rules, ClockFields | None]
"""What must be equal for two people to be matched."""


class Lobby:
    """Public rooms in the order of their opening, and those with a free seat by kind of game."""

    def __init__(self) -> None:
        self._public: dict[str, LiveRoom] = {}
        self._open: dict[GameKind, dict[str, LiveRoom]] = {}

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

    def remove(self, live: LiveRoom) -> None:
        """Take a room that is gone off the list."""
        self._public.pop(live.room.code, None)
        self._forget_open((live.room.rules, live.room.clock), live.room.code)

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
