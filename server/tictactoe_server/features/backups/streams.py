"""Copies from streams that servers continue to write to, and copies into empty streams."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from tictactoe_server import OperatorError, clock
from tictactoe_server.features.backups.copying import AT_ONCE, CANNOT_READ, NO_MORE, refusing
from tictactoe_server.features.jetstream.link import PATIENCE_SECONDS, Link
from tictactoe_server.features.jetstream.store import JetStreamTable, subject_of_game
from tictactoe_server.features.jetstream.stream import ID, TIME, Entry, Stream, StreamInfo
from tictactoe_server.features.jetstream.streams import GAME, LAYOUT, Streams, find_streams
from tictactoe_server.scheduler import wait_until
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Stored, StoreUnavailable, save

_PAUSE_SECONDS: Final = 0.5
_TRYING_SECONDS: Final = 60.0  # for how long a failed write is retried; longer than the nodes need to elect a leader
_IDS_A_MS: Final = 64  # more games than a stream can store in 1 ms, so that later games get larger ids


@asynccontextmanager
async def copied_streams(
    urls: str, credentials: Path | None, ca: Path | None, specs: Specs, *, to_fill: bool = False
) -> AsyncIterator[CopiedStreams]:
    """Open the streams to read them, or `to_fill` them if they are empty.

    May raise `OperatorError`.
    """
    link = await Link.open(urls, credentials=credentials, ca=ca)
    try:
        streams, infos = await find_streams(link, PATIENCE_SECONDS, unsafe=True)
        copied = CopiedStreams(streams, specs)
        with refusing(NO_MORE if to_fill else CANNOT_READ):
            await (copied.begin_to_fill(infos) if to_fill else copied.begin_to_read())
        yield copied
    finally:
        await link.close()


class CopiedStreams:
    """The streams as the source or the target of a copy (see `CopyEnd`).

    As a source, they include every write up to the end of reading the first table, and may include later writes.
    """

    def __init__(self, streams: Streams, specs: Specs) -> None:
        self.noted_time = streams.first.noted_time
        self.damage: list[str] = []
        self._streams = streams
        self._games = specs.games
        self._recorders = [_Recorder(stream) for stream in streams.all]

    async def begin_to_read(self) -> None:
        await asyncio.gather(*(recorder.begin() for recorder in self._recorders))

    async def begin_to_fill(self, infos: Iterable[StreamInfo]) -> None:
        """Write the layout if the streams are empty; otherwise raise `OperatorError`."""
        messages = sum(info.state.messages for info in infos)
        if messages > (await self._streams.first.newest(LAYOUT) is not None):
            where = f"The streams in {self._streams.link.urls}"
            raise OperatorError(f"{where} are not empty: they contain {messages} documents. Nothing was changed.")
        layout = msgspec.structs.replace(self._streams.layout, floor=clock.wall_ms() * _IDS_A_MS)
        await self._streams.first.put(LAYOUT, msgspec.json.encode(layout), None)

    async def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]:
        """Yield all values in a table. Games stored after the first table has been read are left out."""
        table = self._table(spec)
        streams = self._streams.having(table.prefix)
        for number, recorder in enumerate(self._recorders[: len(streams)]):
            if spec is self._games:
                async for entries in recorder.stream.walk(GAME + ">", 0, recorder.games_upto):
                    ids = [entry.id or self._streams.id_of(number, entry.sequence) for entry in entries]
                    stored = map(table.stored, entries)
                    yield [replace(one, key=str(id)) for id, one in zip(ids, stored, strict=True)]
                continue
            everything = await recorder.read(table.prefix)
            for first in range(0, len(everything), AT_ONCE):
                yield list(map(table.stored, everything[first : first + AT_ONCE]))

    async def put(self, spec: TableSpec[Any], key: str, value: Any) -> None:
        if spec is not self._games:
            await _keep(partial(save, self._table(spec), key, value, MISSING))
            return
        subject = subject_of_game(self._games, value)
        stream, document = self._streams.of(subject), self._games.encode(value)
        await _keep(partial(stream.put, subject, document, MISSING, {ID: key}))

    async def put_time(self, ms: int) -> None:
        await _keep(partial(self._streams.first.put, TIME, str(ms).encode(), MISSING))

    def _table(self, spec: TableSpec[Any]) -> JetStreamTable[Any]:
        return JetStreamTable(self._streams, spec, self._games)


class _Recorder:
    """Records what is written to a stream while it is read: a write replaces a message that may not be read yet."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.games_upto: int | None = None
        self._entries: list[Entry] = []

    async def begin(self) -> None:
        stream = self.stream
        await stream.link.subscribe(stream.feed + ">", lambda message: self._entries.append(stream.entry_of(message)))
        await stream.link.flush()
        newest = await stream.last_sequence()
        if not self._entries:
            self._entries.append(Entry("", newest, b"", is_gone=True))

    async def read(self, prefix: str) -> list[Entry]:
        found = {entry.key: entry async for some in self.stream.walk(prefix + ">") for entry in some}
        newest = await self.stream.last_sequence()

        def has_heard() -> bool:
            last = self._entries[-1]
            return last.sequence >= newest and not last.key.startswith(GAME)  # a finished game's room comes after it

        is_heard = await wait_until(has_heard, PATIENCE_SECONDS)
        is_whole = all(later.sequence == earlier.sequence + 1 for earlier, later in itertools.pairwise(self._entries))
        if not is_heard or not is_whole:
            raise StoreUnavailable("Not all values that were written meanwhile have arrived. Try again.")
        if self.games_upto is None:
            self.games_upto = self._entries[-1].sequence
        found.update((entry.key, entry) for entry in self._entries if entry.key.startswith(prefix))
        return [entry for entry in found.values() if not entry.is_gone]


async def _keep(write: Callable[[], Awaitable[object]]) -> None:
    """Call `write` to store a new value, with retries.

    If an attempt fails and the next one conflicts, the failed attempt has stored the value.
    """
    deadline = clock.monotonic() + _TRYING_SECONDS
    for attempt in itertools.count():
        try:
            await write()
            return
        except Conflict as conflict:
            if attempt:
                return
            raise OperatorError(f"Another program writes to the stream: {conflict} already exists.") from None
        except StoreUnavailable:
            if clock.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE_SECONDS)
