"""Background jobs: deleting old data, and measuring the delay of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Final

import structlog

from tictactoe_server import clock
from tictactoe_server.core.hooks import Hooks
from tictactoe_server.operator.bans import Bans
from tictactoe_server.records.tables import PLAYERS, RESERVED, SHARES, KnownPlayer, today
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import Conflict, StoreUnavailable, delete, delete_where

ROUND_SECONDS: Final = 3_600.0
STEP_SECONDS: Final = 0.1
_DAY_MS: Final = 86_400_000
_LOOK_SECONDS: Final = 0.25
_WINDOW_SECONDS: Final = 10.0
LATE_SECONDS: Final = 0.5  # with this delay or more, clients may have been kept waiting by the event loop

log: Final = structlog.get_logger(__name__)


async def hourly(restored: asyncio.Event, work: Callable[[int], Awaitable[object]]) -> None:
    """Call `work` with the current day every hour, once all rooms are restored. Errors from the store are logged."""
    await restored.wait()
    while True:
        try:
            await work(today())
        except StoreUnavailable as unavailable:
            log.warning("old players and games not deleted yet; retrying", reason=str(unavailable))
        await asyncio.sleep(ROUND_SECONDS)


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """Deletes expired bans, old games, absent players and expired reservations of names, in small steps.

    Attributes:
        stay: Returns the ids of players who are connected or have a seat. These players are not deleted.
        history_days: How long finished games are kept; None for forever.
        step_seconds: The pause between two steps.
    """

    store: Storage
    bans: Bans
    stay: Callable[[], Collection[str]]
    history_days: float | None
    hooks: Hooks
    step_seconds: float = STEP_SECONDS

    async def go_round(self, day: int) -> None:
        """Delete everything that is too old on `day` (as in `today`). May raise `StoreUnavailable`."""
        await self.bans.forget_past()
        if self.history_days is not None:
            before = clock.wall_ms() - round(self.history_days * _DAY_MS)
            needed = [await needed_from() for needed_from in self.hooks.games_needed_from]
            await self._forget_games(round(min([before, *needed])))
        if not self.store.table(PLAYERS).expires:
            await self._forget_players(day)
            await delete_where(self.store.table(RESERVED), lambda reserved: reserved.is_over, self.step_seconds)

    async def _forget_games(self, before: int) -> None:
        """Delete the games that ended before `before` (ms since 1970), and their shared copies."""
        is_more = True
        while is_more:
            is_more = await self.store.games.forget_before(before)
            await asyncio.sleep(self.step_seconds)
        await delete_where(self.store.table(SHARES), lambda game: game.at < before, self.step_seconds)

    async def _forget_players(self, day: int) -> None:
        players = self.store.table(PLAYERS)
        async for some in players.load_all():
            stay = self.stay()
            for stored in some:
                known = stored.value
                if not isinstance(known, KnownPlayer) or known.days_left(day) > 0 or known.player.id in stay:
                    continue
                if not await self.store.games.games_of(known.player.id, 1):
                    with contextlib.suppress(Conflict):  # the player has just connected
                        await delete(players, stored.key, stored.revision)
            await asyncio.sleep(self.step_seconds)


class LoopLag:
    """Measures how late the event loop runs its timers."""

    def __init__(self) -> None:
        self._worst, self._due = 0.0, math.inf

    @property
    def seconds(self) -> float:
        """The longest delay in the last ten to twenty seconds, including the current delay."""
        return max(self._worst, clock.monotonic() - self._due)

    async def run(self) -> None:
        before = 0.0
        while True:
            worst = 0.0
            for _ in range(round(_WINDOW_SECONDS / _LOOK_SECONDS)):
                self._due = clock.monotonic() + _LOOK_SECONDS
                await asyncio.sleep(_LOOK_SECONDS)
                worst = max(worst, clock.monotonic() - self._due)
                self._worst = max(before, worst)
            before = worst
