"""Scheduled actions on the event loop, background tasks, and notifications between parts of the server.

All actions share one timer. Due actions run in short slices, so that no request waits long for them.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, Generic, ParamSpec, TypeVar

import structlog

from tictactoe_server import clock

SLICE_SECONDS: Final = 0.004
SLICE_ITEMS: Final = 200  # the most actions in one slice
REST_SECONDS: Final = 0.006  # pause between slices, so that requests and the store's results can be processed

log: Final = structlog.get_logger(__name__)

Action = Callable[[], object]

Job = Callable[[], Coroutine[Any, Any, object]]
"""Returns the coroutine of a background task, which the server cancels when it stops."""

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


class Scheduler:
    """Runs actions at given times (s, as the event loop's clock).

    Actions cannot be cancelled: an action itself must check whether it still applies.
    """

    def __init__(self) -> None:
        self._later: list[tuple[float, int, Action]] = []
        self._numbers = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._now: deque[Action] = deque()
        self._working: asyncio.Handle | None = None
        self.is_stopped = False

    def at(self, moment: float, action: Action) -> None:
        heapq.heappush(self._later, (moment, next(self._numbers), action))
        if self._later[0][0] == moment:
            self._set_timer()

    def after(self, seconds: float, action: Action) -> None:
        self.at(asyncio.get_running_loop().time() + seconds, action)

    def soon(self, action: Action) -> None:
        """Run an action in the next slice that has time for it."""
        self._now.append(action)
        if self._working is None:
            self._working = asyncio.get_running_loop().call_soon(self._work)

    def stop(self) -> None:
        self.is_stopped = True
        for handle in (self._timer, self._working):
            if handle is not None:
                handle.cancel()
        self._later.clear()
        self._now.clear()

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(self._later[0][0], self._ring) if self._later else None

    def _ring(self) -> None:
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0][0] <= now:
            self.soon(heapq.heappop(self._later)[2])
        self._set_timer()

    def _work(self) -> None:
        self._working = None
        until = clock.monotonic() + SLICE_SECONDS
        for _ in range(min(len(self._now), SLICE_ITEMS)):
            try:
                self._now.popleft()()
            except Exception:
                log.exception("scheduled task failed")
            if clock.monotonic() > until:
                break
        if self._now:
            self._working = asyncio.get_running_loop().call_later(REST_SECONDS, self._work)


async def every(seconds: float, action: Action) -> None:
    while True:
        await asyncio.sleep(seconds)
        action()


class Tasks(dict[asyncio.Task[Any], None]):
    """The running background tasks, in the order of their start."""

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.create_task(work)
        self[task] = None
        task.add_done_callback(self.pop)
        return task

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        for task in self:
            task.cancel()
        await asyncio.gather(*self, return_exceptions=True)


async def wait_for(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until an event is set, for at most `seconds` or without a limit; return whether it is set."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Poll `is_so` until it returns True; return False if it does not within `seconds`."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not is_so():
        if asyncio.get_running_loop().time() >= deadline:
            return False
        await asyncio.sleep(0.01)
    return True


class Listeners(Generic[Arguments]):
    """Functions that are called one after another, in the order of their addition.

    If a listener raises an exception, the exception is logged and the remaining listeners are still called.
    """

    def __init__(self) -> None:
        self._listeners: list[Callable[Arguments, object]] = []

    def add(self, listener: Callable[Arguments, object]) -> None:
        self._listeners.append(listener)

    def remove(self, listener: Callable[Arguments, object]) -> None:
        self._listeners.remove(listener)

    def __call__(self, *arguments: Arguments.args, **named: Arguments.kwargs) -> None:
        for listener in self._listeners:
            try:
                listener(*arguments, **named)
            except Exception:
                log.exception("listener failed")
