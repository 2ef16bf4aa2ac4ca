"""Group commit: one thread writes all waiting changes in one transaction, then wakes the event loop once.

Flushing the disk and waking the event loop cost the same for one change as for hundreds, so the cost per change falls
as the load rises.
"""

from __future__ import annotations

import asyncio
import enum
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, TypeVar

import structlog
from msgspec import Struct, field

from tictactoe_server import clock
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.journal import Journal, Question, Save, Write
from tictactoe_server.storage.store import Pending, StoreBusy, StoreUnavailable, WriteFigures

MAX_BATCH: Final = 1_000
MAX_WAITING: Final = 10_000
PATIENCE_SECONDS: Final = 2.4
"""The disk counts as unavailable if an operation takes longer than this; the check runs four times in this period."""

Answer = TypeVar("Answer")

_SILENT: Final = "The disk does not answer."

log: Final = structlog.get_logger(__name__)


class _Phase(enum.Enum):
    OPEN = enum.auto()
    SILENT = enum.auto()  # the disk does not respond; new jobs fail
    CLOSING = enum.auto()  # waiting jobs are executed; new jobs fail
    CLOSED = enum.auto()  # set by the thread when it ends


_OPEN: Final = _Phase.OPEN  # a constant is faster than the enum's attribute, which matters on every move


class _Batch(Struct, eq=False):
    """Jobs that the thread executes together. A batch without jobs stores the note."""

    jobs: Sequence[Any]
    do: Callable[[Sequence[Any]], Sequence[Any]]
    taken_at: float = field(default_factory=clock.monotonic)

    def report(self, outcomes: Sequence[Any]) -> None:
        for job, outcome in zip(self.jobs, outcomes, strict=True):
            try:
                if isinstance(outcome, Exception):
                    job.waiter.failed(outcome)
                else:
                    job.waiter.stored(outcome)
            except Exception:
                log.exception("callback after a store operation failed")


class Writer:
    """The store's thread and its queue of jobs. Only one event loop at a time may submit jobs."""

    def __init__(
        self,
        database: Database,
        *,
        max_waiting: int = MAX_WAITING,
        patience_seconds: float = PATIENCE_SECONDS,
        thread: Callable[..., threading.Thread] = threading.Thread,
        queue: Callable[[], SimpleQueue[Any]] = SimpleQueue,
    ) -> None:
        """Start the thread.

        Args:
            max_waiting: The most jobs that may wait; further jobs fail with `StoreBusy`.
            patience_seconds: See `PATIENCE_SECONDS`.
            thread: Creates the thread; a simulation replaces it.
            queue: Creates the queue of batches; a simulation replaces it.
        """
        self.damage = database.damage
        self.figures = WriteFigures()
        self._database = database
        self._max_waiting = max_waiting
        self._patience_seconds = patience_seconds
        self._phase = _Phase.OPEN
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[Save | Write] = []
        self._begun: list[_Batch] = []
        self._is_awake = False
        self._note: tuple[str, bytes] | None = None
        self._is_note_queued = False
        self._owed_since: float | None = None
        self._busy_since: float | None = None
        self._looked_at = self._going_since = clock.monotonic()
        self._ended: Pending | None = None
        self._batches: SimpleQueue[_Batch | None] = queue()
        self._thread = thread(target=self._work, name="store", daemon=True)
        self._thread.start()

    def write(self, job: Save | Write) -> None:
        """Add a job to the next batch; if the store cannot accept it, let its waiter fail at once."""
        if self._phase is not _OPEN:
            reason = _SILENT if self._phase is _Phase.SILENT else "The store is closed."
            job.waiter.failed(StoreUnavailable(reason))
            return
        if len(self._waiting) >= self._max_waiting:
            job.waiter.failed(StoreBusy("Too many writes are waiting for the disk."))
            return
        self._waiting.append(job)
        if self._owed_since is None:
            self._owed_since = clock.monotonic()
        if self._loop is not asyncio.get_running_loop():
            self._attach()
        if not self._is_awake:
            self._is_awake = True
            asyncio.get_running_loop().call_soon(self._hand_over)  # with all jobs of this turn of the event loop

    def ask(
        self, work: Callable[[sqlite3.Cursor, Journal], Answer], kind: type[Write] = Question
    ) -> asyncio.Future[Answer]:
        """Run `work` on the thread and return its result. May raise `StoreUnavailable`.

        Args:
            kind: `Question` for work that reads, `Write` for work that writes. The result of a `Write` is returned once
                the write is durable.
        """
        pending = Pending()
        self.write(kind(work, pending))
        return pending.future

    def scrub(self, upto: int) -> asyncio.Future[bool]:
        """Call `Database.scrub` on the thread and return its result. May raise `StoreUnavailable`."""
        pending = Pending()
        self._attach()
        self._begin([Question(lambda *_: None, pending)], lambda jobs: [self._database.scrub(upto)])
        return pending.future

    def note(self, key: str, value: bytes) -> None:
        """Schedule storing a note, such as the time; its transaction also moves part of the journal to the tables."""
        if self._phase is not _Phase.OPEN:
            return
        self._note = (key, value)
        if not self._is_note_queued:  # otherwise the queued batch stores this note, too
            self._is_note_queued = True
            self._batches.put(_Batch((), self._keep_up))

    def owed_since(self) -> float | None:
        """Return when the current wait for the disk began (s, as `clock.monotonic`), or None if nothing waits.

        The disk may be executing a batch, have jobs to execute, or fail them all. Storing a note counts, too: no job
        waits for the note, but no move can be stored meanwhile.
        """
        return min((at for at in (self._owed_since, self._busy_since) if at is not None), default=None)

    async def close(self) -> None:
        """Execute the waiting jobs, refuse new ones, and close the database. Idempotent.

        Raises:
            StoreUnavailable: The disk does not respond. The database is closed once the disk responds.
        """
        if self._ended is not None:
            return
        self._attach()
        self._ended = Pending()
        self._phase = _Phase.CLOSING
        while self._waiting:
            self._hand_over()
        self._batches.put(None)
        await self._ended.future
        self._thread.join()

    def _attach(self) -> None:
        """Deliver results to the running event loop from now on, and drop those requested by an earlier event loop."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._begun.clear()
            self._is_awake = False
            self._looked_at = clock.monotonic()
            loop.call_later(self._patience_seconds / 4, self._watch, loop)

    def _hand_over(self) -> None:
        """Queue the waiting writes as one transaction, then the questions, which therefore see only durable values."""
        jobs, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        questions = [job for job in jobs if isinstance(job, Question)]
        writes = [job for job in jobs if not isinstance(job, Question)] if questions else jobs
        if writes:
            self._begin(writes, self._database.write)
        if questions:
            self._begin(questions, self._database.answer)
        self._is_awake = bool(self._begun)

    def _begin(self, jobs: Sequence[Any], do: Callable[[Sequence[Any]], list[Any]]) -> None:
        self._begun.append(batch := _Batch(jobs, do))
        self._batches.put(batch)

    def _settle(self, batch: _Batch, outcomes: Sequence[Any]) -> None:
        if batch in self._begun:  # otherwise the waiters were told that the disk does not respond
            self._begun.remove(batch)
            batch.report(outcomes)
        if not self._database.is_refusing:
            if not self._begun and not self._waiting:
                self._owed_since = None
            elif batch.jobs:  # all waiting jobs are newer than this batch
                self._owed_since = batch.taken_at
        if batch.jobs and not self._begun:
            self._is_awake = bool(self._waiting)
            if self._is_awake:
                asyncio.get_running_loop().call_soon(self._hand_over)

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Let all waiting jobs fail if the thread makes no progress."""
        if self._phase is _Phase.CLOSED or loop is not self._loop:
            return
        now, since = clock.monotonic(), self._busy_since
        if now - self._looked_at > self._patience_seconds / 2:  # the whole process was suspended
            self._going_since = now
        self._looked_at = now
        is_silent = since is not None and now - max(since, self._going_since) > self._patience_seconds
        if self._phase in (_Phase.OPEN, _Phase.SILENT):
            self._phase = _Phase.SILENT if is_silent else _Phase.OPEN
        if is_silent:
            for batch in (*self._begun, _Batch(self._waiting, list)):
                batch.report([StoreUnavailable(_SILENT)] * len(batch.jobs))
            self._begun.clear()
            self._waiting = []
            self._is_awake = False
            if self._ended is not None:
                self._ended.failed(StoreUnavailable(_SILENT))
        loop.call_later(self._patience_seconds / 4, self._watch, loop)

    def _work(self) -> None:
        """Run batches on the thread until the store is closed."""
        while (batch := self._batches.get()) is not None:
            began_at = self._busy_since = clock.monotonic()
            try:
                outcomes = batch.do(batch.jobs)
            except Exception as error:
                log.error("store thread failed; reopening the database", reason=repr(error))
                self._database.distrust()
                outcomes = [StoreUnavailable("The database failed.")] * len(batch.jobs)
            if batch.jobs and not isinstance(batch.jobs[0], Question):
                self.figures.add(clock.monotonic() - began_at, len(batch.jobs))
            self._busy_since = None
            self._call(self._settle, batch, outcomes)
        self._busy_since = clock.monotonic()
        self._database.end()
        self._phase = _Phase.CLOSED
        if self._ended is not None:
            self._call(self._ended.stored, None)

    def _keep_up(self, jobs: Sequence[Any]) -> Sequence[Any]:
        self._is_note_queued = False  # before the note is read, so that a later note queues another batch
        self._database.keep_up(self._note)
        return jobs

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the event loop is closed
                loop.call_soon_threadsafe(function, *arguments)
