"""Group commit: one thread takes everything that waits, does it in one transaction, and wakes the event loop once.

A flush of the disk costs the same for one change as for hundreds, and so does waking the event loop. So a change is
alone in its transaction while little happens, and the busier the server, the less each one costs.
"""

from __future__ import annotations

import asyncio
import enum
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, TypeVar

import structlog

from tictactoe_server.storage.database import Database
from tictactoe_server.storage.figures import WriteFigures
from tictactoe_server.storage.jobs import Batch, Job, Question, Save, Write, take
from tictactoe_server.storage.journal import Journal
from tictactoe_server.storage.specs import GameSpec
from tictactoe_server.storage.store import Pending, StoreBusy, StoreUnavailable
from tictactoe_server.storage.transactions import Transactions

MAX_BATCH: Final = 1_000
MAX_WAITING: Final = 10_000
PATIENCE_SECONDS: Final = 2.4
"""How long a disk may be silent before those who wait are told; looked at four times as often."""

Answer = TypeVar("Answer")

log: Final = structlog.get_logger(__name__)


class _Phase(enum.Enum):
    OPEN = enum.auto()
    SILENT = enum.auto()
    """The disk does not answer."""

    CLOSING = enum.auto()
    """What waits is done, nothing more is taken."""

    CLOSED = enum.auto()


_Event = enum.Enum("_Event", ["SILENCE", "ANSWER", "CLOSE", "END"])

_NEXT: Final = {
    (_Phase.OPEN, _Event.SILENCE): _Phase.SILENT,
    (_Phase.SILENT, _Event.ANSWER): _Phase.OPEN,
    (_Phase.OPEN, _Event.CLOSE): _Phase.CLOSING,
    (_Phase.SILENT, _Event.CLOSE): _Phase.CLOSING,
    (_Phase.CLOSING, _Event.END): _Phase.CLOSED,
}
"""The phase after an event; all other events change nothing. The thread itself only ends what is closing."""

_SILENT: Final = "The disk does not answer."


class Writer:
    """The thread and its queue. Jobs come from one event loop at a time. `on_closed` is called at the very end."""

    def __init__(
        self,
        database: Database,
        games: GameSpec[Any],
        on_closed: Callable[[], None] = lambda: None,
        *,
        max_waiting: int = MAX_WAITING,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._transactions = Transactions(database, games)
        self._on_closed = on_closed
        self._max_waiting = max_waiting
        self._patience_seconds = patience_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: deque[Job] = deque()
        self._wakes: SimpleQueue[None] = SimpleQueue()
        self._is_awake = False
        self._note: tuple[str, bytes] | None = None
        self._phase = _Phase.OPEN
        self._ended: asyncio.Future[None] | None = None
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
        pending = Pending()
        self._put(Question(ask, pending))
        answer: Answer = await pending.future
        return answer

    async def change(self, change: Callable[[Database], Answer]) -> Answer:
        """Let something be changed, and return what it returned when that is kept; raises `StoreUnavailable`."""
        pending = Pending()
        self.write(Write("", lambda database: (change(database),), pending))
        (answer,) = await pending.future
        changed: Answer = answer
        return changed

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
        if self._ended is not None:
            return
        self._attach()
        self._ended = asyncio.get_running_loop().create_future()
        self._go(_Event.CLOSE)
        self._wake()
        await self._ended
        self._thread.join()

    @property
    def _is_closed(self) -> bool:
        return self._phase is _Phase.CLOSED

    def _go(self, event: _Event) -> None:
        following = _NEXT.get((self._phase, event))
        if following is not None:
            self._phase = following

    def _refusal(self) -> StoreUnavailable | None:
        """Return why nothing is taken now, or None."""
        if self._phase is not _Phase.OPEN:
            return StoreUnavailable(_SILENT if self._phase is _Phase.SILENT else "The store is closed.")
        if len(self._queue) >= self._max_waiting:
            return StoreBusy("Too much waits for the disk.")
        return None

    def _put(self, job: Job) -> None:
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
        is_silent = since is not None and now - max(since, self._going_since) > self._patience_seconds
        is_dead = not self._thread.is_alive() and not self._is_closed
        self._go(_Event.SILENCE if is_silent else _Event.ANSWER)
        if is_silent or is_dead:
            self._abandon()
        if is_dead:
            log.error("the store's thread died, another takes its place", reason=repr(self._death))
            self._unsettled -= sum(len(batch.jobs) for batch in self._begun)
            self._transactions.database.distrust()
            self._is_awake = False  # nobody says any more that what it took is done
            self._start()
            self._wake()
        loop.call_later(self._patience_seconds / 4, self._watch, loop)

    def _abandon(self) -> None:
        """Fail what is being done, whatever becomes of it, and what waits behind it and is not begun any more."""
        error = StoreUnavailable(_SILENT)
        waiting = Batch(take(self._queue, MAX_WAITING))
        self._unsettled -= len(waiting.jobs)
        for batch in (*self._begun, waiting):
            if not batch.is_abandoned:
                batch.fail(error)
                batch.settle()
                batch.is_abandoned = True
        if self._ended is not None and not self._ended.done():
            self._ended.set_exception(error)

    def _settle(self, batch: Batch, taken_at: float, is_last: bool) -> None:
        """Tell those who wait for what the thread took at that moment."""
        batch.settle()
        self._unsettled -= len(batch.jobs)
        self._reckon(taken_at)
        if is_last:
            self._is_awake = bool(self._queue)
            if self._is_awake:  # and what this turn of the event loop brings goes with it
                self._attach().call_soon(self._wake)

    def _reckon(self, taken_at: float) -> None:
        """Note what the disk owes, now that it is done with what the thread took at that moment."""
        if not self._transactions.is_refusing:  # whatever is unsettled came after that moment
            self._owed_since = taken_at if self._unsettled else None

    def _end(self) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    # -- on the thread ------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._begun: tuple[Batch, ...] = ()
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
                if self._note is not None or self._phase is _Phase.CLOSING:
                    self._busy_since = time.monotonic()
                    self._keep_up()
                    self._call(self._reckon, self._busy_since)
                if self._phase is _Phase.CLOSING and not self._queue:
                    self._finish()
                self._busy_since = None
        except BaseException as error:
            self._death = error
            raise

    def _do_what_waits(self) -> None:
        """Do all writes in one transaction, and then answer the questions, which so see only what is kept."""
        taken_at = self._busy_since = time.monotonic()
        jobs = take(self._queue, MAX_BATCH)
        writes = [job for job in jobs if not isinstance(job, Question)]
        questions = [] if len(writes) == len(jobs) else [job for job in jobs if isinstance(job, Question)]
        written, asked = self._begun = Batch(writes), Batch(questions)
        if writes:
            written.outcomes = self._transactions.commit(writes)
            self.figures.add(time.monotonic() - taken_at, len(writes))
            self._begun = (asked,)
            self._call(self._settle, written, taken_at, not questions)
        if questions:
            asked.outcomes = [self._transactions.answer(question.ask) for question in questions]
            self._begun = ()
            self._call(self._settle, asked, taken_at, True)
        self._begun = ()

    def _keep_up(self) -> None:
        note, self._note = self._note, None
        self._transactions.keep_up(note)

    def _finish(self) -> None:
        note, self._note = self._note, None
        self._transactions.close(note)
        self._on_closed()
        self._go(_Event.END)
        self._call(self._end)

    def _call(self, function: Callable[..., None], *arguments: object) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the event loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(function, *arguments)
