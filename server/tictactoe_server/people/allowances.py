"""Rate limits and quotas of players and addresses. They outlive connections.

Each player behind a shared address has separate limits, which the other players there cannot use up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Final

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import SeatState
from tictactoe_server.rooms.room import Player, Refused, Room
from tictactoe_server.rooms.view import RoomListing
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.rate_limit import Quota, RateLimit, RateLimits, consume_both

CROWD_CHAT_MS: Final = 3_000  # the shortest time between two chat messages from a watcher in a crowd
RETRY_MS: Final = 60_000  # the time to wait before repeating a request that exceeded a quota
ROW_BYTES: Final = 550
MOVE_BYTES: Final = 4
"""Approximate sizes in SQLite of a finished game without moves (row, players and indexes) and of a move."""


class Limiting:
    """Raises `Refused` when a limit is exceeded, and counts these refusals.

    Args:
        limited: The number of refusals by the kind of limit.
    """

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited

    def refuse_for(self, wait_ms: int, kind: str, why: str = "") -> None:
        """Raise `Refused` unless `wait_ms` is 0.

        Args:
            kind: The kind of limit, which is counted.
            why: The reason for the player; by default `kind`.
        """
        if wait_ms:
            self._limited[kind] += 1
            raise Refused(ErrorCode.RATE_LIMITED, why or kind, retry_ms=wait_ms)

    def check_held(self, *quotas: tuple[Quota, str], retry_ms: int = RETRY_MS) -> None:
        """Raise `Refused` if a key already has as many things as its quota allows."""
        for held, key in quotas:
            if held.is_full(key):
                self.refuse_for(retry_ms, held.names[0])


class Allowances(Limiting):
    """Rate limits by player and by address. Except for methods that return a bool, every method may raise `Refused`."""

    def __init__(self, limits: Limits, limited: Counter[str], monotonic_ns: Callable[[], int]) -> None:
        super().__init__(limits, limited)
        named = partial(RateLimits.named, limits, monotonic_ns)
        self.messages = named("messages-per-second")
        self.creates_of_player = named("creates-per-minute-per-player")
        self.creates_of_address = named("creates-per-minute-per-address")
        self.misses_of_player = named("misses-per-minute-per-player")
        self.page_misses = named("misses-per-minute-per-address")
        self.misses_of_address = named("misses-per-minute-per-address")
        self.new_players = named("new-players-per-minute-per-address")
        self.kept_of_player = named("kept-megabytes-per-hour-per-player")
        self.kept_of_address = named("kept-megabytes-per-hour-per-address")
        self.offers = named("offers-per-ten-seconds-per-player")
        self.crowd_chat = RateLimits(1, CROWD_CHAT_MS, monotonic_ns)

    def consume(self, limit: RateLimit, kind: str, why: str = "") -> None:
        self.refuse_for(limit.consume(), kind, why)

    def count_create(self, player: Player, address: str) -> None:
        waits = consume_both(self.creates_of_player[player.id], self.creates_of_address[address])
        self.refuse_for(max(waits), "creates")

    def count_game(self, addresses: Mapping[str, str], moves: int) -> bool:
        """Count the size of a game that is about to be stored; see `count_kept`."""
        return self.count_kept(addresses, ROW_BYTES + MOVE_BYTES * moves)

    def count_kept(self, addresses: Mapping[str, str], size: int) -> bool:
        """Count stored bytes for all players who have not reached their limit; return False if all players have.

        An address is charged only once, even if several players share it.

        Args:
            addresses: The players' addresses by id; "" if unknown.
            size: The number of bytes.
        """
        is_kept, counted = False, {""}
        for player, address in addresses.items():
            own = self.kept_of_player[player]
            waits = (
                (own.consume(size),) if address in counted else consume_both(own, self.kept_of_address[address], size)
            )
            if not any(waits):
                is_kept = True
                counted.add(address)
        if not is_kept:
            self._limited["kept"] += 1
        return is_kept

    def count_offer(self, player: Player) -> None:
        """Count an offer to the opponents. A player and the player's guests share one limit."""
        self.consume(self.offers[owner_of(player.id)], "offers")

    def check_misses(self, player: Player, address: str) -> None:
        """Raise `Refused` if the player has tried too many room codes, whether or not the next code exists."""
        self.check_tries(self.misses_of_player[player.id], self.misses_of_address[address], "misses")

    def check_tries(self, own: RateLimit, shared: RateLimit, kind: str) -> None:
        """Raise `Refused` if too many tries have failed.

        Args:
            own: The player's limit.
            shared: The address's limit, which applies only to players with recent failed tries of their own.
        """
        self.refuse_for(own.wait() or (shared.wait() if own.used else 0), kind)

    def check_page_misses(self, address: str) -> None:
        """Raise `Refused` if an address has requested too many missing pages."""
        self.refuse_for(self.page_misses[key_of(address)].wait(), "misses")

    def count_miss(self, player: Player, address: str) -> None:
        """Count a request for a room that does not exist or that the player may not access."""
        self.count_try(self.misses_of_player[player.id], self.misses_of_address[address], "misses")

    def count_try(self, own: RateLimit, shared: RateLimit, kind: str) -> None:
        self.refuse_for(own.consume() or shared.consume(), kind)


class Seats(Limiting):
    """The seats of players, with quotas by player and by address on seats in unfinished games between people."""

    def __init__(self, limits: Limits, limited: Counter[str], source_of: Callable[[str], str] = str) -> None:
        super().__init__(limits, limited)
        self._source_of = source_of
        self.of_player = Quota(limits, "seats-per-player", _is_unfinished)
        self.of_address = Quota(limits, "seats-per-address", _is_unfinished)
        self.unbegun = Quota(limits, "unbegun-seats-per-address", _is_unbegun)
        self.day_games = Quota(limits, "day-games-per-player")  # unfinished games over days
        self._rooms = Quota()
        self._named = Quota()
        self._addresses: dict[tuple[str, str], str] = {}

    @property
    def players(self) -> Collection[str]:
        """The ids of all players who have a seat that they have not left."""
        return self._rooms.keys()

    def rooms_of(self, player: str) -> tuple[RoomListing, ...]:
        """Return a player's rooms, the oldest seat first."""
        return tuple(self._rooms.get(player, {}).values())

    def codes_naming(self, player: str) -> Collection[str]:
        """Return the codes of the rooms where a player or the player's guests have a seat, even if they left it."""
        return self._named.get(player, {}).keys()

    def has(self, player: str, code: str) -> bool:
        return code in self._rooms.get(player, ())

    def check(self, player: str, address: str) -> None:
        """Raise `Refused` if a player or an address has too many seats in unfinished games."""
        self.check_held((self.day_games, player), (self.of_player, player), (self.of_address, address))

    def check_unbegun(self, listed: RoomListing, address: str) -> None:
        """Raise `Refused` if an address has too many seats in other people's public games that have hardly begun."""
        if self._is_of_others(listed, address):
            seats, most = self.unbegun.get(address, {}), self.unbegun.most
            if 0 < most <= len(seats):  # with fewer entries, the quota cannot be reached
                for seat in [seat for seat, taken in seats.items() if not _is_unbegun(taken)]:
                    self.unbegun.discard(address, seat)
                self.refuse_for(RETRY_MS if len(seats) >= most else 0, self.unbegun.names[0])

    def _is_of_others(self, listed: RoomListing, address: str) -> bool:
        return listed.room.visibility == "public" and listed.source not in ("", self._source_of(address))

    def expect(self, player: str, listed: RoomListing, address: str) -> None:
        """Count a seat that is about to be taken, until it is stored in the room or `give_up` is called."""
        code = listed.room.code
        self._addresses[player, code] = address
        self._count(player, listed)
        if self._is_of_others(listed, address):
            self.unbegun.add(address, (player, code), (listed, listed.room.game))

    def give_up(self, player: str, code: str) -> None:
        """Stop counting an expected seat, unless the player has taken it."""
        if not self.has(player, code):
            address = self._addresses.pop((player, code), "")
            self.of_player.discard(player, code)
            self.of_address.discard(address, (player, code))
            self.unbegun.discard(address, (player, code))

    def update(self, listed: RoomListing, before: Room | None) -> None:
        """Adopt the seats of a new room, or of a room that has changed from `before`."""
        room = listed.room
        if before is not None and {*map(id, before.seats.values())} == {*map(id, room.seats.values())}:
            return  # the same seats, perhaps with other marks
        for seat in () if before is None else before.held_seats:
            self._named.discard(owner_of(seat.player), room.code)
        seated = dict[str, SeatState]()
        for seat in room.held_seats:
            owner = owner_of(seat.player)
            self._named.add(owner, room.code)
            if owner == seat.player and not seat.left:
                seated[owner] = seat
        for seat in () if before is None else before.held_seats:
            if seat.player not in seated:
                self._forget(seat.player, room.code)
        for player, seat in seated.items():
            self._rooms.add(player, room.code, listed)
            is_expected = self.of_player.get(player, {}).get(room.code) is listed  # it is counted already
            if not (is_expected or (listed.has_bots and seat.is_server_bot)):
                self._count(player, listed)

    def remove(self, room: Room) -> None:
        for seat in room.held_seats:
            self._forget(seat.player, room.code)
            self._named.discard(owner_of(seat.player), room.code)

    def _count(self, player: str, listed: RoomListing) -> None:
        code = listed.room.code
        self.of_player.add(player, code, listed)
        self.of_address.add(self._addresses.get((player, code), ""), (player, code), listed)

    def _forget(self, player: str, code: str) -> None:
        self._rooms.discard(player, code)
        self.give_up(player, code)


def _is_unfinished(listed: RoomListing) -> bool:
    room = listed.room
    return room.result is None and listed.places > 1 and not room.terms.is_organised


def _is_unbegun(taken: tuple[RoomListing, int]) -> bool:
    """Return True if a game, given by its room and number, is not over and a player in it has not moved yet."""
    listed, game = taken
    room = listed.room
    return not listed.is_gone and room.game == game and room.result is None and room.is_beginning
