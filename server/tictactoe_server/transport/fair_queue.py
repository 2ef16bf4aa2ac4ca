"""What may wait: handshakes, plain HTTP, and requests where there is much to do. It is done a little at a time.

So whoever asks much waits for it, and the others do not: what they ask for comes in between. Addresses take turns.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

WORK_SECONDS: Final = 0.0005  # how long it usually may work in one turn of the event loop; one thing is done at least
REST_SECONDS: Final = 0.001  # how long it rests after that


class FairQueue:
    """Work that waits for its turn, by the addresses for which it is done."""

    def __init__(self, work_seconds: float = WORK_SECONDS) -> None:
        self._work_seconds = work_seconds
        self._waiting: OrderedDict[str, deque[Callable[[], None]]] = OrderedDict()
        self._is_due = False

    def put(self, address: str, work: Callable[[], None]) -> None:
        """Do something soon: after what waits for that address, and in turn with what waits for others."""
        self._waiting.setdefault(address, deque()).append(work)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._work)

    def _work(self) -> None:
        until = time.perf_counter() + self._work_seconds
        try:
            while self._waiting and time.perf_counter() < until:
                address, works = self._waiting.popitem(last=False)
                work = works.popleft()
                if works:
                    self._waiting[address] = works
                work()
        finally:
            self._is_due = bool(self._waiting)
            if self._is_due:
                asyncio.get_running_loop().call_later(REST_SECONDS, self._work)
