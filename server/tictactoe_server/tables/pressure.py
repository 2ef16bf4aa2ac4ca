"""Whether there is more to do than can be done: then some is refused at once, so that the rest is done in time."""

from __future__ import annotations

import asyncio
import time
from typing import Final

TURN_SECONDS: Final = 0.08
"""How long one turn of the event loop may carry out requests: who waits for the next turn waits as long again."""


class Pressure:
    """Looks how long a turn of the event loop has been carrying out requests. `shed` counts those that were refused."""

    def __init__(self) -> None:
        self._ends = 0.0
        self._has_begun = False
        self.shed = 0

    def is_high(self) -> bool:
        """Tell whether this turn has gone on for too long; called with each request."""
        if self._has_begun:
            return time.monotonic() > self._ends
        self._has_begun = True
        self._ends = time.monotonic() + TURN_SECONDS
        asyncio.get_running_loop().call_soon(self._end)
        return False

    def _end(self) -> None:
        self._has_begun = False
