"""What one player, and all from one address, may ask for in a while; it outlives their connections."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from tictactoe_protocol import ErrorCode
from tictactoe_server.core.rooms import Player, Refused
from tictactoe_server.core.session import Session, messages_rate
from tictactoe_server.settings import Limits
from tictactoe_server.transport.rate_limit import RateLimit, RateLimits, take_each

CROWD_CHAT_MS: Final = 3_000  # how often a watcher may say something in a crowd
_MEGABYTE: Final = 1_000_000
_MINUTE_MS: Final = 60_000
_TEN_SECONDS_MS: Final = 10_000
_TOO_MANY_MISSES: Final = "Too many codes that are no room of yours."


class Allowances:
    """Limits by player and by address, so that one of many behind an address cannot use up what is there for all.

    `limited` counts what was too much, by the names of the limits.
    """

    def __init__(self, limits: Limits, limited: Counter[str], monotonic_ns: Callable[[], int]) -> None:
        def a_minute(times: int, at_once: int = 0) -> RateLimits:
            most = max(times, at_once)
            return RateLimits(most if times else 0, _MINUTE_MS * most / max(1, times), monotonic_ns)

        def an_hour(megabytes: int) -> RateLimits:
            return RateLimits(megabytes * _MEGABYTE, 60 * _MINUTE_MS, monotonic_ns)

        self.messages = RateLimits(*messages_rate(limits.messages_per_second, limits.messages_at_once), monotonic_ns)
        self.creates_of_player = a_minute(limits.creates_per_minute_per_player)
        self.creates_of_address = a_minute(limits.creates_per_minute_per_address)
        self.misses_of_player = a_minute(limits.misses_per_minute_per_player)
        self.misses_of_address = a_minute(limits.misses_per_minute_per_address, limits.misses_at_once_per_address)
        self.page_misses = a_minute(limits.misses_per_minute_per_address, limits.misses_at_once_per_address)
        self.new_players = a_minute(limits.new_players_per_minute_per_address, limits.new_players_at_once_per_address)
        self.kept_of_player = an_hour(limits.kept_megabytes_per_hour_per_player)
        self.kept_of_address = an_hour(limits.kept_megabytes_per_hour_per_address)
        self.offers = RateLimits(limits.offers_per_ten_seconds_per_player, _TEN_SECONDS_MS, monotonic_ns)
        self.crowd_chat = RateLimits(1, CROWD_CHAT_MS, monotonic_ns)
        self._limited = limited

    @property
    def used(self) -> dict[str, float]:
        """How much of these limits is used up now, by the player or address that has used most."""
        return {
            "messages-per-second": self.messages.most_used,
            "messages-at-once": self.messages.most_used,
            "creates-per-minute-per-player": self.creates_of_player.most_used,
            "creates-per-minute-per-address": self.creates_of_address.most_used,
            "misses-per-minute-per-player": self.misses_of_player.most_used,
            "misses-per-minute-per-address": self.misses_of_address.most_used,
            "misses-at-once-per-address": self.misses_of_address.most_used,
            "new-players-per-minute-per-address": self.new_players.most_used,
            "new-players-at-once-per-address": self.new_players.most_used,
            "kept-megabytes-per-hour-per-player": round(self.kept_of_player.most_used / _MEGABYTE, 1),
            "kept-megabytes-per-hour-per-address": round(self.kept_of_address.most_used / _MEGABYTE, 1),
            "offers-per-ten-seconds-per-player": self.offers.most_used,
        }

    def take(self, limit: RateLimit, kind: str, words: str) -> None:
        """Count one use of a limit; raises `Refused` with these words where that is too much."""
        self._refuse_for(limit.take(), kind, words)

    def take_new_player(self, address: str) -> None:
        """Count a player who is to be made for one who comes from there; raises `Refused` where that is too much."""
        words = "Too many new players come from your address. Try again in a moment."
        self.take(self.new_players.of(address), "new-players", words)

    def take_create(self, session: Session, player: Player) -> None:
        """Count a room that is to be opened; raises `Refused` where that is too much."""
        wait = take_each(self.creates_of_player.of(player.id), self.creates_of_address.of(session.address))
        self._refuse_for(wait, "creates", "You open too many rooms at once.")

    def take_kept(self, addresses: Mapping[str, str], size: int) -> bool:
        """Count bytes that are kept for players, by their ids with where they come from, empty where that is unknown.

        They count for each who may keep so much more, and once for an address; returns whether anybody may.
        """
        is_kept, counted = False, {""}
        for player, address in addresses.items():
            limits = [self.kept_of_player.of(player)]
            if address not in counted:
                limits.append(self.kept_of_address.of(address))
            if not take_each(*limits, count=size):
                is_kept = True
                counted.add(address)
        if not is_kept:
            self._limited["kept"] += 1
        return is_kept

    def take_offer(self, player: Player) -> None:
        """Count something that the others are asked; raises `Refused` where that is too much."""
        self.take(self.offers.of(player.id), "offers", "You ask the others too often: wait for an answer.")

    def check_misses(self, session: Session, player: Player) -> None:
        """Raise `Refused` where one may try no more codes, whether there is such a room or not.

        So is one who has used up the own misses, and while those of the address are used up one who missed lately:
        what others behind that address do keeps nobody out who has not missed.
        """
        own = self.misses_of_player.of(player.id)
        wait = own.wait() or (0 if own.is_untouched else self.misses_of_address.of(session.address).wait())
        self._refuse_for(wait, "misses", _TOO_MANY_MISSES)

    def count_miss(self, session: Session, player: Player) -> None:
        """Count a request for a room that is not there, or not theirs; raises `Refused` where that is too much."""
        wait = self.misses_of_player.of(player.id).take() or self.misses_of_address.of(session.address).take()
        self._refuse_for(wait, "misses", _TOO_MANY_MISSES)

    def _refuse_for(self, wait: int, kind: str, words: str) -> None:
        """Raise `Refused` for so many ms, unless these are 0."""
        if wait:
            self._limited[kind] += 1
            raise Refused(ErrorCode.RATE_LIMITED, words, retry_ms=wait)
