"""What features add to the core and to play: each hook is a list of functions, empty without the feature."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Protocol

from tictactoe_engine import Rules
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.terms import ClockFields
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.rooms import Player, Refused


class RatedCheck(Protocol):
    """Raises `Refused` unless a player may play a rated game by these rules; see `Ladders.check`."""

    def __call__(
        self, rules: Rules, clock: ClockFields | None, player: Player, others: Collection[str] = (), *, room: str = ""
    ) -> Awaitable[None]: ...


class Hooks:
    """The lists that features append to when they start.

    Attributes:
        before_seat: Each is awaited before a player without a seat joins a room with assigned seats.
        rated_rules: The presets with rated games.
        rated_checks: Each refuses a rated game that may not be played; without any, all are refused.
        skipped_opponents: Each returns the ids of players whom a player must not be matched with in a rated game.
        mute_checks: Each returns True if the first player, by id, must not get the second player's chat.
        games_needed_from: Each returns the end time of the oldest game that must be kept (ms since 1970).
        on_merge: Each is awaited with two ids: the player who is merged, and the player they become.
    """

    def __init__(self) -> None:
        self.before_seat: list[Callable[[LiveRoom], Awaitable[object]]] = []
        self.rated_rules: list[str] = []
        self.rated_checks: list[RatedCheck] = []
        self.skipped_opponents: list[Callable[[str], Awaitable[Collection[str]]]] = []
        self.mute_checks: list[Callable[[str, str], bool]] = []
        self.games_needed_from: list[Callable[[], Awaitable[float]]] = []
        self.on_merge: list[Callable[[str, str], Awaitable[None]]] = []

    async def check_rated(
        self, rules: Rules, clock: ClockFields | None, player: Player, others: Collection[str] = (), *, room: str = ""
    ) -> None:
        """Raise `Refused` unless a player may play a rated game with each of the others; see `Ladders.check`."""
        if not self.rated_checks:
            raise Refused(ErrorCode.NOT_ALLOWED, "ladders off", path="rules")
        for check in self.rated_checks:
            await check(rules, clock, player, others, room=room)
