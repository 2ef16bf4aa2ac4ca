"""The server's own clock: milliseconds during which a server was running, counted on across restarts.

Everything that a room measures (clocks, holds, ages) is in this time. It never jumps with the wall clock, and time
without a server does not exist in it, so an outage of any length is charged to nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from tictactoe_server.stores import Notes

_KEY: Final = "served-ms"
_NOTE_SECONDS: Final = 0.5


class ServedTime:
    """Call it for the time in ms; `resume` it from the store's notes before use, and let `keep` run beside the server.

    After a crash it goes on from the last half second that was noted. `monotonic_ns` is the clock that it counts on.
    """

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._origin_ns = monotonic_ns()

    def __call__(self) -> int:
        """Return the time in ms."""
        return (self._monotonic_ns() - self._origin_ns) // 1_000_000

    async def resume(self, notes: Notes) -> None:
        """Go on where the last server stopped; raises `StoreUnavailable`."""
        noted = await notes.noted(_KEY)
        if noted is not None:
            self._origin_ns = self._monotonic_ns() - int(noted) * 1_000_000

    async def keep(self, notes: Notes) -> None:
        """Note the time twice a second until cancelled, and once more then."""
        try:
            while True:
                notes.note(_KEY, str(self()).encode())
                await asyncio.sleep(_NOTE_SECONDS)
        finally:
            notes.note(_KEY, str(self()).encode())
