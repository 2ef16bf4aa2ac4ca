"""A hanging test fails, and its report shows where each of its tasks waits.

pytest-timeout measures the time. Its own alarm shows only the event loop, rings only once (an event loop continues
after an exception in a callback), and lets a teardown hang after a failure. This alarm names the tasks and repeats
until the test has ended, teardown included. It never rings while pytest reports a failure: that would end the run.
"""

import asyncio
import signal
import traceback
from types import FrameType
from typing import Any, NoReturn

import pytest
from pytest_timeout import Settings

REPEATED_AFTER_SECONDS = 2.0
_settings = pytest.StashKey[Settings]()


def pytest_timeout_set_timer(item: pytest.Item, settings: Settings) -> bool:
    """Fail the test when its time is over, instead of pytest-timeout's own alarm."""
    item.stash[_settings] = settings

    def fail(_number: int, _frame: FrameType | None) -> NoReturn:
        pytest.fail(f"not over after {settings.timeout:g} s\n{waiting_tasks()}")

    signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, settings.timeout, REPEATED_AFTER_SECONDS)
    return True


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    """Stop the alarm at the end of a test, and while a failure is reported."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Stop the alarm as soon as a part of the test has failed, before its report is made."""
    if call.excinfo is not None:
        pytest_timeout_cancel_timer(item)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Give the teardown as much time as the test, even after a failure."""
    if item.stash.get(_settings, None):
        pytest_timeout_set_timer(item, item.stash[_settings])


def waiting_tasks() -> str:
    """Return the stack of each task of the running event loop, or an empty string without a loop."""
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:
        return ""
    return "\n".join(f"{task.get_name()} waits at\n{''.join(_stack(task.get_coro()))}" for task in tasks)


def _stack(awaited: Any) -> list[str]:
    """Return the lines of all coroutines that await each other; a task lists only its first coroutine."""
    lines = []
    while frame := getattr(awaited, "cr_frame", None):
        lines += traceback.format_stack(frame, limit=1)
        awaited = awaited.cr_await
    return lines
