"""Forgets what nobody needs any more, in steps so small that nobody waits for them.

Players who were not here for long, finished games that are older than the operator wants to keep, bans that are over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Final

import structlog

from tictactoe_server.admin.bans import Bans
from tictactoe_server.storage.idleness import today
from tictactoe_server.storage.store import Storage, StoreUnavailable

ROUND_SECONDS: Final = 3_600.0
STEP_SECONDS: Final = 0.1
_DAY_MS: Final = 86_400_000

log: Final = structlog.get_logger(__name__)


class Housekeeping:
    """Let `keep` run beside the server. `stay` returns the ids of players who are here or have a seat.

    Finished games are kept for `history_days`, for good where that is None.
    """

    def __init__(
        self, store: Storage, bans: Bans, stay: Callable[[], Collection[str]], history_days: float | None
    ) -> None:
        self._store = store
        self._bans = bans
        self._stay = stay
        self._history_days = history_days

    async def keep(self) -> None:
        """Go round every hour until cancelled; what the store refuses waits for the next time."""
        while True:
            try:
                await self.go_round(today())
            except StoreUnavailable as unavailable:
                log.warning("old players and games could not be forgotten yet", reason=str(unavailable))
            await asyncio.sleep(ROUND_SECONDS)

    async def go_round(self, day: int, step_seconds: float = STEP_SECONDS) -> None:
        """Forget what is too old on that day; raises `StoreUnavailable`."""
        await self._bans.forget_past()
        if self._history_days is not None:
            before = time.time_ns() // 1_000_000 - round(self._history_days * _DAY_MS)
            is_more = True
            while is_more:
                is_more = await self._store.archive.forget_before(before)
                await asyncio.sleep(step_seconds)
        after: str | None = ""
        while after is not None:
            after = await self._store.players.forget_idle(after, day, self._stay())
            await asyncio.sleep(step_seconds)
