"""Quotas for each player and each address: on the rooms that they opened, and on their seats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import SeatState
from tictactoe_server.people.allowances import RETRY_MS, Limiting
from tictactoe_server.rooms.room import Room
from tictactoe_server.rooms.view import Listed
from tictactoe_server.settings import Limits
from tictactoe_server.transport.rate_limit import Held


class OpenedRooms(Limiting):
    """The rooms by player and by address that opened them, with their quotas."""

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
    """The seats of players, with quotas by player and by address on seats in unfinished games between people."""

    def __init__(self, limits: Limits, limited: Counter[str], source_of: Callable[[str], str] = str) -> None:
        super().__init__(limits, limited)
        self._source_of = source_of
        self.of_player = Held(limits, "seats-per-player", _is_unfinished)
        self.of_address = Held(limits, "seats-per-address", _is_unfinished)
        self.unbegun = Held(limits, "unbegun-seats-per-address", _is_unbegun)
        self.day_games = Held(limits, "day-games-per-player")  # unfinished games over days
        self._rooms = Held()
        self._named = Held()
        self._addresses: dict[tuple[str, str], str] = {}

    @property
    def players(self) -> Collection[str]:
        """The ids of all players who have a seat that they have not left."""
        return self._rooms.keys()

    def rooms_of(self, player: str) -> tuple[Listed, ...]:
        """Return a player's rooms, the oldest seat first."""
        return tuple(self._rooms.get(player, {}).values())

    def codes_naming(self, player: str) -> Collection[str]:
        """Return the codes of the rooms where a player or the player's guests have a seat, even if they left it."""
        return self._named.get(player, {}).keys()

    def has(self, player: str, code: str) -> bool:
        return code in self._rooms.get(player, ())

    def check(self, player: str, address: str) -> None:
        """Raise `Refused` if a player or an address has too many seats in unfinished games."""
        self.check_held(self.day_games, player)
        self.check_held(self.of_player, player)
        self.check_held(self.of_address, address)

    def check_unbegun(self, listed: Listed, address: str) -> None:
        """Raise `Refused` if an address has too many seats in other people's public games that have hardly begun."""
        if self._is_of_others(listed, address):
            seats, most = self.unbegun.get(address, {}), self.unbegun.most
            if 0 < most <= len(seats):  # with fewer entries, the quota cannot be reached
                for seat in [seat for seat, taken in seats.items() if not _is_unbegun(taken)]:
                    self.unbegun.discard(address, seat)
                self.refuse_for(RETRY_MS if len(seats) >= most else 0, self.unbegun.names[0])

    def _is_of_others(self, listed: Listed, address: str) -> bool:
        return listed.room.visibility == "public" and listed.source not in ("", self._source_of(address))

    def expect(self, player: str, listed: Listed, address: str) -> None:
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

    def update(self, listed: Listed, before: Room | None) -> None:
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
            if not (listed.has_bots and seat.is_server_bot):
                self._count(player, listed)

    def remove(self, room: Room) -> None:
        for seat in room.held_seats:
            self._forget(seat.player, room.code)
            self._named.discard(owner_of(seat.player), room.code)

    def _count(self, player: str, listed: Listed) -> None:
        code = listed.room.code
        self.of_player.add(player, code, listed)
        self.of_address.add(self._addresses.get((player, code), ""), (player, code), listed)

    def _forget(self, player: str, code: str) -> None:
        self._rooms.discard(player, code)
        self.give_up(player, code)


def _is_unfinished(listed: Listed) -> bool:
    room = listed.room
    return room.result is None and room.places > 1 and not room.terms.is_organised


def _is_unbegun(taken: tuple[Listed, int]) -> bool:
    """Return True if a game, given by its room and number, is not over and a player in it has not moved yet."""
    listed, game = taken
    room = listed.room
    return not listed.is_gone and room.game == game and room.result is None and room.is_beginning
