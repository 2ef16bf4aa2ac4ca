"""The server's own clock: milliseconds during which a server was running, counted on across restarts.

Everything that a room measures (clocks, holds, ages) is in this time. It never jumps with the wall clock, and time
without a server does not exist in it, so an outage of any length is charged to nobody. It stands still, too, while the
store owes an answer for more than a second: nobody can move then.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

import structlog

from tictactoe_server.storage.specs import Storage
from tictactoe_server.storage.store import Unreadable

GRACE_SECONDS: Final = 1.0  # for how long the store may owe an answer until time stands still
NOTE_SECONDS: Final = 0.5
_LOOK_SECONDS: Final = 0.1
MOST_NS: Final = 1_000_000_000
"""The longest time between two looks at the clock while the process runs: it is looked at several times a second."""

log: Final = structlog.get_logger(__name__)


class ServedTime:
    """Call it for the time in ms; `resume` it from the store before use, and let `run` go on beside the server.

    After a crash it goes on from the last note, of which there is one every `note_seconds`. `monotonic_ns` is the clock
    that it counts on. It stands still once the store owes an answer for `grace_seconds`.
    """

    def __init__(
        self,
        store: Storage,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
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
        """Go on where the last server stopped, from 0 where that cannot be read; raises `StoreUnavailable`."""
        try:
            noted = await self._store.noted_time()
        except Unreadable as damaged:
            log.error("the note of the time is damaged: it is taken from the rooms", reason=str(damaged))
            return
        if noted is not None:
            self.go_on_from(noted)

    def go_on_from(self, ms: int) -> None:
        """See to it that it is at least so late."""
        self._origin_ns -= max(0, ms - self()) * 1_000_000

    async def run(self) -> None:
        """Look after the store and note the time until cancelled, and once more then."""
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
        is_still = owed_since is not None and time.monotonic() - owed_since > self._grace_seconds
        if is_still and self._still_since_ns is None:
            self._still_since_ns = self._monotonic_ns()
        elif not is_still and self._still_since_ns is not None:
            self._origin_ns += self._monotonic_ns() - self._still_since_ns
            self._still_since_ns = None


class Uninterrupted:
    """Call it for the time in ns, like `time.monotonic_ns`, less the times in which nobody could look at it.

    It is for a server that others go on without: what passes while this process is stopped does not count.
    """

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._seen_ns = monotonic_ns()
        self._missed_ns = 0

    def __call__(self) -> int:
        now = self._monotonic_ns()
        if now - self._seen_ns > MOST_NS:
            self._missed_ns += now - self._seen_ns
        self._seen_ns = now
        return now - self._missed_ns
