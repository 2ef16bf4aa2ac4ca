"""The server's own clock: milliseconds during which a server was running, counted on across restarts.

Everything that a room measures (clocks, holds, ages) is in this time. It never jumps with the wall clock, and time
without a server does not exist in it, so an outage of any length is charged to nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog

from tictactoe_server.stores import MISSING, Conflict, Store, StoreUnavailable

_KEY: Final = "server/time"
_KEEP_SECONDS: Final = 1.0

log: Final = structlog.get_logger(__name__)


class ServedTime:
    """Call it for the time in ms; `resume` it from the store before use, and let `keep` run beside the server.

    After a crash it goes on from the last second that `keep` stored. `monotonic_ns` is the clock that it counts on.
    """

    def __init__(self, store: Store, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._store = store
        self._monotonic_ns = monotonic_ns
        self._origin_ns = monotonic_ns()
        self._revision = MISSING

    def __call__(self) -> int:
        """Return the time in ms."""
        return (self._monotonic_ns() - self._origin_ns) // 1_000_000

    async def resume(self) -> None:
        """Go on where the last server stopped."""
        found = await self._store.load(_KEY)
        if found is not None:
            document, self._revision = found
            self._origin_ns = self._monotonic_ns() - int(document) * 1_000_000

    async def keep(self) -> None:
        """Store the time every second until cancelled."""
        while True:
            await self.store_now()
            await asyncio.sleep(_KEEP_SECONDS)

    async def store_now(self) -> None:
        """Store the time; a store that is out of order is tried again the next time."""
        try:
            self._revision = await self._store.save(_KEY, str(self()).encode(), self._revision)
        except (StoreUnavailable, Conflict) as error:
            log.debug("the time was not stored", reason=type(error).__name__)
            await self._learn_revision()

    async def _learn_revision(self) -> None:
        try:
            found = await self._store.load(_KEY)
        except StoreUnavailable:
            return
        self._revision = found[1] if found is not None else MISSING
