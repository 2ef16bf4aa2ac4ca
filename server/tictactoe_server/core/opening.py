"""Rooms that are about to be opened: within the limits, and under codes that nobody has."""

from __future__ import annotations

import secrets
from collections import Counter
from typing import Final

from msgspec.structs import replace

from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, ErrorCode
from tictactoe_server.core.lists import Lists
from tictactoe_server.core.live_room import LiveRoom, RoomChange
from tictactoe_server.listings.listed import Elsewhere
from tictactoe_server.records.changes import Phase
from tictactoe_server.rooms import Refused, Room
from tictactoe_server.settings import Limits
from tictactoe_server.watching.watchers import Watchers

_RETRY_MS: Final = 60_000


class RoomExists(Refused):
    """A room was not opened, as there may be one under its code: `Registry.find` returns it, if it is stored."""

    def __init__(self, code: str) -> None:
        super().__init__(ErrorCode.BUSY, "room", room=code)


class Opening:
    """`rooms` are those about to be opened, by their codes, and `served` those that are here."""

    def __init__(self, lists: Lists, elsewhere: Elsewhere, limits: Limits, limited: Counter[str]) -> None:
        self.lists = lists
        self.elsewhere = elsewhere
        self._limits = limits
        self._limited = limited
        self.rooms: dict[str, LiveRoom] = {}
        self.served: dict[str, LiveRoom] = {}

    @property
    def count(self) -> int:
        """How many rooms count for the limit: those of all servers, and those that are being opened."""
        return len(self.served) + len(self.rooms) + self.elsewhere.count

    def new_code(self) -> str:
        """Return a code that no room has; where it names one that nobody could read, storing it conflicts."""
        while True:
            code = "".join(secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH))
            if not self._is_taken(code) and self.elsewhere.suits(code):
                return code

    def expect(self, live: LiveRoom) -> None:
        """Know a room that is about to be opened; raises `Refused` where there are too many."""
        limits, code = self._limits, live.room.code
        if live.room.terms.is_kept and self._is_taken(code):
            raise RoomExists(code)
        if limits.rooms and self.count >= limits.rooms and live.room.terms.is_counted:
            self._limited["rooms"] += 1
            raise Refused(ErrorCode.SERVER_FULL, retry_ms=_RETRY_MS)
        self.lists.owners.check(live)
        self.rooms[code] = live
        self.lists.owners.add(live)
        if live.room.is_for_several and live.room.mark_of(live.owner) is not None:
            self.lists.seats.expect(live.owner, live, live.origin)

    def with_free_code(self, opening: RoomChange) -> Room:
        """Return a room that is opened: under another code where somebody was found to have that one.

        One that is kept is opened under its own code alone: raises `RoomExists`.
        """
        live = opening.live
        if opening.attempts:
            if live.room.terms.is_kept:
                raise RoomExists(live.room.code)
            self._expect_no_more(live)
            live.room = replace(live.room, code=self.new_code())
            live.key = live.room.code
            live.watchers = Watchers(live.key)
            self.expect(live)
        return live.room

    def give_up(self, live: LiveRoom) -> None:
        """Know a room no more that could not be opened."""
        self._expect_no_more(live)
        live.enter(Phase.GONE)

    def _expect_no_more(self, live: LiveRoom) -> None:
        self.rooms.pop(live.room.code, None)
        self.lists.owners.remove(live)
        self.lists.seats.give_up(live.owner, live.room.code)

    def _is_taken(self, code: str) -> bool:
        return code in self.served or code in self.rooms or self.elsewhere.find(code) is not None
