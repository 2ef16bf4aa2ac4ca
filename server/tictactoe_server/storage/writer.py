"""Group commit: one thread takes everything that waits, does it in one transaction, and wakes the event loop once.

A flush of the disk costs the same for one change as for hundreds, and so does waking the event loop. So a change is
alone in its transaction while little happens, and the busier the server, the less each one costs.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, TypeVar

import structlog

from tictactoe_server.storage.database import Database, concerns_one_job, refusal_of
from tictactoe_server.storage.figures import WriteFigures
from tictactoe_server.storage.journal import Journal, Save
from tictactoe_server.storage.store import Conflict, Pending, StoreBusy, StoreUnavailable, Waiter

MAX_BATCH: Final = 1_000
MAX_WAITING: Final = 10_000
PATIENCE_SECONDS: Final = 2.4
"""How long a disk may be silent before those who wait are told; looked at four times as often."""

Answer = TypeVar("Answer")

log: Final = structlog.get_logger(__name__)


class Write(NamedTuple):
    """A write of anything but a room; `write` returns the new revision, or None for a conflict, and may run again."""

    key: str
    write: Callable[[Database], int | None]
    waiter: Waiter


class _Question(NamedTuple):
    """What is asked of what is kept; `ask` raises the database's errors, or `Unreadable`."""

    ask: Callable[[Database, Journal], Any]
    future: asyncio.Future[Any]


_Job = Save | Write | _Question


class _Batch:
    """Jobs that are done together, and what became of each."""

    def __init__(self, jobs: Sequence[_Job]) -> None:
        self.jobs = jobs
        self.outcomes: Sequence[Any] = ()
        self.is_abandoned = False

    def fail(self, error: Exception) -> None:
        """Let this be the outcome of all."""
        self.outcomes = [error] * len(self.jobs)

    def settle(self) -> None:
        """Tell those who wait, unless they were told before."""
        if self.is_abandoned:
            return
        for job, outcome in zip(self.jobs, self.outcomes, strict=True):
            try:
                if type(job) is Save and type(outcome) is int:  # nearly all
                    job.waiter.stored(outcome)
                else:
                    _tell(job, outcome)
            except Exception:
                log.exception("what waited for the store failed")


class Writer:
    """The thread and its queue. Jobs come from one event loop at a time. `on_closed` is called at the very end."""

    def __init__(
        self,
        database: Database,
        on_closed: Callable[[], None] = lambda: None,
        *,
        max_waiting: int = MAX_WAITING,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._database = database
        self._journal = Journal(database)
        self._on_closed = on_closed
        self._max_waiting = max_waiting
        self._patience_seconds = patience_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: deque[_Job] = deque()
        self._wakes: SimpleQueue[None] = SimpleQueue()
        self._is_awake = False
        self._note: tuple[str, bytes] | None = None
        self._closing: asyncio.Future[None] | None = None
        self._is_closed = self._is_stuck = self._is_refusing = False
        self.figures = WriteFigures()
        self._unsettled = 0
        self._owed_since: float | None = None
        self._looked_at = self._going_since = time.monotonic()
        self._start()

    # -- on the event loop --------------------------------------------------------------------------------------

    def write(self, job: Save | Write) -> None:
        """Let something be written and its waiter be told: at the end of its batch, or at once that it cannot be."""
        error = self._refusal()
        if error is None:
            self._put(job)
        else:
            job.waiter.failed(error)

    async def ask(self, ask: Callable[[Database, Journal], Answer]) -> Answer:
        """Return the answer to a question, which is asked on the thread; raises `StoreUnavailable` and its kinds."""
        error = self._refusal()
        if error is not None:
            raise error
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._put(_Question(ask, future))
        return await future

    async def carry_out(self, key: str, write: Callable[[Database], int]) -> None:
        """Let something be written, and return when it is kept; raises `StoreUnavailable`."""
        pending = Pending()
        self.write(Write(key, write, pending))
        await pending.future

    def note(self, key: str, value: bytes) -> None:
        """Let a small fact be written some time soon, over the one before, and the journal be folded with it."""
        self._note = (key, value)
        self._wake()

    def owed_since(self) -> float | None:
        """Return since when the disk owes an answer or refuses everything (s, as `time.monotonic`), or None."""
        return self._owed_since

    async def close(self) -> None:
        """Do all that waits and let go of the database. Nothing is taken any more; a second call does nothing.

        Raises `StoreUnavailable` where the disk is silent; the database is still closed, should it come back in time.
        """
        if self._closing is not None:
            return
        self._attach()
        self._closing = asyncio.get_running_loop().create_future()
        self._wake()
        await self._closing
        self._thread.join()

    def _refusal(self) -> StoreUnavailable | None:
        """Return why nothing is taken now, or None."""
        if self._closing is not None:
            return StoreUnavailable("The store is closed.")
        if self._is_stuck:
            return StoreUnavailable("The disk does not answer.")
        if len(self._queue) >= self._max_waiting:
            return StoreBusy("Too much waits for the disk.")
        return None

    def _put(self, job: _Job) -> None:
        self._queue.append(job)
        self._unsettled += 1
        if self._owed_since is None:
            self._owed_since = time.monotonic()
        if not self._is_awake or self._loop is not asyncio.get_running_loop():
            self._is_awake = True
            self._attach().call_soon(self._wake)

    def _wake(self) -> None:
        self._wakes.put(None)

    def _attach(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._looked_at = time.monotonic()
            loop.call_later(self._patience_seconds / 4, self._watch, loop)
        return loop

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Look whether the thread gets on, and tell those who wait where it does not."""
        if self._is_closed or loop is not self._loop:
            return
        now, since = time.monotonic(), self._busy_since
        if now - self._looked_at > self._patience_seconds / 2:  # the process was stopped, and the thread with it
            self._going_since = now
        self._looked_at = now
        self._is_stuck = since is not None and now - max(since, self._going_since) > self._patience_seconds
        is_dead = not self._thread.is_alive() and not self._is_closed
        if self._is_stuck or is_dead:
            self._abandon()
        if is_dead:
            log.error("the store's thread died, another takes its place", reason=repr(self._death))
            self._unsettled -= sum(len(batch.jobs) for batch in self._begun)
            self._database.distrust()
            self._is_awake = False  # nobody says any more that what it took is done
            self._start()
            self._wake()
        loop.call_later(self._patience_seconds / 4, self._watch, loop)

    def _abandon(self) -> None:
        """Fail what is being done, whatever becomes of it, and what waits behind it and is not begun any more."""
        error = StoreUnavailable("The disk does not answer.")
        waiting = _Batch(_take(self._queue, MAX_WAITING))
        self._unsettled -= len(waiting.jobs)
        for batch in (*self._begun, waiting):
            if not batch.is_abandoned:
                batch.fail(error)
                batch.settle()
                batch.is_abandoned = True
        if self._closing is not None and not self._closing.done():
            self._closing.set_exception(error)

    def _settle(self, batch: _Batch, taken_at: float, is_last: bool) -> None:
        """Tell those who wait for what the thread took at that moment."""
        batch.settle()
        self._unsettled -= len(batch.jobs)
        self._reckon(taken_at)
        if is_last:
            self._is_awake = bool(self._queue)
            if self._is_awake:  # and what this turn of the event loop brings goes with it
                self._attach().call_soon(self._wake)

    def _reckon(self, taken_at: float) -> None:
        """Take note of what the disk owes, now that it is done with what the thread took at that moment."""
        if not self._is_refusing:  # whatever is unsettled came after that moment
            self._owed_since = taken_at if self._unsettled else None

    def _end(self) -> None:
        if self._closing is not None and not self._closing.done():
            self._closing.set_result(None)

    # -- on the thread ------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._begun: tuple[_Batch, ...] = ()
        self._busy_since: float | None = None
        self._death: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="store", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            while not self._is_closed:
                self._wakes.get()
                if self._queue:
                    self._do_what_waits()
                if self._note is not None or self._closing is not None:
                    self._busy_since = time.monotonic()
                    self._keep_up()
                    self._call(self._reckon, self._busy_since)
                if self._closing is not None and not self._queue:
                    self._finish()
                self._busy_since = None
        except BaseException as error:
            self._death = error
            raise

    def _do_what_waits(self) -> None:
        """Do all writes in one transaction, and then answer the questions, which so see only what is kept."""
        taken_at = self._busy_since = time.monotonic()
        jobs = _take(self._queue, MAX_BATCH)
        saves = [job for job in jobs if type(job) is Save]
        rest = [] if len(saves) == len(jobs) else [job for job in jobs if type(job) is not Save]
        others = [job for job in rest if isinstance(job, Write)]
        questions = [job for job in rest if isinstance(job, _Question)]
        written, asked = self._begun = _Batch([*saves, *others]), _Batch(questions)
        if written.jobs:
            written.outcomes = self._commit(saves, others)
            self.figures.add(time.monotonic() - taken_at, len(written.jobs))
            self._begun = (asked,)
            self._call(self._settle, written, taken_at, not questions)
        if questions:
            asked.outcomes = [self._answer(question) for question in questions]
            self._begun = ()
            self._call(self._settle, asked, taken_at, True)
        self._begun = ()

    def _commit(self, saves: Sequence[Save], others: Sequence[Write]) -> list[int | Exception]:
        """Return what became of writes in one transaction; an error that one may have brought fails that one alone."""
        database, journal = self._database, self._journal
        try:
            database.begin(durable=True)
            revisions = journal.write(saves)
            revisions += [other.write(database) for other in others]
            database.commit()
        except Exception as error:
            journal.drop()
            database.recover(error)
            if database.salvage(error):
                return self._commit(saves, others)
            if len(saves) + len(others) > 1 and concerns_one_job(error):
                each = [self._commit([save], []) for save in saves] + [self._commit([], [other]) for other in others]
                return [outcome for (outcome,) in each]
            self._tell(error)
            return [refusal_of(error)] * (len(saves) + len(others))
        journal.keep()
        self._tell(None)
        return [
            Conflict(job[0]) if revision is None else revision
            for job, revision in zip((*saves, *others), revisions, strict=True)
        ]

    def _answer(self, question: _Question) -> Any:
        """Return the answer to one question, or the exception that it is answered with."""
        try:
            self._database.mend()
            return question.ask(self._database, self._journal)
        except Exception as error:
            self._database.recover(error)
            if self._database.salvage(error):
                return self._answer(question)
            self._tell(error)
            return refusal_of(error)

    def _keep_up(self, *, all_of_it: bool = False) -> int:
        """Write the note and fold some of the journal; return how much of it."""
        note, self._note = self._note, None
        try:
            self._database.begin(durable=False)
            if note is not None:
                self._database.execute("INSERT OR REPLACE INTO server VALUES (?, ?)", note)
            count = self._journal.fold(all_of_it=all_of_it)
            self._database.commit()
        except Exception as error:
            self._database.recover(error)
            if self._database.salvage(error):
                if note is not None:
                    self._note = note
                return self._keep_up(all_of_it=all_of_it)
            self._tell(error)
            return 0
        self._journal.folded()
        self._tell(None)
        return count

    def _finish(self) -> None:
        """Fold all of the journal and let go of the database."""
        while self._keep_up(all_of_it=True):
            pass
        self._database.close()
        self._on_closed()
        self._is_closed = True
        self._call(self._end)

    def _tell(self, error: Exception | None) -> None:
        """Log when the disk begins to refuse and when it ends, and not once for every job between.

        What concerns one job alone is its caller's to log, who knows what it is about.
        """
        if error is not None and concerns_one_job(error):
            return
        if error is not None and not self._is_refusing:
            log.error("the store refuses", error=str(error))
        elif error is None and self._is_refusing:
            log.warning("the store works again")
        self._is_refusing = error is not None

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the event loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(function, *arguments)


def _take(queue: deque[_Job], count: int) -> list[_Job]:
    """Take so many jobs out of the queue, in which others may reach at the same time."""
    jobs: list[_Job] = []
    with suppress(IndexError):
        for _ in range(count):
            jobs.append(queue.popleft())
    return jobs


def _tell(job: _Job, outcome: Any) -> None:
    """Tell whoever waits for a job."""
    if not isinstance(job, _Question):
        if isinstance(outcome, Exception):
            job.waiter.failed(outcome)
        else:
            job.waiter.stored(outcome)
    elif not job.future.done():
        if isinstance(outcome, Exception):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
