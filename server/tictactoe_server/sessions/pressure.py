"""What is asked by all from one address, and whether all ask for more than can be done: then some is refused at once.

Once a turn of the event loop has taken a while, what comes then stands in lines, one for each address, which have equal
shares of the time and are served a little in each turn of the loop: so who asks for most waits longest. There wait all
for the rate of their address, too. Too much to do shows in two ways. Many ask at once: a turn of the event loop takes
long. Or each of them asks for more than is done for it: then requests wait, and the event loop never comes to rest.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from tictactoe_server import clock
from tictactoe_server.settings import Limits
from tictactoe_server.transport.fair_queue import FairQueue
from tictactoe_server.transport.rate_limit import RateLimit, RateLimits, take_both

HELLOS: Final = 4  # how many of those of one address that say hello at once are looked up or written down at a time
IN_LINE: Final = -1  # instead of how many ms to wait: until one's turn in the line of all from the same address
LATE_MS: Final = 120  # how long a request may wait behind another of its session where the server never rests
SHARE_SECONDS: Final = 0.0007
"""How long requests are carried out in a turn of the loop until the next ones wait, and how long lines are served."""

_REST_SECONDS: Final = 0.0003  # how long they rest then
_FEW_MESSAGES: Final = 16
_SERVED_EVERY: Final = 0.01  # how often (s) a line is served at most that waits for the rate of its address
LATELY_SECONDS: Final = 1.0
_LOOKED_AT_EVERY: Final = 8
_WINDOW_SECONDS: Final = 0.1
_LONG_TURN: Final = 0.25  # from which part of a turn on only the time counts that the kernel says this thread had
_LITTLE_REST: Final = 0.2  # how much of a window is rest where the server still has time for everything


class Source:
    """All who come from one address. `hellos` lets few of them in at a time.

    `asked` counts what came from them lately, and `bad` what of it could not be read, which counts as several there.
    """

    def __init__(self, pressure: Pressure, address: str) -> None:
        self.limit = pressure.rates[address]
        self.hellos = asyncio.Semaphore(HELLOS)
        self.asked = self.bad = 0
        self.pressure = pressure
        self.address = address
        self._line: deque[Callable[[], bool]] = deque()
        self._is_due = False

    @property
    def is_mostly_bad(self) -> bool:
        """Whether most recent messages of this source were unreadable."""
        return self.bad > _FEW_MESSAGES and 2 * self.bad > self.asked - self.bad * (self.pressure.bad_count - 1)

    def count_bad(self) -> None:
        """Count an unreadable message as several, even beyond the limit."""
        more = self.pressure.bad_count - 1
        self.bad += 1
        self.asked += more
        self.pressure.asked += more
        self.limit.spend(more)

    def take(self, own: RateLimit) -> int:
        """Count one message of a session whose `own` limit this is, and return 0.

        Else nothing is counted, and so many ms are returned for which its own limit has it wait, or `IN_LINE`.
        """
        if self._line or self.pressure.is_full:
            return own.wait() or IN_LINE
        wait, for_address = take_both(own, self.limit)
        return wait or (IN_LINE if for_address else 0)

    def line_up(self, take_turn: Callable[[], bool]) -> None:
        """Let one wait who is not in line yet, until `take_turn` is called once the address has room for a message.

        It returns whether there was one to take.
        """
        self._line.append(take_turn)
        if not self._is_due:
            self._serve_later()

    def _serve(self) -> None:
        """Give a turn to the first in line, if the limit allows; it queues again if it has more."""
        self._is_due = False
        if not self.limit.take() and not self._line.popleft()():
            self.limit.give_back()
        if self._line and not self._is_due:
            self._serve_later()

    def _serve_later(self) -> None:
        self._is_due = True
        if wait := self.limit.wait():
            asyncio.get_running_loop().call_later(max(_SERVED_EVERY, wait / 1000), self._queue_up)
        else:
            self._queue_up()

    def _queue_up(self) -> None:
        self.pressure.lines.put(self.address, self._serve, len(self._line) - 1)


class Pressure:
    """All sources by their addresses, and whether a turn has spent more than its time on what they ask for.

    The time is `turn_milliseconds` of the processor's; with 0 it has any, and no request is too late. Each request is
    counted in `requests`; once that is more than `looked_at`, it is to `measure_turn`. A turn `is_full` after
    `SHARE_SECONDS` where there are several sources, and their `lines` go on in the next. `excess` is how often the time
    has passed in this turn: above 1, requests of heavy sources are refused, which `shed` counts. The server
    `is_restless` where it had hardly any time without work lately, which is measured only while requests wait.

    The `rates` of the sources outlive their connections; of those `of_a_session` each session has one of its own.
    Limits go by `monotonic_ns`, and who says too much for `flood_seconds` is closed.

    `asked` counts what came lately from all, of which one that cannot be read is `bad_count`.
    """

    def __init__(self, limits: Limits, monotonic_ns: Callable[[], int]) -> None:
        named = partial(RateLimits.named, limits, monotonic_ns)
        self.rates = named("messages-per-second-per-address")
        self.of_a_session = named("messages-per-second"), named("bad-messages-per-ten-seconds")
        self.flood_seconds, self.monotonic_ns = limits.flood_seconds, monotonic_ns
        self.bad_count = max(1, limits.messages_for_a_bad_one)
        self.lines = FairQueue(SHARE_SECONDS, _REST_SECONDS)
        self.requests = self.looked_at = self.shed = self.asked = 0
        self.excess = 0.0
        self.is_full = self.is_restless = False
        self._active = 0
        self._sources: WeakValueDictionary[str, Source] = WeakValueDictionary()
        self._turn_seconds = limits.turn_milliseconds / 1000 or math.inf
        self._began = 0.0
        self._counted_from: float | None = None
        self._window = clock.monotonic(), clock.cpu()

    def of(self, address: str) -> Source:
        source = self._sources.get(address)
        if source is None:
            source = self._sources[address] = Source(self, address)
            self._active += 1
        return source

    def count(self, source: Source) -> None:
        """Count a request, and measure the length of this turn now and then."""
        source.asked += 1
        self.asked += 1
        self.requests += 1
        if self.requests > self.looked_at:
            self.measure_turn()

    def is_heavy(self, source: Source, *, is_late: bool = False) -> bool:
        """Return whether a source asked for more than the average, or half of that if the loop is late."""
        return source.asked * self._active * max(1.0 + is_late, self.excess - 1) >= self.asked

    def fade(self) -> None:
        """Halve all counts; called every `LATELY_SECONDS`."""
        sources = list(self._sources.values())
        for source in sources:
            source.asked //= 2
            source.bad //= 2
        self.asked = sum(source.asked for source in sources)
        self._active = max(1, sum(source.asked > 0 for source in sources))

    def measure_turn(self) -> None:
        now = clock.monotonic()
        if not self.looked_at:
            self._began, self._counted_from = now, None
            asyncio.get_running_loop().call_soon(self._end)
        spent = now - self._began
        if spent > self._turn_seconds * _LONG_TURN:  # from here on others may have had the processor, too
            working = clock.cpu()
            if self._counted_from is None:
                self._counted_from = working - self._turn_seconds * _LONG_TURN
            spent = working - self._counted_from
        self.is_full = spent > SHARE_SECONDS and self._active > 1
        self.excess = spent / self._turn_seconds
        self.looked_at = self.requests + _LOOKED_AT_EVERY - 1

    def is_too_late(self, waited_ms: int) -> bool:
        """Return whether a request has waited too long behind others of its session under overload."""
        return self.is_restless and waited_ms > LATE_MS

    def measure(self) -> None:
        """Measure for how much of the time since the last waiting request the thread worked."""
        now, (then, worked) = clock.monotonic(), self._window
        if now - then > _WINDOW_SECONDS and self._turn_seconds < math.inf:
            working = clock.cpu()
            self.is_restless = working - worked > (1 - _LITTLE_REST) * (now - then)
            self._window = now, working

    def _end(self) -> None:
        self.requests = self.looked_at = 0
        self.excess = 0.0
        self.is_full = False
