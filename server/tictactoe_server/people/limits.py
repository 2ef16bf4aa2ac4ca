"""Rate limits and quotas of players and addresses. They outlive connections.

Each player behind a shared address has own limits, which the other players there cannot use up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Final

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.guests import is_guest, owner_of
from tictactoe_server.listings.listed import Listed
from tictactoe_server.rooms import Player, Refused, Room
from tictactoe_server.sessions.session import Session
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.rate_limit import Held, RateLimit, RateLimits, take_both

CROWD_CHAT_MS: Final = 3_000  # shortest time between two lines of a watcher in a crowd
RETRY_MS: Final = 60_000  # until a request that exceeds a quota may be repeated
ROW_BYTES: Final = 550
MOVE_BYTES: Final = 4
"""Approximate size of a finished game in SQLite (its row, players and indexes), and of each of its moves."""


class Limiting:
    """Raises `Refused` when a limit is exceeded, and counts that in `limited` by the limit's name."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited

    def refuse_for(self, wait_ms: int, kind: str, why: str = "") -> None:
        """Raise `Refused` unless `wait_ms` is 0; `why` is the reason, by default the kind of the limit."""
        if wait_ms:
            self._limited[kind] += 1
            raise Refused(ErrorCode.RATE_LIMITED, why or kind, retry_ms=wait_ms)

    def check_held(self, held: Held, key: str, retry_ms: int = RETRY_MS) -> None:
        """Raise `Refused` if the quota of a key is used up."""
        self.refuse_for(retry_ms if held.is_full(key) else 0, held.names[0])


class Allowances(Limiting):
    """Rate limits by player and by address. Methods that count or check raise `Refused` unless they return a bool."""

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

    def take(self, limit: RateLimit, kind: str, why: str = "") -> None:
        self.refuse_for(limit.take(), kind, why)

    def take_create(self, session: Session, player: Player) -> None:
        waits = take_both(self.creates_of_player[player.id], self.creates_of_address[session.address])
        self.refuse_for(max(waits), "creates")

    def take_game(self, addresses: Mapping[str, str], moves: int) -> bool:
        """Count a game that is about to be stored; see `take_kept`."""
        return self.take_kept(addresses, ROW_BYTES + MOVE_BYTES * moves)

    def take_kept(self, addresses: Mapping[str, str], size: int) -> bool:
        """Count stored bytes for each player below the limit, once per address; return True if there is such a player.

        `addresses` has the address of each player by id, "" if unknown.
        """
        is_kept, counted = False, {""}
        for player, address in addresses.items():
            own = self.kept_of_player[player]
            waits = (own.take(size),) if address in counted else take_both(own, self.kept_of_address[address], size)
            if not any(waits):
                is_kept = True
                counted.add(address)
        if not is_kept:
            self._limited["kept"] += 1
        return is_kept

    def take_offer(self, player: Player) -> None:
        """Count an offer to the opponents; guests share a limit."""
        self.take(self.offers[owner_of(player.id)], "offers")

    def check_misses(self, session: Session, player: Player) -> None:
        """Refuse a player who has used up the tries of room codes, whether or not the next code exists."""
        self.check_tries(self.misses_of_player[player.id], self.misses_of_address[session.address], "misses")

    def check_tries(self, own: RateLimit, shared: RateLimit, kind: str) -> None:
        """Refuse if the own limit is used up, or if the shared one is and there were own misses lately."""
        self.refuse_for(own.wait() or (shared.wait() if own.used else 0), kind)

    def check_page_misses(self, address: str) -> None:
        """Refuse an address that has requested too many missing pages."""
        self.refuse_for(self.page_misses[key_of(address)].wait(), "misses")

    def count_miss(self, session: Session, player: Player) -> None:
        """Count a request for a room that does not exist or is not the player's."""
        self.count_try(self.misses_of_player[player.id], self.misses_of_address[session.address], "misses")

    def count_try(self, own: RateLimit, shared: RateLimit, kind: str) -> None:
        self.refuse_for(own.take() or shared.take(), kind)


class OpenedRooms(Limiting):
    """Rooms by the players, and by the addresses, that opened them."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        super().__init__(limits, limited)
        self.of_player = Held(limits, "rooms-per-player")
        self.of_address = Held(limits, "rooms-per-address")
        self.bot_games = Held(limits, "bot-games-per-player", lambda live: live.room.result is None)

    def check(self, live: Listed) -> None:
        """Raise `Refused` if a room would exceed a quota of its opener."""
        for held, key in self._quotas_of(live):
            self.check_held(held, key)

    def add(self, live: Listed) -> None:
        for held, key in self._quotas_of(live):
            held.add(key, live, live)

    def remove(self, live: Listed) -> None:
        for held, key in self._quotas_of(live):
            held.discard(key, live)

    def _quotas_of(self, live: Listed) -> list[tuple[Held, str]]:
        bot_games = [(self.bot_games, live.owner)] if live.has_bots else []
        return [(self.of_player, live.owner), *bot_games, (self.of_address, live.source)]


class Seats(Limiting):
    """The seats of players, and quotas of seats in unfinished games with several people, by player and by address."""

    def __init__(self, limits: Limits, limited: Counter[str], source_of: Callable[[str], str] = str) -> None:
        super().__init__(limits, limited)
        self._source_of = source_of
        self.of_player = Held(limits, "seats-per-player", _is_unfinished)
        self.of_address = Held(limits, "seats-per-address", _is_unfinished)
        self.unbegun = Held(limits, "unbegun-seats-per-address", _is_unbegun)
        self._rooms = Held()
        self._named = Held()
        self._addresses: dict[tuple[str, str], str] = {}

    @property
    def players(self) -> Collection[str]:
        """The ids of all players who have a seat that they did not leave."""
        return self._rooms.keys()

    def rooms_of(self, player: str) -> tuple[Listed, ...]:
        """Return a player's rooms, the oldest seat first."""
        return tuple(self._rooms.get(player, {}).values())

    def codes_naming(self, player: str) -> Collection[str]:
        """Return the codes of the rooms with a seat of a player or of the player's guests, left seats included."""
        return self._named.get(player, {}).keys()

    def has(self, player: str, code: str) -> bool:
        return code in self._rooms.get(player, ())

    def check(self, player: str, address: str) -> None:
        """Raise `Refused` if a player has too many seats in unfinished games."""
        self.check_held(self.of_player, player)
        self.check_held(self.of_address, address)

    def check_unbegun(self, listed: Listed, address: str) -> None:
        """Raise `Refused` if an address has too many seats in other people's public games without moves."""
        if self._is_of_others(listed, address):
            seats, most = self.unbegun.get(address, {}), self.unbegun.most
            if 0 < most <= len(seats):  # else it cannot be too many
                for seat in [seat for seat, taken in seats.items() if not _is_unbegun(taken)]:
                    self.unbegun.discard(address, seat)
                self.refuse_for(RETRY_MS if len(seats) >= most else 0, self.unbegun.names[0])

    def _is_of_others(self, listed: Listed, address: str) -> bool:
        return listed.room.visibility == "public" and listed.source not in ("", self._source_of(address))

    def expect(self, player: str, listed: Listed, address: str) -> None:
        """Count a seat that is about to be taken, until the room is stored with it or `give_up` is called."""
        code = listed.room.code
        self._addresses[player, code] = address
        self._take(player, listed)
        if self._is_of_others(listed, address):
            self.unbegun.add(address, (player, code), (listed, listed.room.game))

    def give_up(self, player: str, code: str) -> None:
        """Stop counting an expected seat, unless the player has it."""
        if not self.has(player, code):
            address = self._addresses.pop((player, code), "")
            self.of_player.discard(player, code)
            self.of_address.discard(address, (player, code))
            self.unbegun.discard(address, (player, code))

    def update(self, listed: Listed, before: Room | None) -> None:
        """Adopt the seats of a room that opened, or changed from `before`."""
        room = listed.room
        if before is not None and {*map(id, before.seats.values())} == {*map(id, room.seats.values())}:
            return  # the same seats, maybe at other marks
        for seat in () if before is None else before.held_seats:
            self._named.discard(owner_of(seat.player), room.code)
        for seat in room.held_seats:
            self._named.add(owner_of(seat.player), room.code)
        seated = {seat.player: seat for seat in room.held_seats if not (seat.left or is_guest(seat.player))}
        for seat in () if before is None else before.held_seats:
            if seat.player not in seated:
                self._forget(seat.player, room.code)
        for player, seat in seated.items():
            self._rooms.add(player, room.code, listed)
            if not seat.is_server_bot:
                self._take(player, listed)

    def remove(self, room: Room) -> None:
        for seat in room.held_seats:
            self._forget(seat.player, room.code)
            self._named.discard(owner_of(seat.player), room.code)

    def _take(self, player: str, listed: Listed) -> None:
        code = listed.room.code
        self.of_player.add(player, code, listed)
        self.of_address.add(self._addresses.get((player, code), ""), (player, code), listed)

    def _forget(self, player: str, code: str) -> None:
        self._rooms.discard(player, code)
        self.give_up(player, code)


def _is_unfinished(listed: Listed) -> bool:
    room = listed.room
    return room.result is None and room.is_for_several and not room.terms.is_organised


def _is_unbegun(taken: tuple[Listed, int]) -> bool:
    """Return True if the game of a taken seat, given with its number, has no moves yet."""
    listed, game = taken
    room = listed.room
    return not listed.is_gone and room.game == game and room.result is None and room.is_beginning
