"""What players and addresses have: rooms that they opened and seats of unfinished games, within limits for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable
from typing import Final

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.listed import Listed
from tictactoe_server.core.rooms import Refused, Room
from tictactoe_server.settings import Limits

RETRY_MS: Final = 60_000


class Holdings:
    """Things by the players and by the addresses that have them. `limited` counts what was too much."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited
        self._held: defaultdict[str, set[Hashable]] = defaultdict(set)

    def most_of_one(self, kind: str) -> int:
        """Return how many the ``player``, or the ``address``, has that has most."""
        return max((len(held) for key, held in self._held.items() if key.startswith(f"{kind} ")), default=0)

    def _count(self, keys: Iterable[str], thing: Hashable) -> None:
        for key in keys:
            self._held[key].add(thing)

    def _uncount(self, keys: Iterable[str], thing: Hashable) -> None:
        for key in keys:
            held = self._held.get(key, set())
            held.discard(thing)
            if not held:
                self._held.pop(key, None)

    def _check(self, name: str, count: int, limit: int, words: str) -> None:
        """Raise `Refused` where the limit of that name, 0 for none, lets nobody have one more."""
        if 0 < limit <= count:
            self._limited[name] += 1
            raise Refused(ErrorCode.RATE_LIMITED, f"{words} Leave one first.", retry_ms=RETRY_MS)


class OpenedRooms(Holdings):
    """The rooms by the players, and by the addresses, that opened them."""

    def check(self, live: Listed) -> None:
        """Raise `Refused` where a room is one too many for whoever opens it."""
        limits, own = self._limits, self._held.get(f"player {live.owner}", ())
        games, there = _bot_games(own) if live.has_bots else 0, len(self._held.get(f"address {live.source}", ()))
        words = "You have opened as many rooms as you may."
        self._check("rooms-per-player", len(own), limits.rooms_per_player, words)
        self._check("bot-games-per-player", games, limits.bot_games_per_player, "You let as many bots play as you may.")
        words = "As many rooms as may be were opened from your address."
        self._check("rooms-per-address", there, limits.rooms_per_address, words)

    def add(self, live: Listed) -> None:
        """Count a room for whoever opened it."""
        self._count(_keys_of(live.owner, live.source), live)

    def remove(self, live: Listed) -> None:
        self._uncount(_keys_of(live.owner, live.source), live)

    @property
    def most_bot_games(self) -> int:
        """How many games with bots that are not over the player has opened that has opened most."""
        return max((_bot_games(rooms) for key, rooms in self._held.items() if key.startswith("player ")), default=0)


class Seats(Holdings):
    """Which player has a seat in which rooms: for greetings, and so that nobody holds more seats than may be.

    Of unfinished games in which more than one person has a place, seats are counted for the player and for the address
    from which they were taken, as soon as somebody is about to take them.
    """

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        super().__init__(limits, limited)
        self._rooms: dict[str, dict[str, Listed]] = {}
        self._addresses: dict[tuple[str, str], str] = {}

    @property
    def players(self) -> Collection[str]:
        """The ids of all who have a seat that they did not leave."""
        return self._rooms.keys()

    def rooms_of(self, player: str) -> tuple[Listed, ...]:
        """Return a player's rooms, the oldest seat first."""
        return tuple(self._rooms.get(player, {}).values())

    def has(self, player: str, code: str) -> bool:
        """Tell whether a player has a seat in a room."""
        return code in self._rooms.get(player, ())

    def check(self, player: str, address: str) -> None:
        """Raise `Refused` for one who may take no more seats of unfinished games."""
        limits, words = self._limits, "as many unfinished games as may be."
        held, there = (len(self._held.get(key, ())) for key in (f"player {player}", f"address {address}"))
        self._check("seats-per-player", held, limits.seats_per_player, f"You sit in {words}")
        self._check("seats-per-address", there, limits.seats_per_address, f"From your address people sit in {words}")

    def is_full(self, player: str) -> bool:
        """Tell whether a player sits in as many unfinished games as may be."""
        return 0 < self._limits.seats_per_player <= len(self._held.get(f"player {player}", ()))

    def expect(self, player: str, code: str, address: str) -> None:
        """Count a seat that is about to be taken from there, until the room is stored with it or `give_up`."""
        self._addresses[player, code] = address
        self._count(self._keys(player, code), (player, code))

    def give_up(self, player: str, code: str) -> None:
        """Count a seat no more that was not taken."""
        if not self.has(player, code):
            self._uncount(self._keys(player, code), (player, code))
            self._addresses.pop((player, code), None)

    def update(self, listed: Listed, before: Room | None) -> None:
        """Know the seats of a room that opened, or changed from `before`."""
        room = listed.room
        code, is_counted = room.code, room.result is None and room.is_for_several
        seated = {seat.player: seat.bot for seat in room.seats.values() if seat is not None and not seat.left}
        for seat in () if before is None else before.seats.values():
            if seat is not None and seat.player not in seated:
                self._forget(seat.player, code)
        for player, bot in seated.items():
            self._rooms.setdefault(player, {})[code] = listed
            if is_counted and not bot:
                self._count(self._keys(player, code), (player, code))
            else:
                self._uncount(self._keys(player, code), (player, code))

    def remove(self, room: Room) -> None:
        """Forget a room's seats."""
        for seat in room.seats.values():
            if seat is not None:
                self._forget(seat.player, room.code)

    def _forget(self, player: str, code: str) -> None:
        rooms = self._rooms.get(player, {})
        rooms.pop(code, None)
        if not rooms:
            self._rooms.pop(player, None)
        self.give_up(player, code)

    def _keys(self, player: str, code: str) -> list[str]:
        address = self._addresses.get((player, code))
        return [f"player {player}"] if address is None else [f"player {player}", f"address {address}"]


def _bot_games(rooms: Iterable[Hashable]) -> int:
    return sum(isinstance(live, Listed) and live.has_bots and live.room.result is None for live in rooms)


def _keys_of(player: str, address: str) -> list[str]:
    return [f"{kind} {name}" for kind, name in (("player", player), ("address", address)) if name]
