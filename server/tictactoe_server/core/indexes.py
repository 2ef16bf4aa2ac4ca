"""The indexes of the rooms on all servers: codes, counts, owners, seats, waiting rooms and the lobby.

All indexes except the lobby are updated before the next request is handled. A room that is being opened already counts
towards the limits and reserves its code.
"""

from __future__ import annotations

import secrets
from collections import Counter

from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, ErrorCode
from tictactoe_protocol.pushes import ROOM_STATUSES, HeldSeat
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.lobby import Lobby
from tictactoe_server.core.matchmaking import Matchmaker
from tictactoe_server.core.quotas import OpenedRooms, Seats
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.people.allowances import RETRY_MS
from tictactoe_server.rooms.room import Refused, Room
from tictactoe_server.rooms.view import Listed
from tictactoe_server.settings import Limits


class RoomExists(Refused):
    """A room was not opened because its code may be taken. `Rooms.find` returns the other room if it is stored."""

    def __init__(self, code: str) -> None:
        super().__init__(ErrorCode.BUSY, "room", room=code)


class Indexes:
    """The indexes of all rooms.

    Attributes:
        opening: This server's rooms that are not stored yet, by code.
        served: This server's stored rooms, by code.
    """

    def __init__(self, limits: Limits, limited: Counter[str], lobby: Lobby, elsewhere: RemoteServers) -> None:
        self.elsewhere = elsewhere
        self.opening: dict[str, LiveRoom] = {}
        self.served: dict[str, LiveRoom] = {}
        self.by_status = dict.fromkeys(ROOM_STATUSES, 0)
        self.owners = OpenedRooms(limits, limited)
        self.seats = Seats(limits, limited, elsewhere.source_of)
        self.matchmaker = Matchmaker(self.seats.of_player.is_full)
        self.lobby = lobby
        self._limits = limits
        self._limited = limited

    @property
    def count(self) -> int:
        """The number of rooms on all servers, including rooms that are being opened."""
        return len(self.served) + len(self.opening) + self.elsewhere.count

    def update(self, listed: Listed, before: Room | None) -> None:
        """Add a new room, or update a room whose value was `before`."""
        status, was = listed.room.status, None if before is None else before.status
        if was is None:
            self.owners.add(listed)
        else:
            self.by_status[was] -= 1
        self.by_status[status] += 1
        self.seats.update(listed, before)
        self.lobby.update(listed)
        if status == "waiting":
            self.matchmaker.offer(listed)

    def remove(self, listed: Listed) -> None:
        self.by_status[listed.room.status] -= 1
        self.owners.remove(listed)
        self.seats.remove(listed.room)
        self.lobby.update(listed)

    def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        return tuple(filter(None, (listed.held_seat(player) for listed in self.seats.rooms_of(player))))

    def holds_left(self, player: str, now: int) -> dict[str, int]:
        """Return how many ms each seat of a disconnected player is still held, by room code."""
        rooms = {listed.room.code: listed.room for listed in self.seats.rooms_of(player)}
        left = {seat.room: rooms[seat.room].hold_left(seat.seat, now) for seat in self.held_seats(player)}
        return {code: ms for code, ms in left.items() if ms is not None}

    # -- rooms that are being opened ----------------------------------------------------------------------------

    def new_code(self) -> str:
        while True:
            code = "".join([secrets.choice(ROOM_CODE_ALPHABET) for _ in range(ROOM_CODE_LENGTH)])
            if not self._is_taken(code) and self.elsewhere.suits(code):
                return code

    def expect(self, live: LiveRoom) -> None:
        """Add a room that is about to be opened. Raise `Refused` at a limit or if an organised room's code is taken."""
        limits, code = self._limits, live.room.code
        if live.room.terms.is_organised and self._is_taken(code):
            raise RoomExists(code)
        if limits.rooms and self.count >= limits.rooms and not live.room.terms.is_organised:
            self._limited["rooms"] += 1
            raise Refused(ErrorCode.SERVER_FULL, retry_ms=RETRY_MS)
        self.owners.check(live)
        self.opening[code] = live
        self.owners.add(live)
        if live.room.is_for_several and live.room.mark_of(live.owner) is not None:
            self.seats.expect(live.owner, live, live.origin)

    def stop_expecting(self, live: Listed) -> None:
        self.opening.pop(live.room.code, None)
        self.owners.remove(live)
        self.seats.give_up(live.owner, live.room.code)

    def _is_taken(self, code: str) -> bool:
        return code in self.served or code in self.opening or self.elsewhere.find(code) is not None
