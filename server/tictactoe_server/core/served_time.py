"""Served time: the milliseconds during which a server was running, continued across restarts.

Clocks, holds and the ages of rooms use served time, so that players lose no time during an outage. Served time also
stops while the store does not respond, because no move can be stored then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from tictactoe_server import clock
from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import Unreadable

GRACE_SECONDS: Final = 1.0  # how long the store may take to respond before time stops
NOTE_SECONDS: Final = 0.5  # how often the time is stored; after a crash it continues from there
_LOOK_SECONDS: Final = 0.1

log: Final = structlog.get_logger(__name__)


class ServedTime:
    """Returns the served time in ms when called. Call `resume` before use, and keep `run` running."""

    def __init__(
        self,
        store: Storage,
        monotonic_ns: Callable[[], int] = clock.monotonic_ns,
        *,
        note_seconds: float = NOTE_SECONDS,
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._store = store
        self._watches_a_note = max(1, round(note_seconds / _LOOK_SECONDS))
        self._grace_seconds = grace_seconds
        self._monotonic_ns = monotonic_ns
        self._origin_ns = monotonic_ns()
        self._still_since_ns: int | None = None

    def __call__(self) -> int:
        now = self._monotonic_ns() if self._still_since_ns is None else self._still_since_ns
        return (now - self._origin_ns) // 1_000_000

    async def resume(self) -> None:
        """Continue from the stored time, or from 0 if it is unreadable. May raise `StoreUnavailable`."""
        try:
            noted = await self._store.noted_time()
        except Unreadable as damaged:
            log.error("stored time is damaged: continuing from the latest time in the rooms", reason=str(damaged))
            return
        if noted is not None:
            self.go_on_from(noted)

    def go_on_from(self, ms: int) -> None:
        """Move the time forward to `ms`, unless it is already later."""
        self._origin_ns -= max(0, ms - self()) * 1_000_000

    def stop(self) -> None:
        """Stop the time for good, because the server accepts no more requests."""
        now = self._monotonic_ns()
        self._monotonic_ns = lambda: now

    async def run(self) -> None:
        """Watch the store and keep storing the time until cancelled. Store it once more at the end."""
        try:
            while True:
                self._store.note_time(self())
                for _ in range(self._watches_a_note):
                    await asyncio.sleep(_LOOK_SECONDS)
                    self._watch_store()
        finally:
            self._store.note_time(self())

    def _watch_store(self) -> None:
        owed_since = self._store.owed_since()
        is_still = owed_since is not None and clock.monotonic() - owed_since > self._grace_seconds
        if is_still and self._still_since_ns is None:
            self._still_since_ns = self._monotonic_ns()
        elif not is_still and self._still_since_ns is not None:
            self._origin_ns += self._monotonic_ns() - self._still_since_ns
            self._still_since_ns = None
