"""Worker processes and their queue of questions, which is sorted by priority and then by time of arrival.

Each question has a deadline. The longer the queue, the less time each question gets, and a question that no worker has
begun in time gets no answer. Workers are started on demand. While no worker can be started, questions fail at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from itertools import count, takewhile
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog

from tictactoe_engine.search import Budget
from tictactoe_server import clock
from tictactoe_server.features.bots.thinking import LENGTH_BYTES, SEARCHES, encode
from tictactoe_server.scheduler import Tasks

COMMAND: Final = (sys.executable, "-P", str(Path(__file__).with_name("thinking.py")))
_START_SECONDS: Final = 10.0
_GRACE_SECONDS: Final = 0.5
_STOP_SECONDS: Final = 10.0  # a killed process ends sooner, unless the machine is overloaded
_LEAST_SECONDS: Final = 0.02
_SHARE_OF_DEADLINE: Final = 0.85

Answer = TypeVar("Answer")

log = structlog.get_logger(__name__)


class Priority(IntEnum):
    """The priority of a question, the most urgent first."""

    TABLE = 0  # solve a table, once and in milliseconds, often for several questions
    PERSON = 1  # a person is waiting for the bot
    REVIEW = 2  # analyse a position
    BOTS = 3  # no person is waiting


class WorkerLost(Exception):
    """The worker process died or was killed."""


class Worker:
    """A process that answers one question at a time and can be restarted.

    Attributes:
        pid: The process id, or None while the process is not ready.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: Process | None = None
        self.pid: int | None = None

    async def start(self) -> str:
        """Start the process, and return "" when it is ready or the reason why it does not get ready in ten seconds."""
        starting = asyncio.create_subprocess_exec(*self._command, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        try:
            async with asyncio.timeout(_START_SECONDS):
                self._process = await starting
                await self._exchange(b"")
        except Exception as error:
            return await self.stop() or str(error) or type(error).__name__
        self.pid = self._process.pid
        return ""

    async def answer(self, question: partial[Any], seconds: float) -> Any:
        """Return the worker's result of `question`, a call to the engine that should take up to `seconds`.

        Raises:
            WorkerLost: The process has died, or was half a second late and has been killed.
            RuntimeError: The call failed; the message is its traceback.
        """
        try:
            async with asyncio.timeout(seconds + _GRACE_SECONDS):
                is_found, answer = await self._exchange(encode(question))
        except Exception as error:
            raise WorkerLost(await self.stop() or type(error).__name__) from error
        if not is_found:
            raise RuntimeError(answer)
        return answer

    async def stop(self) -> str:
        """Kill the process, wait for its end, and return the last line of its standard error.

        If this call is cancelled, call it again to wait for the process.
        """
        process, self.pid = self._process, None
        if process is None or process.stdin is None:
            return ""
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.stdin.close()
        complaints = b""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                _, complaints = await process.communicate()
        self._process = None
        return complaints.decode(errors="replace").strip().rpartition("\n")[2]

    async def _exchange(self, question: bytes) -> Any:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(question)
        await process.stdin.drain()
        length = int.from_bytes(await process.stdout.readexactly(LENGTH_BYTES), "big")
        return pickle.loads(await process.stdout.readexactly(length))


@dataclass(slots=True, eq=False)
class Job:
    """A question in the queue of the worker pool.

    Attributes:
        question: A call to the engine. If it is a search, the worker pool adds a budget to it.
        turn: The priority and the number of the question, which determine its place in the queue.
        seconds: The longest time for the search.
        deadline: When the answer is due (s, as the event loop's clock), or infinity.
        answer: A future with the answer, or with None if there is no answer in time.
    """

    question: partial[Any]
    turn: tuple[Priority, int]
    seconds: float
    deadline: float
    answer: asyncio.Future[Any]

    def settle(self, answer: Any = None) -> None:
        if not self.answer.done():
            self.answer.set_result(answer)


class Workers:
    """A pool of worker processes. The most recently used idle process goes first, so that few processes are started."""

    def __init__(self, size: int, command: Sequence[str]) -> None:
        self._workers = [Worker(command) for _ in range(size)]
        self._idle = [*self._workers]
        self._waiting: list[Job] = []
        self._numbers = count()
        self._serving = Tasks()
        self._is_failing = False  # whether the last start has failed
        self._is_closed = False

    @property
    def process_ids(self) -> tuple[int, ...]:
        return tuple(worker.pid for worker in self._workers if worker.pid is not None)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    async def ask(self, question: partial[Answer], priority: Priority, seconds: float, within: float) -> Answer | None:
        """Return a worker's answer to `question`, or None if there is no answer in time.

        Args:
            seconds: The longest time for the search.
            within: The longest time for the wait in the queue and the search together.
        """
        is_helpless = self._is_failing and not self.process_ids
        if self._is_closed or (is_helpless and not self._idle):
            return None
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer | None] = loop.create_future()
        job = Job(question, (priority, next(self._numbers)), seconds, loop.time() + within, answer)
        insort(self._waiting, job, key=attrgetter("turn"))
        if self._idle:
            self._serving.start(self._serve(self._idle.pop()))
        if is_helpless:  # a worker is started for later questions
            job.settle()
            return None
        try:
            async with asyncio.timeout(within):
                return await answer
        except TimeoutError:
            return None
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(job)

    async def close(self) -> None:
        """Stop all workers. All queued and later questions are answered with None."""
        self._is_closed = True
        await self._serving.stop()
        self._give_up()
        await asyncio.gather(*(worker.stop() for worker in self._workers))

    def _give_up(self) -> None:
        while self._waiting:
            self._waiting.pop().settle()

    async def _serve(self, worker: Worker) -> None:
        while self._waiting:
            if worker.pid is None and not await self._start(worker):
                self._idle.insert(0, worker)  # workers that run are taken first
                return
            if not self._waiting:
                break
            job = self._waiting.pop(0)
            try:
                job.settle(await self._answer(job, worker))
            except WorkerLost as lost:
                log.warning("bot worker lost", reason=str(lost))
            except Exception:
                log.exception("bot search failed")
            finally:
                job.settle()
        self._idle.append(worker)

    async def _start(self, worker: Worker) -> bool:
        """Start a worker and return True, or answer all questions with None if there is no other worker either."""
        reason = await worker.start()
        self._is_failing = bool(reason)
        if reason:
            log.warning("bot worker not started", reason=reason)
            if not self.process_ids:
                self._give_up()
        return not reason

    async def _answer(self, job: Job, worker: Worker) -> Any:
        """Return the worker's answer, or None if the job is already too late.

        The search is short enough for all queued questions with the same priority to be answered in time, too.
        """
        now, workers = asyncio.get_running_loop().time(), len(self._workers)
        left = job.deadline - now
        if left < _LEAST_SECONDS or job.answer.done():
            return None
        behind = takewhile(lambda other: other.turn[0] is job.turn[0], self._waiting)
        shares = ((other.deadline - now) * workers / place for place, other in enumerate(behind, workers + 1))
        seconds = min(job.seconds, max(_LEAST_SECONDS, min((left, *shares)))) * _SHARE_OF_DEADLINE
        budget = (Budget(seconds=seconds, clock=clock.monotonic),) if job.question.func in SEARCHES else ()
        return await worker.answer(partial(job.question, *budget), seconds)
