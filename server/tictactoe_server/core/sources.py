"""What comes from one address: how many messages may, who waits in line for that, and who was served most lately.

All who wait for the rate of their address stand in one line with one timer: a thousand of them cost no more than one.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol
from weakref import WeakValueDictionary

from tictactoe_server.transport.rate_limit import RateLimit, RateLimits

TURNS: Final = 200  # in how many turns of the event loop at least is carried out what may come at once from one address
HELLOS: Final = 4  # how many of those of one address that say hello at once are looked up or written down at a time
IN_LINE: Final = -1  # instead of how many ms to wait: until one's turn in the line of all from the same address
_FEW_MESSAGES: Final = 16
_SERVED_EVERY: Final = 0.01  # how often (s) a line is served at most that waits for the rate of its address
_LATELY_SECONDS: Final = 1.0


class Waiting(Protocol):
    """Who stands in line."""

    def take_turn(self) -> bool:
        """Take one message now, for which the address has room; returns whether there was one to take."""


class Source:
    """All who come from one address. `hellos` lets few of them in at a time.

    `served` counts what was carried out for them lately.
    """

    __slots__ = ("__weakref__", "_line", "_serving", "_sources", "_taken", "_turn", "hellos", "limit", "served")

    def __init__(self, sources: Sources, limit: RateLimit) -> None:
        self.limit = limit
        self.hellos = asyncio.Semaphore(HELLOS)
        self.served = 0
        self._sources = sources
        self._turn = self._taken = 0
        self._line: deque[Waiting] = deque()
        self._serving: asyncio.Handle | None = None

    def take(self, own: RateLimit) -> int:
        """Count one message of a session whose `own` limit this is, and return 0.

        Else nothing is counted, and so many ms are returned for which its own limit has it wait, or `IN_LINE`.
        """
        wait = own.take()
        if wait:
            return wait
        if self._turn == self._sources.turn:
            self._taken += 1
        else:
            self._turn, self._taken = self._sources.turn, 1
        if self._line or self._taken > self._sources.most_a_turn or self.limit.take():
            own.give_back()
            return IN_LINE
        return 0

    def line_up(self, waiting: Waiting) -> None:
        """Let one wait who is not in line yet, until `take_turn` is called."""
        self._line.append(waiting)
        if self._serving is None:
            self._serve_later()

    def _serve(self) -> None:
        """Give a turn to those who came first, as far as the limit goes; who has more to say lines up again."""
        self._serving = None
        if self._turn != self._sources.turn:
            self._turn, self._taken = self._sources.turn, 0
        while self._line and self._taken < self._sources.most_a_turn and not self.limit.take():
            self._taken += 1
            if not self._line.popleft().take_turn():
                self.limit.give_back()
        if self._line and self._serving is None:
            self._serve_later()

    def _serve_later(self) -> None:
        loop, wait = asyncio.get_running_loop(), self.limit.wait()
        if wait:
            self._serving = loop.call_later(max(_SERVED_EVERY, wait / 1000), self._serve)
        else:
            self._serving = loop.call_soon(self._serve)


class Sources:
    """The sources by their addresses; their limits outlive the connections. Let `keep` run beside the server.

    `served` counts what was carried out lately for all; `turn` is another number in each turn of the event loop,
    in which `most_a_turn` are carried out for each.
    """

    def __init__(self, times: int, window_ms: float, monotonic_ns: Callable[[], int]) -> None:
        self.limits = RateLimits(times, window_ms, monotonic_ns)
        self.most_a_turn = max(_FEW_MESSAGES, times // TURNS) if times else math.inf
        self.served = self.turn = 0
        self._active = 1
        self._sources: WeakValueDictionary[str, Source] = WeakValueDictionary()

    def of(self, address: str) -> Source:
        """Return all who come from an address."""
        source = self._sources.get(address)
        if source is None:
            source = self._sources[address] = Source(self, self.limits.of(address))
        return source

    def is_heavy(self, source: Source, excess: float) -> bool:
        """Tell whether a source was served as much as all are on the average, or less where the excess is above 2."""
        return source.served * self._active * max(1.0, excess - 1) >= self.served

    async def keep(self) -> None:
        """Forget half of what was served each second, until cancelled."""
        while True:
            await asyncio.sleep(_LATELY_SECONDS)
            self.fade()

    def fade(self) -> None:
        """Forget half of what was served."""
        self.served, active = 0, 0
        for source in list(self._sources.values()):
            source.served //= 2
            self.served += source.served
            active += source.served > 0
        self._active = max(1, active)
