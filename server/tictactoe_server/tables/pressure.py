"""Whether there is more to do than can be done: then some is refused at once, so that the rest is done in time.

It shows in two ways. Many ask at once: a turn of the event loop takes long. Or each of them asks for more than is done
for it: then requests wait in their sessions or to be read, and the event loop never comes to rest.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Final

from tictactoe_server.tables.sources import Source, Sources

LATE_MS: Final = 100
"""How long a request may have waited behind another of its session, or unread, where there is no rest."""

_LATE_SECONDS: Final = 0.25
"""How long ago the turn before may have begun: who waits for each answer may meet turns that are nearly as long."""

_FAR_TOO_MUCH: Final = 1e6
_LOOKED_AT_EVERY: Final = 16
_WINDOW_SECONDS: Final = 0.1
_BUSY: Final = 0.8
"""How much of a window is work where the server no longer has time for everything."""


class Pressure:
    """Looks whether a turn of the event loop has spent more than `turn_ms` of the processor's time on requests.

    With 0 it may, and no request is too late. Each request is counted in `requests`; once that is more than
    `looked_at`, it is to `look`. `excess` is how often the time of a turn has passed in this one, and far too much once
    what is read in it may be too old; `shed` counts the requests that were refused. The server `is_restless` where it
    had hardly any time without requests lately. `clock` and `thread_clock` return seconds, those that pass and those of
    the processor: where others have it, too, work takes longer than its own time.
    """

    def __init__(
        self,
        turn_ms: int,
        sources: Sources,
        clock: Callable[[], float] = time.perf_counter,
        thread_clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.sources = sources
        self.requests = self.looked_at = self.shed = 0
        self.excess = 0.0
        self.is_restless = False
        self._turn_seconds = turn_ms / 1000 or math.inf
        self._clock = clock
        self._thread_clock = thread_clock
        self._begun_at = self._unread_since = self._window_at = clock()
        self._begun = self._window = thread_clock()
        self._turns_took = self._turns_worked = 0.0

    def look(self) -> None:
        """Find out how long this turn has gone on, or begin one."""
        now = self._clock()
        if not self.looked_at:
            self._begin(now)
        elif self.excess < _FAR_TOO_MUCH:
            self.excess = (self._thread_clock() - self._begun) / self._turn_seconds
        if self.is_restless and now - self._unread_since > _LATE_SECONDS:
            self.excess = _FAR_TOO_MUCH
        self.looked_at = self.requests + _LOOKED_AT_EVERY - 1

    def is_high(self, source: Source) -> bool:
        """Tell whether this turn has gone on for too long for one more request of a source."""
        return self.excess > 1 and self.sources.is_heavy(source, self.excess)

    def is_too_late(self, waited_ms: int) -> bool:
        """Tell whether a request has waited too long, since there is too much to do."""
        return self.is_restless and waited_ms > LATE_MS

    def _begin(self, now: float) -> None:
        """Begin a turn. What is read in it may have come since the one before began: that had read all there was."""
        worked = self._thread_clock()
        if now - self._window_at > _WINDOW_SECONDS:
            self._look_at_window(now, worked)
        self._unread_since, self._begun_at, self._begun = self._begun_at, now, worked
        asyncio.get_running_loop().call_soon(self._end)

    def _look_at_window(self, now: float, worked: float) -> None:
        """Find out how much of the time since the last such look was work, as long as work takes here."""
        pace = self._turns_took / self._turns_worked if self._turns_worked else 1.0
        busy = (worked - self._window) * max(1.0, pace)
        self.is_restless = self._turn_seconds < math.inf and busy > _BUSY * (now - self._window_at)
        self._window_at, self._window = now, worked
        self._turns_took = self._turns_worked = 0.0

    def _end(self) -> None:
        self.requests = self.looked_at = 0
        self.excess = 0.0
        self.sources.turn += 1
        self._turns_took += self._clock() - self._begun_at
        self._turns_worked += self._thread_clock() - self._begun
