"""What is in a stream, as of one moment while servers write on, and an empty stream to be filled."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from tictactoe_server.agenda import wait_until
from tictactoe_server.cluster import hidden
from tictactoe_server.cluster.jetstream.link import PATIENCE_SECONDS, Link
from tictactoe_server.cluster.jetstream.store import GAME, JetStreamTable
from tictactoe_server.cluster.jetstream.stream import FEED, STREAM, TIME, Entry, Stream, entry_of, find_stream
from tictactoe_server.storage.copying import AT_ONCE, refusing
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec
from tictactoe_server.storage.store import MISSING, CannotMove, Conflict, Stored, StoreUnavailable, save

_PAUSE_SECONDS: Final = 0.5
_TRYING_SECONDS: Final = 60.0
"""For how long a write that fails is tried again, which is longer than nodes need for an election."""


@asynccontextmanager
async def copied_stream(
    urls: str, credentials: Path | None, ca: Path | None, specs: Specs, *, to_fill: bool = False
) -> AsyncIterator[CopiedStream]:
    """Give the stream behind ``nats://a,b,c`` as a source, or as a target that has nothing in it.

    Raises `CannotMove` and `CannotOpenStore`.
    """
    link = await Link.open(urls, credentials=credentials, ca=ca)
    try:
        stream = Stream(link)
        copied = CopiedStream(stream, specs.games, "takes no more" if to_fill else f"{STREAM} cannot be read")
        if to_fill:
            info = await find_stream(stream, urls, PATIENCE_SECONDS, unsafe=True)
            if info.state.messages:
                raise CannotMove(
                    f"The stream {STREAM} in {hidden(urls)} is not empty: it has {info.state.messages} documents. "
                    "Nothing in it was changed."
                )
        else:
            with refusing(copied.refusal):
                await copied.begin_to_hear()
        yield copied
    finally:
        await link.close()


class CopiedStream:
    """A stream as either end of a copy; see `CopyEnd`.

    What is read is what was written until the rooms had been read, and of other tables maybe what came after. What is
    written meanwhile is heard, for the older message under its key may be gone before it is read.
    """

    def __init__(self, stream: Stream, games: GameSpec[Any], refusal: str) -> None:
        self.stream = stream
        self.noted_time = stream.noted_time
        self.refusal = f"The stream {refusal}"
        self.damage: list[str] = []
        self._games = games
        self._heard: list[Entry] = []
        self._games_upto: int | None = None

    async def begin_to_hear(self) -> None:
        await self.stream.link.subscribe(FEED + ">", lambda message: self._heard.append(entry_of(message)))
        await self.stream.link.flush()
        newest = await self.stream.last_sequence()
        if not self._heard:
            self._heard.append(Entry("", newest, b"", is_gone=True))  # behind which the hearing begins

    async def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]:
        """Return all of a table, of the first one as it was when all of it had been heard.

        Games are those that were there then; they never change.
        """
        table = self._table(spec)
        if spec is self._games:
            async for entries in self.stream.walk(table.prefix + ">", 0, self._games_upto):
                yield list(map(table.stored, entries))
            return
        found = {entry.key: entry async for some in self.stream.walk(table.prefix + ">") for entry in some}
        await self._catch_up()
        if self._games_upto is None:
            self._games_upto = self._heard[-1].sequence
        found.update((entry.key, entry) for entry in self._heard if entry.key.startswith(table.prefix))
        everything = [entry for entry in found.values() if not entry.is_gone]
        for first in range(0, len(everything), AT_ONCE):
            yield list(map(table.stored, everything[first : first + AT_ONCE]))

    def describe(self, spec: TableSpec[Any], key: str) -> str:
        return self._table(spec).subject_of(key)

    async def put(self, spec: TableSpec[Any], key: str, value: Any) -> None:
        await _keep(partial(save, self._table(spec), key, value, MISSING))

    async def put_time(self, ms: int) -> None:
        await _keep(partial(self.stream.put, TIME, str(ms).encode(), MISSING))

    def _table(self, spec: TableSpec[Any]) -> JetStreamTable[Any]:
        return JetStreamTable(self.stream, spec, self._games)

    async def _catch_up(self) -> None:
        """Return when all that was written until now has been heard; raises `StoreUnavailable`."""
        newest = await self.stream.last_sequence()

        def has_heard() -> bool:
            last = self._heard[-1]
            return last.sequence >= newest and not last.key.startswith(GAME)  # the room of a game comes next

        is_heard = await wait_until(has_heard, PATIENCE_SECONDS)
        is_whole = all(later.sequence == earlier.sequence + 1 for earlier, later in itertools.pairwise(self._heard))
        if not is_heard or not is_whole:
            raise StoreUnavailable("What was written meanwhile has not all come. Try again.")


async def _keep(write: Callable[[], Awaitable[object]]) -> None:
    """Keep what is new, unless an attempt kept it that seemed to fail; tries again for a while."""
    deadline = time.monotonic() + _TRYING_SECONDS
    for attempt in itertools.count():
        try:
            await write()
            return
        except Conflict as conflict:
            if attempt:
                return
            raise CannotMove(f"Somebody else writes into the stream, too: {conflict} is there already.") from None
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)
