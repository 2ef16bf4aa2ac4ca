"""What may wait: handshakes, plain HTTP, and requests where there is much to do. It is done a little at a time.

Addresses have equal shares of the time: who uses little of it comes before what those have waiting who ask much.
Source: start-time fair queueing, Goyal, Vin and Cheng, 1996.
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

WORK_SECONDS: Final = 0.0005  # how long it usually may work in one turn of the event loop; one thing is done at least
REST_SECONDS: Final = 0.001  # how long it rests after that
SAVED_SECONDS: Final = 0.02  # how much of its share an address that asked little may use at once
MOST_USED: Final = 1_024  # of how many addresses it is known how much they used, before some are forgotten
BEHIND_SECONDS: Final = 0.0005  # how much of its share counts as used for each thing that waits at an address


class FairQueue:
    """Work that waits for its turn, by the addresses for which it is done."""

    def __init__(self, work_seconds: float = WORK_SECONDS, rest_seconds: float = REST_SECONDS) -> None:
        self._work_seconds, self._rest_seconds = work_seconds, rest_seconds
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._turns: list[tuple[float, int, str]] = []
        self._numbers = count()
        self._used: dict[str, float] = {}  # up to where each address has used its share of the time (s)
        self._reached = 0.0  # where the share of the one is used up whose turn it is
        self._is_due = False

    def put(self, address: str, work: Callable[[], None], behind: int = 0) -> None:
        """Do something soon: after what waits for that address, and before what waits for who used more of the time.

        So many more wait `behind` it at its address, which lets others go before it that have fewer.
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
                asyncio.get_running_loop().call_later(self._rest_seconds, self._work)
            else:
                self._used.clear()
            if len(self._used) > MOST_USED:  # who has used little may be forgotten
                late = self._reached - SAVED_SECONDS
                self._used = {one: used for one, used in self._used.items() if one in self._waiting or used > late}
