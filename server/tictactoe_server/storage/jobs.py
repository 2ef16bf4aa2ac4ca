"""What the event loop hands to the store's thread, and how those who wait for it are told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

import structlog

from tictactoe_server.storage.database import Database
from tictactoe_server.storage.store import Pending, Waiter

log: Final = structlog.get_logger(__name__)


class Save(NamedTuple):
    """A room to be kept, or to be forgotten where there is no document, and a game that is `finished` by that."""

    code: str
    document: bytes | None
    expected_revision: int | None
    waiter: Waiter
    finished: Any = None


class Write(NamedTuple):
    """A write of anything but a room. `write` returns what the waiter is told, None for a conflict; it may rerun."""

    key: str
    write: Callable[[Database], Any]
    waiter: Waiter
    finished: Any = None


class Question(NamedTuple):
    """What is asked of the database and its journal; `ask` raises SQLite's errors, or `Unreadable`."""

    ask: Callable[..., Any]
    waiter: Pending


Job = Save | Write | Question


class Batch:
    """Jobs that are done together, and what became of each."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.outcomes: Sequence[Any] = ()
        self.is_abandoned = False

    def fail(self, error: Exception) -> None:
        self.outcomes = [error] * len(self.jobs)

    def settle(self) -> None:
        """Tell those who wait, unless they were told before."""
        if self.is_abandoned:
            return
        for job, outcome in zip(self.jobs, self.outcomes, strict=True):
            try:
                if isinstance(outcome, Exception):
                    job.waiter.failed(outcome)
                else:
                    job.waiter.stored(outcome)
            except Exception:
                log.exception("what waited for the store failed")


def take(queue: deque[Job], count: int) -> list[Job]:
    """Take so many jobs out of the queue, in which others may reach at the same time."""
    jobs: list[Job] = []
    with suppress(IndexError):
        for _ in range(count):
            jobs.append(queue.popleft())
    return jobs
