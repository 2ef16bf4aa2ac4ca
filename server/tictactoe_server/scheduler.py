"""Scheduled actions on the event loop, background tasks, and notifications between parts of the server.

Due actions run in short slices, so that no request waits long for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final, Generic, ParamSpec, TypeVar

import structlog

from tictactoe_server.fair_queue import FairQueue

SLICE_SECONDS: Final = 0.004  # processor time
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
        self._due = FairQueue(SLICE_SECONDS, lambda: REST_SECONDS)
        self.is_stopped = False

    def at(self, moment: float, action: Action) -> None:
        asyncio.get_running_loop().call_at(moment, self.soon, action)

    def after(self, seconds: float, action: Action) -> None:
        asyncio.get_running_loop().call_later(seconds, self.soon, action)

    def soon(self, action: Action) -> None:
        """Run an action in the next slice that has time for it."""
        self._due.put("", partial(self._run, action))

    def stop(self) -> None:
        self.is_stopped = True

    def _run(self, action: Action) -> None:
        if self.is_stopped:
            return
        try:
            action()
        except Exception:
            log.exception("scheduled task failed")


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
