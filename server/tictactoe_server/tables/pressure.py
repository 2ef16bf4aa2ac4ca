"""Whether there is more to do than can be done: then some is refused at once, so that the rest is done in time."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Final

_LOOKED_AT_EVERY: Final = 16


class Pressure:
    """Looks whether a turn of the event loop has spent more than `turn_ms` of the processor's time on requests.

    With 0 it may. Each request is counted in `requests`; once that is more than `looked_at`, whether it `is_high` is to
    be asked. `shed` counts the requests that were refused for it.
    """

    def __init__(self, turn_ms: int) -> None:
        self._turn_seconds = turn_ms / 1000 or math.inf
        self._begun = 0.0
        self.requests = 0
        self.looked_at = 0
        self.shed = 0

    def is_high(self) -> bool:
        """Tell whether this turn has gone on for too long."""
        if not self.looked_at:
            self._begun = time.thread_time()
            asyncio.get_running_loop().call_soon(self._end)
        elif time.thread_time() - self._begun > self._turn_seconds:
            self.shed += 1
            return True
        self.looked_at = self.requests + _LOOKED_AT_EVERY - 1
        return False

    def _end(self) -> None:
        self.requests = self.looked_at = 0
