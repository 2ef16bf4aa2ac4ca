"""The lists of all rooms, here and at other servers: how many there are, who opened them, who sits where and who waits.

They are true before the next request is handled; see `Lobby` for what is only told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from tictactoe_protocol.pushes import ROOM_STATUSES, HeldSeat
from tictactoe_server.listings.listed import Listed
from tictactoe_server.listings.lobby import Lobby
from tictactoe_server.listings.matchmaking import Matchmaker
from tictactoe_server.people.limits import OpenedRooms, Seats
from tictactoe_server.rooms import Room
from tictactoe_server.settings import Limits


class Lists:
    """`by_status` counts the rooms of each status. `source_of` returns what limits know an address by."""

    def __init__(self, limits: Limits, limited: Counter[str], lobby: Lobby, source_of: Callable[[str], str]) -> None:
        self.by_status = dict.fromkeys(ROOM_STATUSES, 0)
        self.owners = OpenedRooms(limits, limited)
        self.seats = Seats(limits, limited, source_of)
        self.matchmaker = Matchmaker(self.seats.of_player.is_full)
        self.lobby = lobby

    def update(self, listed: Listed, before: Room | None) -> None:
        """Have a room in the lists that is new, or was `before`."""
        status, was = listed.room.status, None if before is None else before.status
        if was is None:
            self.owners.add(listed)
        if status != was:
            self.by_status[status] += 1
            if was is not None:
                self.by_status[was] -= 1
        self.seats.update(listed, before)
        self.lobby.update(listed)
        if status == "waiting":
            self.matchmaker.offer(listed)

    def remove(self, listed: Listed) -> None:
        """Have it in the lists no more."""
        self.by_status[listed.room.status] -= 1
        self.owners.remove(listed)
        self.seats.remove(listed.room)
        self.lobby.update(listed)

    def held_seats(self, player: str) -> tuple[HeldSeat, ...]:
        """Return the seats that a player holds in unfinished rooms."""
        held = (listed.held_seat(player) for listed in self.seats.rooms_of(player))
        return tuple(seat for seat in held if seat is not None)

    def holds_left(self, player: str, now: int) -> dict[str, int]:
        """Return for how many ms each seat of a player is still held, by room; only those the player is away from."""
        held = [(listed.room, listed.held_seat(player)) for listed in self.seats.rooms_of(player)]
        left = {room.code: room.hold_left(seat.seat, now) for room, seat in held if seat is not None}
        return {code: ms for code, ms in left.items() if ms is not None}
