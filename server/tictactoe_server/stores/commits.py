"""Group commit: one thread takes everything that waits, does it in one transaction, and wakes the event loop once.

A flush of the disk costs the same for one change as for hundreds, and so does waking the event loop. So a change is
alone in its transaction while little happens, and the busier the server, the less each one costs.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, Final

import structlog

from tictactoe_server.stores.database import Database, concerns_one_job, refusal_of
from tictactoe_server.stores.store import StoreBusy, StoreUnavailable

MAX_BATCH: Final = 256
MAX_WAITING: Final = 10_000
PATIENCE_SECONDS: Final = 2.4
"""How long a disk may be silent before those who wait are told; looked at four times as often."""

log = structlog.get_logger(__name__)


class Job:
    """One thing for the thread to do, and where its outcome goes; `future` is None where nobody waits.

    `perform` returns the outcome, or returns an exception for the caller alone; what it raises is the database's.
    """

    __slots__ = ("future", "outcome")

    writes: ClassVar[bool] = True
    durable: ClassVar[bool] = True
    is_last: ClassVar[bool] = False

    future: asyncio.Future[Any] | None
    outcome: object

    def perform(self, database: Database) -> object:
        """Do it, on the store's thread; called again where the transaction has to be taken back and tried anew."""
        raise NotImplementedError


class Committer:
    """The thread and its queue. Jobs come from one event loop at a time."""

    def __init__(
        self, database: Database, *, max_waiting: int = MAX_WAITING, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._database = database
        self._max_waiting = max_waiting
        self._patience_seconds = patience_seconds
        self._queue: SimpleQueue[Job] = SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closed = self._is_stuck = self._is_refusing = False
        self._batch: list[Job] = []
        self._busy_since: float | None = None
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> asyncio.Future[Any]:
        """Let a job be done and return its future outcome; raises `StoreUnavailable` and `StoreBusy` at once."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._attach(loop)
        if self._is_closed:
            raise StoreUnavailable("The store is closed.")
        if self._is_stuck:
            raise StoreUnavailable("The disk does not answer.")
        if self._queue.qsize() >= self._max_waiting:
            raise StoreBusy("Too much waits for the disk.")
        future: asyncio.Future[Any] = loop.create_future()
        job.future = future
        self._queue.put(job)
        return future

    def submit_silently(self, job: Job) -> None:
        """Let a job be done some time soon, or never where there is no time for it."""
        job.future = None
        if not self._is_closed and self._queue.qsize() < self._max_waiting:
            self._queue.put(job)

    async def close(self, last: Job) -> None:
        """Do all that waits and then the last job. Nothing is taken any more; a second call does nothing.

        Raises `StoreUnavailable` where the disk is silent; the rest is still done, should it come back in time.
        """
        if self._is_closed:
            return
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._attach(loop)
        self._is_closed = True
        future = last.future = loop.create_future()
        self._queue.put(last)
        await future
        self._thread.join()

    # -- on the event loop --------------------------------------------------------------------------------------

    def _attach(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watch()

    def _watch(self) -> None:
        """Look whether the thread gets on, and tell those who wait where it does not."""
        since = self._busy_since
        self._is_stuck = since is not None and time.monotonic() - since > self._patience_seconds
        if self._is_stuck:
            self._abandon()
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_later(self._patience_seconds / 4, self._watch)

    def _abandon(self) -> None:
        """Fail what is being done, whatever becomes of it, and what waits behind it and is not begun any more."""
        waiting: list[Job] = []
        with contextlib.suppress(Empty):
            while True:
                waiting.append(self._queue.get_nowait())
        for job in (*self._batch, *waiting):
            if job.future is not None and not job.future.done():
                job.future.set_exception(StoreUnavailable("The disk does not answer."))
        for job in waiting:
            if job.is_last:
                self._queue.put(job)

    # -- on the thread ------------------------------------------------------------------------------------------

    def _work(self) -> None:
        is_over = False
        while not is_over:
            batch = self._batch = self._take()
            self._busy_since = time.monotonic()
            changes = [job for job in batch if job.writes]
            if changes:
                self._commit(changes)
                self._hand_back(changes)
            questions = [job for job in batch if not job.writes]
            if questions:
                for job in questions:
                    self._read(job)
                self._hand_back(questions)
                is_over = questions[-1].is_last
            self._busy_since = None
            self._batch = []

    def _take(self) -> list[Job]:
        """Wait for a job and return it with all that came meanwhile."""
        batch = [self._queue.get()]
        with contextlib.suppress(Empty):
            while len(batch) < MAX_BATCH:
                batch.append(self._queue.get_nowait())
        return batch

    def _commit(self, jobs: list[Job]) -> None:
        """Do the jobs in one transaction; an error that one of them may have brought with it fails that one alone."""
        database = self._database
        try:
            database.begin(len(jobs), durable=any(job.durable for job in jobs))
            for job in jobs:
                job.outcome = job.perform(database)
            database.commit()
        except Exception as error:
            database.recover(error)
            if len(jobs) > 1 and concerns_one_job(error):
                for job in jobs:
                    self._commit([job])
                return
            self._tell(error)
            for job in jobs:
                job.outcome = refusal_of(error)
        else:
            self._tell(None)

    def _read(self, job: Job) -> None:
        """Do a job outside of any transaction: after what came with it, so that it sees only what is kept."""
        try:
            if not job.is_last:
                self._database.mend()
            job.outcome = job.perform(self._database)
        except Exception as error:
            self._database.recover(error)
            self._tell(error)
            job.outcome = refusal_of(error)

    def _tell(self, error: Exception | None) -> None:
        """Log when the disk begins to refuse and when it ends, and not once for every job between.

        What concerns one job alone is its caller's to log, who knows what it is about.
        """
        if error is not None and concerns_one_job(error):
            return
        if error is not None and not self._is_refusing:
            log.error("the store refuses", error=str(error), exc_info=error)
        elif error is None and self._is_refusing:
            log.warning("the store works again")
        self._is_refusing = error is not None

    def _hand_back(self, jobs: list[Job]) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the event loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(_resolve, jobs)


def _resolve(jobs: list[Job]) -> None:
    for job in jobs:
        future = job.future
        if future is None or future.done():
            continue
        outcome = job.outcome
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
