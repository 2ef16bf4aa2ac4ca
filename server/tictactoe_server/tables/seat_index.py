"""Which player has a seat in which rooms, so that a greeting need not look through all of them."""

from __future__ import annotations

from collections.abc import Collection

from tictactoe_server.rooms import Room


class SeatIndex:
    """Maps players to the codes of the rooms in which they have a seat that they did not leave."""

    def __init__(self) -> None:
        self._rooms: dict[str, dict[str, None]] = {}

    @property
    def players(self) -> Collection[str]:
        """The ids of all who have such a seat."""
        return self._rooms.keys()

    def rooms_of(self, player: str) -> tuple[str, ...]:
        """Return the codes of a player's rooms, the oldest seat first."""
        return tuple(self._rooms.get(player, ()))

    def update(self, room: Room, before: Room | None) -> None:
        """Take note of a room that opened, or changed from `before`."""
        if before is not None:
            self.remove(before)
        for seat in room.seats.values():
            if seat is not None and not seat.left:
                self._rooms.setdefault(seat.player, {})[room.code] = None

    def remove(self, room: Room) -> None:
        """Forget a room's seats."""
        for seat in room.seats.values():
            if seat is None or seat.player not in self._rooms:
                continue
            self._rooms[seat.player].pop(room.code, None)
            if not self._rooms[seat.player]:
                del self._rooms[seat.player]
