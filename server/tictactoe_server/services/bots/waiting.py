"""What waits for a worker: the more urgent first, and of the same urgency who came first."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any, Generic

from tictactoe_server.services.bots.worker import Answer


class Priority(IntEnum):
    """How urgent a question is, the most urgent first."""

    TABLE = 0
    """Solved once, in milliseconds, and several may wait for it."""
    PERSON = 1
    """A person at the table waits for the bot."""
    REVIEW = 2
    """A person wants to know what a position is worth."""
    HOUSE = 3
    """Bots are among themselves."""


@dataclass(slots=True, eq=False)
class Job(Generic[Answer]):
    """A question to a worker, which may think for so many seconds; `deadline` is on the loop's clock, or infinite.

    The `answer` is None where none was to be had.
    """

    question: partial[Answer]
    priority: Priority
    seconds: float
    deadline: float
    answer: asyncio.Future[Answer | None]
    has_lost_worker: bool = False

    def settle(self, answer: Answer | None) -> None:
        """Give the answer to whoever still waits for it."""
        if not self.answer.done():
            self.answer.set_result(answer)


class Waiting:
    """The jobs that no worker has taken yet."""

    def __init__(self) -> None:
        self._jobs: dict[Priority, deque[Job[Any]]] = {priority: deque() for priority in Priority}
        self._takers: list[asyncio.Future[None]] = []

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values()))

    def behind(self, job: Job[Any]) -> Iterable[Job[Any]]:
        """Return the jobs that wait for their turn after one that was just taken and is as urgent."""
        return self._jobs[job.priority]

    def put(self, job: Job[Any], *, first: bool = False) -> None:
        """Let a job wait behind those of its priority, or before them."""
        line = self._jobs[job.priority]
        if first:
            line.appendleft(job)
        else:
            line.append(job)
        while self._takers:
            taker = self._takers.pop()
            if not taker.done():
                taker.set_result(None)
                break

    async def take(self) -> Job[Any]:
        """Return the job whose turn it is; of several takers the latest is served, so that others need not run."""
        while (line := next(filter(None, self._jobs.values()), None)) is None:
            taker = asyncio.get_running_loop().create_future()
            self._takers.append(taker)
            await taker
        return line.popleft()

    def drop(self, job: Job[Any]) -> None:
        """Forget a job that nobody waits for any more."""
        with contextlib.suppress(ValueError):
            self._jobs[job.priority].remove(job)

    def give_up(self) -> None:
        """Settle all jobs without an answer."""
        for line in self._jobs.values():
            while line:
                line.popleft().settle(None)
