"""What one player, and all from one address, may ask for in a while, and what they may have at a time.

It outlives their connections: one of many behind an address cannot use up what is there for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
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

CROWD_CHAT_MS: Final = 3_000  # how often a watcher may say something in a crowd
RETRY_MS: Final = 60_000  # when who has too many of something may ask again
ROW_BYTES: Final = 550
MOVE_BYTES: Final = 4
"""About what a finished game takes in SQLite, its row, its players and their indexes, and each of its moves."""


class Limiting:
    """Refuses what is too much, and counts it in `limited` by the names of the limits."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited

    def refuse_for(self, wait_ms: int, kind: str, why: str = "") -> None:
        """Raise `Refused` for so many ms, unless these are 0; the kind of limit says why where nothing else does."""
        if wait_ms:
            self._limited[kind] += 1
            raise Refused(ErrorCode.RATE_LIMITED, why or kind, retry_ms=wait_ms)

    def check_held(self, held: Held, key: str, retry_ms: int = RETRY_MS) -> None:
        """Raise `Refused` where a key may have no more."""
        self.refuse_for(retry_ms if held.is_full(key) else 0, held.names[0])


class Allowances(Limiting):
    """How often something may be asked for, by player and by address."""

    def __init__(self, limits: Limits, limited: Counter[str], monotonic_ns: Callable[[], int]) -> None:
        super().__init__(limits, limited)
        named = partial(RateLimits.named, limits, monotonic_ns)
        self.messages = named("messages-per-second")
        self.creates_of_player = named("creates-per-minute-per-player")
        self.creates_of_address = named("creates-per-minute-per-address")
        self.misses_of_player = named("misses-per-minute-per-player")
        self.page_misses, self.misses_of_address = (named("misses-per-minute-per-address") for _ in range(2))
        self.new_players = named("new-players-per-minute-per-address")
        self.kept_of_player = named("kept-megabytes-per-hour-per-player")
        self.kept_of_address = named("kept-megabytes-per-hour-per-address")
        self.offers = named("offers-per-ten-seconds-per-player")
        self.crowd_chat = RateLimits(1, CROWD_CHAT_MS, monotonic_ns)

    def take(self, limit: RateLimit, kind: str, why: str = "") -> None:
        """Count one use of a limit; raises `Refused` where that is too much."""
        self.refuse_for(limit.take(), kind, why)

    def take_create(self, session: Session, player: Player) -> None:
        """Count a room that is to be opened; raises `Refused` where that is too much."""
        waits = take_both(self.creates_of_player[player.id], self.creates_of_address[session.address])
        self.refuse_for(max(waits), "creates")

    def take_game(self, addresses: Mapping[str, str], moves: int) -> bool:
        """Count a game of so many moves that is to be kept, as `take_kept` does."""
        return self.take_kept(addresses, ROW_BYTES + MOVE_BYTES * moves)

    def take_kept(self, addresses: Mapping[str, str], size: int) -> bool:
        """Count bytes that are kept for players, by their ids with where they come from, empty where that is unknown.

        They count for each who may keep so much more, and once for an address; returns whether anybody may.
        """
        is_kept, counted = False, {""}
        for player, address in addresses.items():
            own = self.kept_of_player[player]
            if not any(
                (own.take(size),) if address in counted else take_both(own, self.kept_of_address[address], size)
            ):
                is_kept = True
                counted.add(address)
        if not is_kept:
            self._limited["kept"] += 1
        return is_kept

    def take_offer(self, player: Player) -> None:
        """Count something that opponents are asked; raises `Refused` if that is too much. Guests share a limit."""
        self.take(self.offers[owner_of(player.id)], "offers")

    def check_misses(self, session: Session, player: Player) -> None:
        """Raise `Refused` where one may try no more codes, whether there is such a room or not."""
        self.check_tries(self.misses_of_player[player.id], self.misses_of_address[session.address], "misses")

    def check_tries(self, own: RateLimit, shared: RateLimit, kind: str) -> None:
        """Refuse one who has used up the own misses, and while those of the address are used up one who missed lately.

        What others behind that address do keeps nobody out who has not missed.
        """
        self.refuse_for(own.wait() or (shared.wait() if own.used else 0), kind)

    def check_page_misses(self, address: str) -> None:
        """Refuse to look for what may not be there, where too much was asked for in plain HTTP that is not."""
        self.refuse_for(self.page_misses[key_of(address)].wait(), "misses")

    def count_miss(self, session: Session, player: Player) -> None:
        """Count a request for a room that is not there, or not theirs; raises `Refused` where that is too much."""
        self.count_try(self.misses_of_player[player.id], self.misses_of_address[session.address], "misses")

    def count_try(self, own: RateLimit, shared: RateLimit, kind: str) -> None:
        """Count what was tried in vain; raises `Refused` where that is too much."""
        self.refuse_for(own.take() or shared.take(), kind)


class OpenedRooms(Limiting):
    """The rooms by the players, and by the addresses, that opened them."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        super().__init__(limits, limited)
        self.of_player, self.of_address = Held(limits, "rooms-per-player"), Held(limits, "rooms-per-address")
        self.bot_games = Held(limits, "bot-games-per-player", lambda live: live.room.result is None)

    def check(self, live: Listed) -> None:
        """Raise `Refused` where a room is one too many for whoever opens it."""
        for held, key in self._counting(live):
            self.check_held(held, key)

    def add(self, live: Listed) -> None:
        """Count a room for whoever opened it."""
        for held, key in self._counting(live):
            held.add(key, live, live)

    def remove(self, live: Listed) -> None:
        for held, key in self._counting(live):
            held.discard(key, live)

    def _counting(self, live: Listed) -> Iterator[tuple[Held, str]]:
        """Yield what a room counts for, each with its key."""
        yield self.of_player, live.owner
        if live.has_bots:
            yield self.bot_games, live.owner
        yield self.of_address, live.source


class Seats(Limiting):
    """Which player has a seat in which rooms: for greetings, and so that nobody holds more seats than may be.

    Of unfinished games in which more than one person has a place, seats are counted for the player and for the address
    from which they were taken, as soon as somebody is about to take them. `source_of` returns what the rooms know an
    address by.
    """

    def __init__(self, limits: Limits, limited: Counter[str], source_of: Callable[[str], str] = str) -> None:
        super().__init__(limits, limited)
        self._source_of = source_of
        self.of_player = Held(limits, "seats-per-player", _is_unfinished)
        self.of_address = Held(limits, "seats-per-address", _is_unfinished)
        self.unbegun = Held(limits, "unbegun-seats-per-address", _is_unbegun)
        self._rooms = Held()
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
        self.check_held(self.of_player, player)
        self.check_held(self.of_address, address)

    def check_unbegun(self, listed: Listed, address: str) -> None:
        """Raise `Refused` for one who may take no seat there: too many from there have one where nobody plays yet."""
        if self._is_of_others(listed, address):
            for seat in [seat for seat, taken in self.unbegun.get(address, {}).items() if not _is_unbegun(taken)]:
                self.unbegun.discard(address, seat)
            self.check_held(self.unbegun, address)

    def _is_of_others(self, listed: Listed, address: str) -> bool:
        """Tell whether a room is public and known to be opened from elsewhere."""
        return listed.room.visibility == "public" and listed.source not in ("", self._source_of(address))

    def expect(self, player: str, listed: Listed, address: str) -> None:
        """Count a seat that is about to be taken from there, until the room is stored with it or `give_up`."""
        code = listed.room.code
        self._addresses[player, code] = address
        self._take(player, listed)
        if self._is_of_others(listed, address):
            self.unbegun.add(address, (player, code), (listed, listed.room.game))

    def give_up(self, player: str, code: str) -> None:
        """Count a seat no more that was not taken."""
        if not self.has(player, code):
            address = self._addresses.pop((player, code), "")
            self.of_player.discard(player, code)
            self.of_address.discard(address, (player, code))
            self.unbegun.discard(address, (player, code))

    def update(self, listed: Listed, before: Room | None) -> None:
        """Know the seats of a room that opened, or changed from `before`."""
        room = listed.room
        if before is not None and {*map(id, before.seats.values())} == {*map(id, room.seats.values())}:
            return  # the same, maybe at other marks
        held, known = room.held_seats, [] if before is None else before.held_seats
        seated = {seat.player: seat for seat in held if not (seat.left or is_guest(seat.player))}
        for seat in known:
            if seat.player not in seated:
                self._forget(seat.player, room.code)
        for player, seat in seated.items():
            self._rooms.add(player, room.code, listed)
            if not seat.is_server_bot:
                self._take(player, listed)

    def remove(self, room: Room) -> None:
        """Forget a room's seats."""
        for seat in room.held_seats:
            self._forget(seat.player, room.code)

    def _take(self, player: str, listed: Listed) -> None:
        code = listed.room.code
        self.of_player.add(player, code, listed)
        self.of_address.add(self._addresses.get((player, code), ""), (player, code), listed)

    def _forget(self, player: str, code: str) -> None:
        self._rooms.discard(player, code)
        self.give_up(player, code)


def _is_unfinished(listed: Listed) -> bool:
    """Tell whether a game with others goes on, or is about to, that is not one of an event."""
    room = listed.room
    return room.result is None and room.is_for_several and room.terms.is_counted


def _is_unbegun(taken: tuple[Listed, int]) -> bool:
    """Tell whether nobody has played yet in the game, by its number, for which a seat was taken."""
    listed, game = taken
    room = listed.room
    return not listed.is_gone and room.game == game and room.result is None and room.is_beginning
