"""What is in a stream, as of one moment while servers write on, and an empty stream to be filled."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from tictactoe_server.cluster import hidden
from tictactoe_server.cluster.jetstream.link import PATIENCE_SECONDS, Link, on_failure
from tictactoe_server.cluster.jetstream.setup import find_stream
from tictactoe_server.cluster.jetstream.stream import FEED, STREAM, Entry, Stream, Write, entry_of
from tictactoe_server.cluster.jetstream.tables import GAME, TIME, JetStreamTable
from tictactoe_server.storage.copying import AT_ONCE, CannotMove, Item, refusing
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Pending, StoreUnavailable, Unreadable, Waiter, read_time

_PAUSE_SECONDS: Final = 0.5
_TRYING_SECONDS: Final = 60.0
"""For how long a write that fails is tried again, which is longer than nodes need for an election."""


class StreamSource:
    """What was written until the rooms had been read, and of other tables maybe what came after; see `CopySource`.

    What is written meanwhile is heard, for the older message under its key may be gone before it is read.
    """

    def __init__(self, link: Link, specs: Specs) -> None:
        self.damage: list[str] = []
        self._specs = specs
        self._stream = Stream(link)
        self._heard: list[Entry] = []
        self._games_upto: int | None = None

    @classmethod
    async def open(cls, urls: str, credentials: Path | None, ca: Path | None, specs: Specs) -> Self:
        """Return what the stream behind ``nats://a,b,c`` holds; raises `CannotMove` and `CannotOpenStore`."""
        source = cls(await Link.open(urls, credentials=credentials, ca=ca), specs)
        async with on_failure(source.close):
            with _reading():
                await source._stream.link.subscribe(FEED + ">", lambda message: source._heard.append(entry_of(message)))
                await source._stream.link.flush()
                newest = await source._stream.last_sequence()
        if not source._heard:
            source._heard.append(Entry("", newest, b"", is_gone=True))  # behind which the hearing begins
        return source

    async def items(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Item]]:
        """Yield what can be read of a table, of the first one as it was when all of it had been heard.

        Games are those that were there then; they never change.
        """
        table = JetStreamTable(self._stream, spec, self._specs.games)
        with _reading():
            if spec is self._specs.games:
                async for entries in self._stream.walk(table.prefix + ">", 0, self._games_upto):
                    yield list(self._readable(table, entries))
                return
            found = {entry.key: entry async for some in self._stream.walk(table.prefix + ">") for entry in some}
            await self._catch_up()
        if self._games_upto is None:
            self._games_upto = self._heard[-1].sequence
        found.update((entry.key, entry) for entry in self._heard if entry.key.startswith(table.prefix))
        everything = [entry for entry in found.values() if not entry.is_gone]
        for first in range(0, len(everything), AT_ONCE):
            yield list(self._readable(table, everything[first : first + AT_ONCE]))

    async def time(self) -> int | None:
        """Return the last note of any server."""
        with _reading():
            found = await self._stream.newest(TIME)
        return read_time(found and found.document)

    async def close(self) -> None:
        await self._stream.link.close()

    async def _catch_up(self) -> None:
        """Return when all that was written until now has been heard; raises `StoreUnavailable`."""
        newest = await self._stream.last_sequence()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not self._has_heard(newest):  # noqa: ASYNC110  # what comes meanwhile is many messages
                    await asyncio.sleep(0.01)
        is_whole = all(later.sequence == earlier.sequence + 1 for earlier, later in itertools.pairwise(self._heard))
        if not is_whole or not self._has_heard(newest):
            raise StoreUnavailable("What was written meanwhile has not all come. Try again.")

    def _has_heard(self, sequence: int) -> bool:
        last = self._heard[-1]
        return last.sequence >= sequence and not last.key.startswith(GAME)  # the room of a game comes next

    def _readable(self, table: JetStreamTable[Any], entries: Sequence[Entry]) -> Iterator[Item]:
        for entry in entries:
            try:
                yield table.item(entry)
            except Unreadable as unreadable:
                self.damage.append(f"{entry.key}: {unreadable}")


class StreamTarget:
    """A stream that had nothing in it; see `CopyTarget`."""

    def __init__(self, link: Link, specs: Specs) -> None:
        self._stream = Stream(link)
        self._specs = specs

    @classmethod
    async def open(cls, urls: str, credentials: Path | None, ca: Path | None, specs: Specs) -> Self:
        """Return the stream behind ``nats://a,b,c``; raises `CannotMove` and `CannotOpenStore`."""
        link = await Link.open(urls, credentials=credentials, ca=ca)
        async with on_failure(link.close):
            info = await find_stream(Stream(link), urls, PATIENCE_SECONDS, unsafe=True)
            if info.state.messages:
                raise CannotMove(
                    f"The stream {STREAM} in {hidden(urls)} is not empty: it has {info.state.messages} documents. "
                    "Nothing in it was changed."
                )
        return cls(link, specs)

    async def write(self, spec: TableSpec[Any], items: Sequence[Item]) -> None:
        table = JetStreamTable(self._stream, spec, self._specs.games)
        await asyncio.gather(*(self._keep(partial(table.save, key, value, MISSING)) for key, value in items))

    async def write_time(self, ms: int) -> None:
        await self._keep(lambda waiter: self._stream.write(Write(TIME, str(ms).encode(), MISSING, waiter)))

    async def close(self) -> None:
        await self._stream.link.close()

    async def _keep(self, write: Callable[[Waiter], None]) -> None:
        """Keep what is new, unless an attempt kept it that seemed to fail; tries again for a while."""
        deadline = time.monotonic() + _TRYING_SECONDS
        for attempt in itertools.count():
            pending = Pending()
            write(pending)
            try:
                await pending.future
                return
            except Conflict as conflict:
                if attempt:
                    return
                raise CannotMove(f"Somebody else writes into the stream, too: {conflict} is there already.") from None
            except StoreUnavailable as unavailable:
                if time.monotonic() > deadline:
                    raise CannotMove(f"The stream takes no more: {unavailable}") from unavailable
            await asyncio.sleep(_PAUSE_SECONDS)


def _reading() -> contextlib.AbstractContextManager[None]:
    return refusing(f"The stream {STREAM} cannot be read")
