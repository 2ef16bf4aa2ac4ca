"""Rate limits for players and addresses. They outlive connections.

Each player behind a shared address has separate limits, which the other players there cannot use up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.guests import owner_of
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.rate_limit import Held, RateLimit, RateLimits, consume_both

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

    def check_held(self, held: Held, key: str, retry_ms: int = RETRY_MS) -> None:
        """Raise `Refused` if a key already has as many things as its quota allows."""
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
