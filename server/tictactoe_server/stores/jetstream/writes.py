"""The writes under way: each is a message to its key, and whoever waits is told what came of it.

A write is on the disks of most nodes when it is acknowledged. Those that are not, or not known to be, are told apart as
`answers` has it; nothing is sent a second time from here but a new value over a tombstone.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final

from tictactoe_server.stores.figures import WriteFigures
from tictactoe_server.stores.jetstream.answers import outcome_of
from tictactoe_server.stores.jetstream.link import Link, LinkError
from tictactoe_server.stores.jetstream.stream import EXPECTED, PREFIX, TOMBSTONE, Stream
from tictactoe_server.stores.store import (
    MISSING,
    Conflict,
    NotStored,
    Pending,
    StoreBusy,
    StoreUnavailable,
    Unsettled,
    Waiter,
)

MAX_WAITING: Final = 10_000
"""How many writes may be under way at once."""

_CLOSING_SECONDS: Final = 2.0


class Writes:
    """Sends writes and remembers which are unanswered. A write that conflicts or is acknowledged is answered."""

    def __init__(self, link: Link, stream: Stream, *, max_waiting: int = MAX_WAITING) -> None:
        self._link = link
        self._stream = stream
        self._max_waiting = max_waiting
        self._waiting: dict[_Write, None] = {}
        self._owed_since: float | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._emptied: asyncio.Future[None] | None = None
        self.figures = WriteFigures()

    def replace(
        self,
        key: str,
        document: bytes,
        expected_revision: int,
        waiter: Waiter,
        headers: Mapping[str, str] | None = None,
        before: tuple[str, bytes] | None = None,
    ) -> None:
        """Keep a document in place of the one with that revision, and tell the waiter.

        `before` is another key and its document, which are kept with this one, or neither is.
        """
        expected = {EXPECTED: str(expected_revision)}
        if headers is not None:
            expected.update(headers)
        self._put(_Write(self, key, document, expected, waiter, expected_revision == MISSING, before))

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Let a key be gone, if it has that revision, and tell the waiter `MISSING`."""
        if expected_revision == MISSING:
            waiter.failed(Conflict(key))
            return
        headers = {EXPECTED: str(expected_revision), **TOMBSTONE}
        self._put(_Write(self, key, b"", headers, _Gone(waiter), False, None))

    def put(self, key: str, document: bytes, waiter: Waiter, headers: Mapping[str, str] | None = None) -> None:
        """Keep a document whatever was there before, and tell the waiter."""
        self._put(_Write(self, key, document, None if headers is None else dict(headers), waiter, False, None))

    async def carry_out(self, key: str, document: bytes, headers: Mapping[str, str] | None = None) -> None:
        """Keep a document whatever was there before, and return when it is kept; raises `StoreUnavailable`."""
        pending = Pending()
        self.put(key, document, pending, headers)
        await pending.future

    def owed_since(self) -> float | None:
        """Return since when an answer is owed: to the oldest write, or since one that got none; None for none."""
        since = [moment for moment in (self._owed_since, self._link.away_since) if moment is not None]
        if self._waiting:
            since.append(next(iter(self._waiting)).since)
        return min(since, default=None)

    async def close(self) -> None:
        """Wait for what is under way, for no longer than an answer may take."""
        if self._waiting:
            self._emptied = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._emptied], timeout=_CLOSING_SECONDS)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _put(self, write: _Write) -> None:
        if len(self._waiting) >= self._max_waiting:
            write.waiter.failed(StoreBusy("Too much waits for the store."))
            return
        self._waiting[write] = None
        self._send(write)

    def _send(self, write: _Write) -> None:
        headers = write.headers
        if write.before is not None:
            headers = {**(headers or {}), "Nats-Batch-Id": self._link.new_name(), **_LAST_OF_BATCH}
            key, document = write.before
            first = {"Nats-Batch-Id": headers["Nats-Batch-Id"], "Nats-Batch-Sequence": "1"}
            error = self._link.publish(PREFIX + key, document, first)
            if error is not None:
                write.answered(error)
                return
        self._link.ask(PREFIX + write.key, write.document, headers, write.answered)

    def settle(self, write: _Write, answer: bytes | LinkError) -> None:
        """Tell who waits for a write what came of it."""
        outcome = outcome_of(write.key, answer)
        if type(outcome) is int:  # nearly all
            self._done(write)
            self._owed_since = None
            self.figures.add(time.monotonic() - write.since, 1)
            write.waiter.stored(outcome)
            return
        assert isinstance(outcome, Exception)
        if isinstance(outcome, Conflict):
            self._owed_since = None
            if write.is_new:
                task = asyncio.create_task(self._write_over_tombstone(write))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                return
        elif self._owed_since is None and not isinstance(outcome, Unsettled):
            self._owed_since = write.since
        self._done(write)
        write.waiter.failed(outcome)

    def _done(self, write: _Write) -> None:
        del self._waiting[write]
        if self._emptied is not None and not self._waiting and not self._emptied.done():
            self._emptied.set_result(None)

    async def _write_over_tombstone(self, write: _Write) -> None:
        """Write what is new once more, where it is a tombstone that is in its way."""
        outcome: Conflict | NotStored = Conflict(write.key)
        try:
            found = await self._stream.newest(write.key)
            if found is None or found.document is None:
                write.is_new = False
                write.headers = {**(write.headers or {}), EXPECTED: str(MISSING if found is None else found.sequence)}
                self._send(write)
                return
        except StoreUnavailable as unavailable:  # this write certainly was refused
            outcome = NotStored(str(unavailable))
        self._done(write)
        write.waiter.failed(outcome)


_LAST_OF_BATCH: Final[Mapping[str, str]] = {"Nats-Batch-Sequence": "2", "Nats-Batch-Commit": "1"}


class _Write:
    """One write, and when it was asked for (s, as `time.monotonic`)."""

    __slots__ = ("before", "document", "headers", "is_new", "key", "since", "waiter", "writes")

    def __init__(
        self,
        writes: Writes,
        key: str,
        document: bytes,
        headers: dict[str, str] | None,
        waiter: Waiter,
        is_new: bool,
        before: tuple[str, bytes] | None,
    ) -> None:
        self.writes = writes
        self.key = key
        self.document = document
        self.headers = headers
        self.waiter = waiter
        self.is_new = is_new
        self.before = before
        self.since = time.monotonic()

    def answered(self, answer: bytes | LinkError) -> None:
        """Hand the answer on."""
        self.writes.settle(self, answer)


class _Gone:
    """Waits for a tombstone, whose revision is nobody's."""

    __slots__ = ("_waiter",)

    def __init__(self, waiter: Waiter) -> None:
        self._waiter = waiter

    def stored(self, revision: int) -> None:
        self._waiter.stored(MISSING)

    def failed(self, error: Exception) -> None:
        self._waiter.failed(error)
