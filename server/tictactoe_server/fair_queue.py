"""A queue for handshakes, plain HTTP, and requests under load, which runs in short slices.

Addresses share the processing time fairly: work for an address that used little time runs before queued work for busier
addresses. Source: start-time fair queueing, Goyal, Vin and Cheng, 1996.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

from tictactoe_server import clock

WORK_SECONDS: Final = 0.0005  # processor time for work in one turn of the event loop
REST_SECONDS: Final = 0.001  # pause after each turn
SAVED_SECONDS: Final = 0.02  # the most unused time that an address can save up for a burst
MOST_USED: Final = 1_024  # addresses with a recorded use; beyond this number, quiet addresses are dropped
BEHIND_SECONDS: Final = 0.0005  # time that an address is charged in advance for each further piece of queued work


class FairQueue:
    """A queue of work by address. Work is a function without arguments."""

    def __init__(self, work_seconds: float = WORK_SECONDS, rest: Callable[[], float] = lambda: REST_SECONDS) -> None:
        self._work_seconds = work_seconds
        self._rest = rest
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._turns: list[tuple[float, int, str]] = []
        self._numbers = count()
        self._used: dict[str, float] = {}  # the virtual time (s) that each address has reached
        self._reached = 0.0  # the virtual time (s) of the address served last
        self._is_due = False

    def put(self, address: str, work: Callable[[], None], behind: int = 0) -> None:
        """Queue work behind the address's earlier work and before work for addresses that used more time.

        Args:
            behind: How much more work the address has queued elsewhere; addresses with less queued work come first.
        """
        works = self._waiting.setdefault(address, deque())
        works.append(work)
        if len(works) == 1:
            self._line_up(address, behind)
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._work)

    def _line_up(self, address: str, behind: int) -> None:
        used = max(self._reached - SAVED_SECONDS, self._used.get(address, -math.inf))
        self._used[address] = used
        heapq.heappush(self._turns, (used + behind * BEHIND_SECONDS, next(self._numbers), address))

    def _work(self) -> None:
        begun = clock.cpu()
        until = begun + self._work_seconds
        try:
            while self._turns and begun < until:
                address = heapq.heappop(self._turns)[2]
                self._reached = max(self._reached, self._used[address])
                works = self._waiting[address]
                try:
                    works[0]()
                finally:
                    ended = clock.cpu()
                    self._used[address] += ended - begun
                    begun = ended
                    works.popleft()
                    if works:
                        self._line_up(address, len(works) - 1)
                    else:
                        del self._waiting[address]
        finally:
            self._is_due = bool(self._turns)
            if self._is_due:
                asyncio.get_running_loop().call_later(self._rest(), self._work)
            else:
                self._used.clear()
            if len(self._used) > MOST_USED:
                late = self._reached - SAVED_SECONDS
                self._used = {one: used for one, used in self._used.items() if one in self._waiting or used > late}
