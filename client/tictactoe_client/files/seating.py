"""The seats that one run takes, written down as it goes, so that a later one can take up what a killed one left.

Which file that is and what stands in it is `seats`'. A seat is struck out when it is given up, and when the run ends,
unless the connection was lost for good: then it is still there to be had.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from tictactoe_client.files.seats import SavedSeat, Seats
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ConnectionLost
from tictactoe_client.online.room import Room

Enter = Callable[[Client], Awaitable[Room]]


class SeatKeeper:
    """Writes down the seats of one client; a watcher has none."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._rooms: set[str] = set()

    async def enter(self, enter: Enter) -> Room:
        """Enter a room and write the seat there down."""
        room = await enter(self._client)
        self.keep(room.code, room.seat)
        return room

    def keep_changed(self, room: str, before: str | None, seat: str | None) -> None:
        """Write down the seat that a rematch has brought to a room that was entered here, where it is another one."""
        if room in self._rooms and seat != before:
            self.keep(room, seat)

    def keep(self, room: str, seat: str | None) -> None:
        """Write a seat down; there is none for a watcher."""
        if seat is not None:
            self._rooms.add(room)
            client = self._client
            Seats().keep(*(SavedSeat(url, room, seat, client.name, client.token) for url in client.house.urls))

    def forget(self, room: str) -> None:
        """Strike out the seat in a room that was left."""
        if room in self._rooms:
            self._rooms.discard(room)
            Seats().forget(self._client.house.urls, self._client.token, room)

    def leave_behind(self) -> None:
        """Leave all seats written down for a later run."""
        self._rooms.clear()

    def forget_all(self) -> None:
        """Strike out all seats of this client."""
        for room in tuple(self._rooms):
            self.forget(room)


@contextmanager
def keeping_seats(client: Client) -> Iterator[SeatKeeper]:
    """Yield what writes the seats of this run down; at the end they are struck out, unless we were cut off."""
    keeper = SeatKeeper(client)
    try:
        yield keeper
    except ConnectionLost:
        raise
    except BaseException:
        keeper.forget_all()
        raise
    if not client.was_cut_off:
        keeper.forget_all()
