"""What is asked by all from one address, and whether all ask for more than can be done: then some is refused at once.

All who wait for the rate of their address stand in one line with one timer: a thousand of them cost no more than one.
Too much to do shows in two ways. Many ask at once: a turn of the event loop takes long. Or each of them asks for more
than is done for it: then requests wait in their sessions, and the event loop never comes to rest.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Final
from weakref import WeakValueDictionary

from tictactoe_server.settings import Limits
from tictactoe_server.transport.rate_limit import RateLimit, RateLimits, take_both

TURNS: Final = 200  # in how many turns of the event loop at least is carried out what may come at once from one address
HELLOS: Final = 4  # how many of those of one address that say hello at once are looked up or written down at a time
IN_LINE: Final = -1  # instead of how many ms to wait: until one's turn in the line of all from the same address
LATE_MS: Final = 100  # how long a request may wait behind another of its session where the server never rests

_FEW_MESSAGES: Final = 16
_SERVED_EVERY: Final = 0.01  # how often (s) a line is served at most that waits for the rate of its address
_LATELY_SECONDS: Final = 1.0
_LOOKED_AT_EVERY: Final = 16
_WINDOW_SECONDS: Final = 0.1
_LONG_TURN: Final = 0.25  # from which part of a turn on only the time counts that the kernel says this thread had
_LITTLE_REST: Final = 0.2  # how much of a window is rest where the server still has time for everything


class Source:
    """All who come from one address. `hellos` lets few of them in at a time.

    `served` counts what was carried out for them lately.
    """

    __slots__ = ("__weakref__", "_line", "_pressure", "_serving", "_taken", "_turn", "hellos", "limit", "served")

    def __init__(self, pressure: Pressure, limit: RateLimit) -> None:
        self.limit = limit
        self.hellos = asyncio.Semaphore(HELLOS)
        self.served = 0
        self._pressure = pressure
        self._turn = self._taken = 0
        self._line: deque[Callable[[], bool]] = deque()
        self._serving: asyncio.Handle | None = None

    def take(self, own: RateLimit) -> int:
        """Count one message of a session whose `own` limit this is, and return 0.

        Else nothing is counted, and so many ms are returned for which its own limit has it wait, or `IN_LINE`.
        """
        pressure = self._pressure
        if self._turn != pressure.turn:
            self._turn, self._taken = pressure.turn, 0
        if self._line or self._taken >= pressure.most_a_turn:
            return own.wait() or IN_LINE
        wait, for_address = take_both(own, self.limit)
        self._taken += not wait  # what a session's own limit holds back takes nothing from the others
        return wait or (IN_LINE if for_address else 0)

    def line_up(self, take_turn: Callable[[], bool]) -> None:
        """Let one wait who is not in line yet, until `take_turn` is called once the address has room for a message.

        It returns whether there was one to take.
        """
        self._line.append(take_turn)
        if self._serving is None:
            self._serve_later()

    def _serve(self) -> None:
        """Give a turn to those who came first, as far as the limit goes; who has more to say lines up again."""
        self._serving = None
        if self._turn != self._pressure.turn:
            self._turn, self._taken = self._pressure.turn, 0
        while self._line and self._taken < self._pressure.most_a_turn and not self.limit.take():
            self._taken += 1
            if not self._line.popleft()():
                self.limit.give_back()
        if self._line and self._serving is None:
            self._serve_later()

    def _serve_later(self) -> None:
        loop, wait = asyncio.get_running_loop(), self.limit.wait()
        if wait:
            self._serving = loop.call_later(max(_SERVED_EVERY, wait / 1000), self._serve)
        else:
            self._serving = loop.call_soon(self._serve)


class Pressure:
    """All sources by their addresses, and whether a turn has spent more than its time on what they ask for.

    The time is `turn_milliseconds` of the processor's; with 0 it has any, and no request is too late. Each request is
    counted in `requests`; once that is more than `looked_at`, it is to `look`. `excess` is how often the time has
    passed in this turn: above 1, requests of heavy sources are refused, which `shed` counts. The server `is_restless`
    where it had hardly any time without work lately, which is measured only while requests wait: what a thread has had
    of the processor is the kernel's to say.

    The `rates` of the sources outlive their connections. `served` counts what was carried out lately for all; `turn` is
    another number in each turn of the event loop, in which `most_a_turn` are carried out for each source. Let `keep`
    run beside the server.
    """

    def __init__(self, limits: Limits, monotonic_ns: Callable[[], int]) -> None:
        per_second, at_once = limits.messages_per_second_per_address, limits.messages_at_once_per_address
        self.rates = RateLimits(per_second, 1_000, monotonic_ns, max(1, at_once))
        self.most_a_turn = max(_FEW_MESSAGES, at_once // TURNS) if per_second else math.inf
        self.requests = self.looked_at = self.shed = self.served = self.turn = 0
        self.excess = 0.0
        self.is_restless = False
        self._active = 1
        self._sources: WeakValueDictionary[str, Source] = WeakValueDictionary()
        self._turn_seconds = limits.turn_milliseconds / 1000 or math.inf
        self._began = 0.0
        self._counted_from: float | None = None
        self._window = time.perf_counter(), time.thread_time()

    def of(self, address: str) -> Source:
        """Return all who come from an address."""
        source = self._sources.get(address)
        if source is None:
            source = self._sources[address] = Source(self, self.rates[address])
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
        sources = list(self._sources.values())
        for source in sources:
            source.served //= 2
        self.served = sum(source.served for source in sources)
        self._active = max(1, sum(source.served > 0 for source in sources))

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
        self.turn += 1
