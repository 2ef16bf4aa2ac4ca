"""Whether there is more to do than can be done: then some is refused at once, so that the rest is done in time."""

from __future__ import annotations

import asyncio
import time
from typing import Final

_LOOKED_AT_EVERY: Final = 16


class Pressure:
    """Looks whether a turn of the event loop has spent more than `turn_seconds` of the processor's time on requests.

    `shed` counts the requests that were refused for it.
    """

    def __init__(self, turn_seconds: float) -> None:
        self._turn_seconds = turn_seconds
        self._requests = 0
        self._begun = 0.0
        self._is_high = False
        self.shed = 0

    def is_high(self) -> bool:
        """Tell whether this turn has gone on for too long; called with each request."""
        self._requests += 1
        if self._requests == 1:
            self._begun = time.thread_time()
            asyncio.get_running_loop().call_soon(self._end)
        elif self._requests % _LOOKED_AT_EVERY == 0:
            self._is_high = time.thread_time() - self._begun > self._turn_seconds
        self.shed += self._is_high
        return self._is_high

    def _end(self) -> None:
        self._requests = 0
        self._is_high = False
