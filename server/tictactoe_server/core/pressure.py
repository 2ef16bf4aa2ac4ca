"""Overload: measures the load from each address, shares time fairly, and decides when requests are refused.

Once a turn of the event loop has spent `SHARE_SECONDS`, it is full: further messages are queued by address, as are
messages beyond an address's rate limit. Each turn serves the queues for a short time and with equal shares, so that the
heaviest address waits longest.

An address has players for `PLAYING_SECONDS` after each of its requests in a game. For `PERIOD_SECONDS` after a full
turn, or once addresses without players have spent `SHARE_SECONDS` in a turn, all messages from these addresses are
queued. Their queues get a third of the time, so that moves need not wait for them. The time for later steps of a
request counts, too.

Only a few requests at a time may wait for the store. Moves do not need such a place, and addresses that give way have
the fewest places. Requests wait for a place as long as it takes, since refusing them would cost about as much.

The server is overloaded if a turn of the event loop takes long because of many simultaneous requests, or if requests
wait behind others from the same session and the event loop never rests.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from tictactoe_server import clock
from tictactoe_server.fair_queue import FairQueue
from tictactoe_server.settings import Limits
from tictactoe_server.transport.rate_limit import RateLimit, RateLimits, consume_both

PLACES: Final = 8  # the most requests in progress that wait for the store
SLOW_PLACES: Final = 2  # further places, for addresses that give way
PLACES_OF_ADDRESS: Final = 4
PLACE_SECONDS: Final = 0.25  # after this time, a request in progress gives up its place
IN_LINE: Final = -1  # returned instead of the ms to wait: wait for the session's turn in the queue of its address
SHARE_SECONDS: Final = 0.0007  # time for requests in a turn of the event loop, and the same time for queues after it
_REST_SECONDS: Final = 0.0003  # pause between two shares for queues of addresses with players
_LONG_REST_SECONDS: Final = 0.0013  # shortest such pause for other queues, and pause for their places
PERIOD_SECONDS: Final = 0.003  # how long time is reserved for addresses with players after a full turn
PLAYING_SECONDS: Final = 300  # how long an address counts as having players after a request in a game
_FEW_MESSAGES: Final = 16
_NOTHING_SECONDS: Final = 1e-5  # a source is not active if its recent requests took less time
MANY_BAD: Final = 64  # after more unreadable messages than this, messages from an address may be refused undecoded
_SERVED_EVERY: Final = 0.01  # shortest time (s) between two messages from a queue that waits for its rate limit
LATELY_SECONDS: Final = 1.0
_LOOKED_AT_EVERY: Final = 8
_WINDOW_SECONDS: Final = 0.1
_LONG_TURN: Final = 0.25  # after this fraction of `turn_milliseconds`, only CPU time counts
_LITTLE_REST: Final = 0.2  # the event loop never rests if it is idle for less than this fraction of a window


class Place:
    """A place for a request in progress. It is freed by `leave`, at the latest after `PLACE_SECONDS`."""

    __slots__ = ("_free", "_rest_seconds", "_timer")

    def __init__(self, free: Callable[[], None], rest_seconds: float) -> None:
        self._free: Callable[[], None] | None = free
        self._rest_seconds = rest_seconds
        self._timer = asyncio.get_running_loop().call_later(PLACE_SECONDS, self.leave)

    def leave(self) -> None:
        """Free the place after its rest, and not before the next turn, so that short requests cannot fill a turn."""
        free, self._free = self._free, None
        if free is not None:
            self._timer.cancel()
            asyncio.get_running_loop().call_later(self._rest_seconds, free)


class Places:
    """Limits the requests in progress that wait for the store. Addresses take turns.

    Args:
        places: How many requests may be in progress.
        rest_seconds: How long each place stays empty after a request.

    Moves need no place, so at most `PLACES` other requests are ahead of a move, in the event loop and in the store.
    """

    def __init__(self, places: int, rest_seconds: float = 0.0) -> None:
        self._free = places
        self._rest_seconds = rest_seconds
        self._taken: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[Place]]] = {}  # by address, the next one first

    async def enter(self, address: str) -> Place:
        """Wait until it is the turn of an address, and return a place for its request."""
        if self._free and self._taken[address] < PLACES_OF_ADDRESS and address not in self._waiting:
            return self._occupy(address)
        turn: asyncio.Future[Place] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(address, deque()).append(turn)
        return await turn

    def _occupy(self, address: str) -> Place:
        self._free -= 1
        self._taken[address] += 1
        return Place(partial(self._leave, address), self._rest_seconds)

    def _leave(self, address: str) -> None:
        self._free += 1
        self._taken[address] -= 1
        if not self._taken[address]:
            del self._taken[address]
        while self._free and (free := self._next()) is not None:
            turns = self._waiting.pop(free)
            turn = turns.popleft()
            if turns:
                self._waiting[free] = turns  # behind the other addresses
            if not turn.done():
                turn.set_result(self._occupy(free))

    def _next(self) -> str | None:
        """Return the first waiting address below its limit, or None. At most `PLACES` addresses are skipped."""
        return next((address for address in self._waiting if self._taken[address] < PLACES_OF_ADDRESS), None)


class Source:
    """All connections from one address.

    Attributes:
        asked: The number of recent messages, counted only while `bad` is not 0.
        bad: The number of recent unreadable messages.
        playing_seconds: How much longer the address counts as having players.
        seconds: The time that recent requests took.
    """

    def __init__(self, pressure: Pressure, address: str) -> None:
        self.limit = pressure.rates[address]
        self.asked = self.bad = self.playing_seconds = 0
        self.seconds = 0.0
        self.pressure = pressure
        self.address = address
        self._line: deque[Callable[[], bool]] = deque()
        self._is_due = False

    @property
    def is_mostly_bad(self) -> bool:
        return self.bad > _FEW_MESSAGES and 2 * self.bad > self.asked

    @property
    def gives_way(self) -> bool:
        """Whether this address has no players while other addresses have players."""
        return not self.playing_seconds and bool(self.pressure.playing)

    @property
    def places(self) -> Places:
        return self.pressure.slow_places if self.gives_way else self.pressure.places

    def note_play(self) -> None:
        """Count the address as one with players for `PLAYING_SECONDS`, even if it has to reconnect."""
        self.playing_seconds = PLAYING_SECONDS
        self.pressure.playing.add(self)

    def count_bad(self) -> None:
        """Count an unreadable message as `Pressure.bad_count` messages, even beyond the rate limit."""
        self.bad += 1
        self.limit.spend(self.pressure.bad_count - 1)

    def consume(self, own: RateLimit) -> int:
        """Count a message from a session, and return 0 if it may be carried out now.

        Otherwise return the ms until the session's `own` limit allows it, or `IN_LINE` if the address has to wait for
        its turn. An address with players is queued only in a full turn, if it has taken at least the average time.
        """
        pressure = self.pressure
        has_to_wait = pressure.is_full or pressure.is_reserved
        if has_to_wait and self.playing_seconds:
            has_to_wait = pressure.is_full and pressure.is_heavy(self, has_priority=True)
        if self._line or has_to_wait:
            return own.wait() or IN_LINE
        wait, for_address = consume_both(own, self.limit)
        return wait or (IN_LINE if for_address else 0)

    def line_up(self, take_turn: Callable[[], bool]) -> None:
        """Queue a session. On its turn, `take_turn` is called; it returns True if it has taken a message."""
        self._line.append(take_turn)
        if not self._is_due:
            self._serve_later()

    def _serve(self) -> None:
        """Give the first session in line its turn, if the limit allows. A session with more messages queues again."""
        self._is_due = False
        if not self.limit.consume() and not self._line.popleft()():
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
        lines = self.pressure.slow_lines if self.gives_way else self.pressure.lines
        lines.put(self.address, self._serve, len(self._line) - 1)


class Pressure:
    """The sources by address, and the load of the current turn of the event loop.

    Attributes:
        rates: The rate limits by address, which outlive connections.
        of_a_session: Factories for a session's own rate limits: on messages, and on unreadable messages.
        flood_seconds: How long a session may exceed its limits before its connection is closed.
        bad_count: The number of messages that an unreadable message counts as.
        lines: The queues of sources with players, or of all sources if none has players.
        slow_lines: The queues of sources that give way.
        slow_places: The places for requests from sources that give way.
        requests: The number of requests in this turn.
        looked_at: The turn is measured again once there are more requests than this.
        shed: The number of requests refused because of overload.
        seconds: The time that recent requests of all sources took.
        excess: Time spent in this turn, in units of the configured `turn_milliseconds`; above 1, requests of heavy
            sources are refused.
        is_full: Whether the turn has spent `SHARE_SECONDS` and there are several active sources.
        is_reserved: Whether sources without players have to wait for the rest of a period of `PERIOD_SECONDS`.
        is_restless: Whether the event loop was hardly idle lately; measured only while requests wait.
    """

    def __init__(self, limits: Limits, monotonic_ns: Callable[[], int]) -> None:
        named = partial(RateLimits.named, limits, monotonic_ns)
        self.rates = named("messages-per-second-per-address")
        self.of_a_session = named("messages-per-second"), named("bad-messages-per-ten-seconds")
        self.flood_seconds, self.monotonic_ns = limits.flood_seconds, monotonic_ns
        self.bad_count = max(1, limits.messages_for_a_bad_one)
        self.lines = FairQueue(SHARE_SECONDS, lambda: _REST_SECONDS)
        self.slow_lines = FairQueue(SHARE_SECONDS, self._rest)
        self._spent_by_others = self._spent_in_turn = 0.0
        self.playing: set[Source] = set()
        self.places = Places(PLACES)
        self.slow_places = Places(SLOW_PLACES, _LONG_REST_SECONDS)
        self.requests = self.looked_at = self.shed = 0
        self.seconds = self.excess = 0.0
        self.is_full = self.is_reserved = self.is_restless = False
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

    def is_heavy(self, source: Source, *, is_late: bool = False, has_priority: bool = False) -> bool:
        """Return True if the recent requests from a source took too much time.

        The limit is the average of the active sources, or half of it if `is_late`. The longer the turn takes, the lower
        the limit. With priority, as for sessions in rooms, the limit is always the average.
        """
        share = 1.0 if has_priority else max(1.0 + is_late, self.excess - 1)
        return source.seconds * self._active * share >= self.seconds

    def fade(self) -> None:
        """Halve all counts. Called every `LATELY_SECONDS`."""
        sources = list(self._sources.values())
        for source in sources:
            source.asked //= 2
            source.bad //= 2
            source.seconds /= 2
            source.playing_seconds = max(0, source.playing_seconds - 1)
        self.playing = {source for source in self.playing if source.playing_seconds}
        self.seconds = sum(source.seconds for source in sources)
        self._active = max(1, sum(source.seconds > _NOTHING_SECONDS for source in sources))

    def measure_turn(self) -> float:
        """Measure how long this turn of the event loop has taken; return the current time (s, as `clock.monotonic`)."""
        now = clock.monotonic()
        if not self.looked_at:
            self._began, self._counted_from = now, None
            asyncio.get_running_loop().call_soon(self._end)
        spent = now - self._began
        if spent > self._turn_seconds * _LONG_TURN:  # other processes may have had the processor
            working = clock.cpu()
            if self._counted_from is None:
                self._counted_from = working - self._turn_seconds * _LONG_TURN
            spent = working - self._counted_from
        self.is_full = spent > SHARE_SECONDS and self._active > 1
        if self.is_full:
            self._reserve()
        self.excess = spent / self._turn_seconds
        self.looked_at = self.requests + _LOOKED_AT_EVERY - 1
        return now

    def measure(self) -> None:
        """Update `is_restless` from the CPU time since the last waiting request."""
        now, (then, worked) = clock.monotonic(), self._window
        if now - then > _WINDOW_SECONDS and self._turn_seconds < math.inf:
            working = clock.cpu()
            self.is_restless = working - worked > (1 - _LITTLE_REST) * (now - then)
            self._window = now, working

    def charge(self, source: Source, seconds: float) -> None:
        """Count the time that a request from a source, or a step of it, took."""
        source.seconds += seconds
        self.seconds += seconds
        if source.playing_seconds:
            return
        self._spent_by_others += seconds
        self._spent_in_turn += seconds
        if self._spent_in_turn > SHARE_SECONDS and self._active > 1:
            self._reserve()

    def _reserve(self) -> None:
        if self.playing and not self.is_reserved:
            self.is_reserved = True
            asyncio.get_running_loop().call_later(PERIOD_SECONDS, self._end_period)

    def _end_period(self) -> None:
        self.is_reserved = False

    def _rest(self) -> float:
        """Return the pause for the slow queues: twice the time that their requests took, including later steps."""
        spent, self._spent_by_others = self._spent_by_others, 0.0
        return max(_LONG_REST_SECONDS, 2 * spent)

    def _end(self) -> None:
        self.requests = self.looked_at = 0
        self.excess = self._spent_in_turn = 0.0
        self.is_full = False
