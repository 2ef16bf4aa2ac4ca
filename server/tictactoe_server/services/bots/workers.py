"""The processes that think, and what waits for them: the more urgent first, and of the same urgency what came first.

Each question is held to its deadline: the more wait, the less time each of them gets, and whose turn does not come in
time gets no answer. Workers are started when they are needed, and again after a pause where that fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from bisect import insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from itertools import count, takewhile
from operator import attrgetter
from typing import Any, Final, Generic

import structlog

from tictactoe_engine.search import Budget
from tictactoe_server.services.bots.worker import Answer, NotStarted, Worker, WorkerLost

_LEAST_SECONDS: Final = 0.02
_SHARE_OF_DEADLINE: Final = 0.85

_FIRST_REST_SECONDS: Final = 0.5
_LONGEST_REST_SECONDS: Final = 30.0
"""How long a worker that could not be started is left alone: twice as long each time, up to this."""

log = structlog.get_logger(__name__)

Question = Callable[[Budget], partial[Answer]]
"""Returns the call of the engine that answers the question within a budget."""


class Priority(IntEnum):
    """How urgent a question is, the most urgent first."""

    TABLE = 0
    """Solved once, in milliseconds, and several may wait for it."""
    PERSON = 1
    """A person at the table waits for the bot."""
    REVIEW = 2
    """A person wants to know what a position is worth."""
    BOTS = 3
    """Bots are among themselves."""


@dataclass(slots=True, eq=False)
class Job(Generic[Answer]):
    """A question to a worker, which may think for so many seconds; `deadline` is on the loop's clock, or infinite.

    Its `turn` is its priority, and its number among all. The `answer` is None where none was to be had.
    """

    question: Question[Answer]
    turn: tuple[Priority, int]
    seconds: float
    deadline: float
    answer: asyncio.Future[Answer | None]
    has_lost_worker: bool = False

    def settle(self, answer: Answer | None = None) -> None:
        """Give the answer to whoever still waits for it."""
        if not self.answer.done():
            self.answer.set_result(answer)


class Workers:
    """So many processes, which `command` starts. Of those that are idle the latest is used, so that few need to run."""

    def __init__(self, size: int, command: Sequence[str]) -> None:
        self._workers = [Worker(command) for _ in range(size)]
        self._idle = [*self._workers]
        self._waiting: list[Job[Any]] = []
        self._numbers = count()
        self._serving: set[asyncio.Task[None]] = set()
        self._rest_seconds: dict[Worker, float] = {}
        self._resting = 0
        self._is_closed = False

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The ids of the processes that run now."""
        return tuple(worker.pid for worker in self._workers if worker.pid is not None)

    @property
    def waiting(self) -> int:
        """How many questions wait for a worker."""
        return len(self._waiting)

    async def ask(self, question: Question[Answer], priority: Priority, seconds: float, within: float) -> Answer | None:
        """Return a worker's answer after up to so many seconds of its own, or None where none comes `within` others."""
        if self._is_helpless:
            return None
        loop = asyncio.get_running_loop()
        turn = priority, next(self._numbers)
        job = Job(question, turn, seconds, loop.time() + within, loop.create_future())
        self._put(job)
        try:
            async with asyncio.timeout(within):
                return await job.answer
        except TimeoutError:
            return None
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(job)

    async def close(self) -> None:
        """End all workers; who still waits for one goes without an answer, and so does who asks later."""
        self._is_closed = True
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        self._give_up()
        await asyncio.gather(*(worker.stop() for worker in self._workers))

    @property
    def _is_helpless(self) -> bool:
        """Whether no process runs, and none could be started just now."""
        return self._is_closed or (self._resting > 0 and not self.process_ids)

    def _put(self, job: Job[Any]) -> None:
        """Let a job wait for its turn, and begin with what waits where a worker is idle."""
        insort(self._waiting, job, key=attrgetter("turn"))
        if self._idle:
            task = asyncio.create_task(self._serve(self._idle.pop()))
            self._serving.add(task)
            task.add_done_callback(self._serving.discard)

    def _give_up(self) -> None:
        """Let all that wait go without an answer."""
        while self._waiting:
            self._waiting.pop().settle()

    async def _serve(self, worker: Worker) -> None:
        """Let a worker answer what waits until nothing does; it is started when it is first needed."""
        while self._waiting:
            job = self._waiting.pop(0)
            try:
                await self._carry_out(job, worker)
            except NotStarted as error:
                await self._rest(job, worker, error)
            except TimeoutError:
                log.warning("bot worker lost", reason="late")
                job.settle()
            except WorkerLost as lost:
                log.warning("bot worker lost", reason=str(lost))
                if job.has_lost_worker:
                    job.settle()
                else:
                    job.has_lost_worker = True
                    self._put(job)
            except asyncio.CancelledError:
                job.settle()
                raise
            except Exception:
                log.exception("a bot's question came to nothing")
                job.settle()
        self._idle.append(worker)

    async def _carry_out(self, job: Job[Any], worker: Worker) -> None:
        """Have the job answered, so soon that those behind it can be answered in their time where that is possible."""
        if worker.pid is None:
            await worker.start()
            self._rest_seconds.pop(worker, None)
        now, workers = asyncio.get_running_loop().time(), len(self._workers)
        left = job.deadline - now
        if left < _LEAST_SECONDS or job.answer.done():
            job.settle()
            return
        behind = takewhile(lambda other: other.turn[0] is job.turn[0], self._waiting)
        shares = ((other.deadline - now) * workers / place for place, other in enumerate(behind, workers + 1))
        seconds = min(job.seconds, max(_LEAST_SECONDS, min((left, *shares)))) * _SHARE_OF_DEADLINE
        question = job.question(Budget(seconds=seconds, clock=time.monotonic))
        job.settle(await worker.answer(question, seconds))

    async def _rest(self, job: Job[Any], worker: Worker, error: NotStarted) -> None:
        """Leave a worker alone that could not be started; the job is another one's, or nobody's where none runs."""
        seconds = self._rest_seconds.get(worker, _FIRST_REST_SECONDS)
        self._rest_seconds[worker] = min(2 * seconds, _LONGEST_REST_SECONDS)
        log.warning("bot worker not started", reason=str(error), again_in_seconds=seconds)
        self._resting += 1
        try:
            self._put(job)
            if self._is_helpless:
                self._give_up()
            await asyncio.sleep(seconds)
        finally:
            self._resting -= 1
