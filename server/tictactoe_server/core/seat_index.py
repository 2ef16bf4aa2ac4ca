"""Which player has a seat in which rooms: for greetings, and so that nobody holds more seats than may be."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Final

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import Listed
from tictactoe_server.rooms import Refused, Room
from tictactoe_server.settings import Limits

RETRY_MS: Final = 60_000


class SeatIndex:
    """Maps players to the rooms in which they have a seat that they did not leave.

    Of unfinished games in which more than one person has a place, seats are counted for the player and for the address
    from which they were taken, as soon as somebody is about to take them. `limited` counts what was too much.
    """

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited
        self._rooms: dict[str, dict[str, Listed]] = {}
        self._addresses: dict[tuple[str, str], str] = {}
        self._unfinished: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)

    @property
    def players(self) -> Collection[str]:
        """The ids of all who have such a seat."""
        return self._rooms.keys()

    def rooms_of(self, player: str) -> tuple[Listed, ...]:
        """Return a player's rooms, the oldest seat first."""
        return tuple(self._rooms.get(player, {}).values())

    def has(self, player: str, code: str) -> bool:
        """Tell whether a player has a seat in a room."""
        return code in self._rooms.get(player, ())

    def check(self, player: str, address: str) -> None:
        """Raise `Refused` for one who may take no more seats of unfinished games."""
        limits = self._limits
        for name, key, limit, words in (
            ("seats-per-player", _player(player), limits.seats_per_player, "You sit in"),
            ("seats-per-address", _address(address), limits.seats_per_address, "From your address people sit in"),
        ):
            if 0 < limit <= len(self._unfinished.get(key, ())):
                self._limited[name] += 1
                words = f"{words} as many unfinished games as may be. Leave one first."
                raise Refused(ErrorCode.RATE_LIMITED, words, retry_ms=RETRY_MS)

    def is_full(self, player: str) -> bool:
        """Tell whether a player sits in as many unfinished games as may be."""
        return 0 < self._limits.seats_per_player <= len(self._unfinished.get(_player(player), ()))

    def expect(self, player: str, code: str, address: str) -> None:
        """Count a seat that is about to be taken from there, until the room is stored with it or `give_up`."""
        self._addresses[player, code] = address
        self._count(player, code)

    def give_up(self, player: str, code: str) -> None:
        """Count a seat no more that was not taken."""
        if code not in self._rooms.get(player, ()):
            self._uncount(player, code)
            self._addresses.pop((player, code), None)

    def update(self, listed: Listed, before: Room | None) -> None:
        """Take note of a room that opened, or changed from `before`."""
        room = listed.room
        had = () if before is None else [seat.player for seat in before.seats.values() if seat is not None]
        for player in had:
            self._forget(player, room.code)
        is_counted = room.result is None and room.is_for_several
        for seat in room.seats.values():
            if seat is not None and not seat.left:
                self._rooms.setdefault(seat.player, {})[room.code] = listed
                if is_counted and not seat.bot:
                    self._count(seat.player, room.code)
        for player in had:
            self.give_up(player, room.code)

    def remove(self, room: Room) -> None:
        """Forget a room's seats."""
        for seat in room.seats.values():
            if seat is not None:
                self._forget(seat.player, room.code)
                self.give_up(seat.player, room.code)

    def most_of_one(self, kind: str) -> int:
        """Return how many seats the player, or the address, holds of unfinished games that holds most."""
        return max((len(seats) for key, seats in self._unfinished.items() if key.startswith(f"{kind} ")), default=0)

    def _forget(self, player: str, code: str) -> None:
        self._uncount(player, code)
        rooms = self._rooms.get(player)
        if rooms is not None:
            rooms.pop(code, None)
            if not rooms:
                del self._rooms[player]

    def _keys_of(self, player: str, code: str) -> list[str]:
        address = self._addresses.get((player, code))
        return [_player(player)] if address is None else [_player(player), _address(address)]

    def _count(self, player: str, code: str) -> None:
        for key in self._keys_of(player, code):
            self._unfinished[key].add((player, code))

    def _uncount(self, player: str, code: str) -> None:
        for key in self._keys_of(player, code):
            seats = self._unfinished.get(key, set())
            seats.discard((player, code))
            if not seats:
                self._unfinished.pop(key, None)


def _player(id: str) -> str:
    return f"player {id}"


def _address(address: str) -> str:
    return f"address {address}"
