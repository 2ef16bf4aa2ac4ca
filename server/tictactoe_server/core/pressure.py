"""Whether there is more to do than can be done: then some is refused at once, so that the rest is done in time.

It shows in two ways. Many ask at once: a turn of the event loop takes long. Or each of them asks for more than is done
for it: then requests wait in their sessions, and the event loop never comes to rest.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final

from tictactoe_server.core.sources import Source, Sources

LATE_MS: Final = 100
"""How long a request may have waited behind another of its session, where the server does not come to rest."""

_LOOKED_AT_EVERY: Final = 16
_WINDOW_SECONDS: Final = 0.1
_LONG_TURN: Final = 0.25  # from which part of a turn on only the time counts that the kernel says this thread had
_LITTLE_REST: Final = 0.2  # how much of a window is rest where the server still has time for everything


class Pressure:
    """Looks whether a turn of the event loop has spent more than `turn_ms` of the processor's time on requests.

    With 0 it may, and no request is too late. Each request is counted in `requests`; once that is more than
    `looked_at`, it is to `look`. `excess` is how often the time of a turn has passed in this one; `shed` counts the
    requests that were refused. The server `is_restless` where it had hardly any time without work lately, which is
    measured only while requests wait: what a thread has had of the processor is the kernel's to say.
    """

    def __init__(self, turn_ms: int, sources: Sources) -> None:
        self.sources = sources
        self.requests = self.looked_at = self.shed = 0
        self.excess = 0.0
        self.is_restless = False
        self._turn_seconds = turn_ms / 1000 or math.inf
        self._began = 0.0
        self._counted_from: float | None = None
        self._window = time.perf_counter(), time.thread_time()

    def look(self) -> None:
        """Find out how long this turn has gone on, or begin one."""
        now = time.perf_counter()
        if not self.looked_at:
            self._began, self._counted_from = now, None
            asyncio.get_running_loop().call_soon(self._end)
        spent = now - self._began
        if spent > self._turn_seconds * _LONG_TURN:  # others may have had the processor, too
            working = time.thread_time()
            self._counted_from = working - spent if self._counted_from is None else self._counted_from
            spent = working - self._counted_from
        self.excess = spent / self._turn_seconds
        self.looked_at = self.requests + _LOOKED_AT_EVERY - 1

    def is_high(self, source: Source) -> bool:
        """Tell whether this turn has gone on for too long for one more request of a source."""
        return self.excess > 1 and self.sources.is_heavy(source, self.excess)

    def is_too_late(self, waited_ms: int) -> bool:
        """Tell whether a request has waited too long behind others of its session, since there is too much to do."""
        return self.is_restless and waited_ms > LATE_MS

    def measure(self) -> None:
        """Take note of a request that waits: how much of the time since one waited before was the thread at work?"""
        now, (then, worked) = time.perf_counter(), self._window
        if now - then > _WINDOW_SECONDS and self._turn_seconds < math.inf:
            working = time.thread_time()
            self.is_restless = working - worked > (1 - _LITTLE_REST) * (now - then)
            self._window = now, working

    def _end(self) -> None:
        self.requests = self.looked_at = 0
        self.excess = 0.0
        self.sources.turn += 1
