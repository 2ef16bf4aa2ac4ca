"""Copies everything from a data folder or a cluster's store to an empty one, or only reads it to check it.

Every value is decoded on the way, so that damage is found before a server meets it. A folder is read from a temporary
copy, so that nothing in it changes.
"""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from tictactoe_server import OperatorError, clock
from tictactoe_server.features.backups.files import back_up, database_in
from tictactoe_server.features.jetstream.link import PATIENCE_SECONDS, Link
from tictactoe_server.features.jetstream.store import JetStreamTable, subject_of_game
from tictactoe_server.features.jetstream.stream import ID, TIME, Entry, Stream, StreamInfo
from tictactoe_server.features.jetstream.streams import GAME, LAYOUT, Streams, find_streams
from tictactoe_server.scheduler import wait_until
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.schema import DamagedDatabase, check_file, reading, unknown_tables
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, Stored, StoreUnavailable, Unreadable, save

AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16
_MAX_FINDINGS: Final = 20
CANNOT_READ: Final = "Cannot read the source"
NO_MORE: Final = "Cannot write to the target"


@contextmanager
def refusing(words: str) -> Iterator[None]:
    """Raise `OperatorError` for an error of a store. Its message is `words`, followed by the error's message."""
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise OperatorError(f"{words}: {error}") from error


class CopyEnd(Protocol):
    """The source or the target of a copy. Values are durable once the target is closed.

    Attributes:
        damage: A line for each damaged value that was found.
    """

    damage: list[str]

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]: ...
    async def noted_time(self) -> int | None: ...
    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]: ...
    async def put_time(self, ms: int) -> None: ...


@dataclass(slots=True)
class Sum:
    """The number of values, and a digest of them that does not depend on their order."""

    count: int = 0
    digest: int = 0

    def add(self, key: str, document: bytes) -> None:
        self.count += 1
        found = int.from_bytes(blake2b(b"%b %b" % (key.encode(), document), digest_size=_DIGEST_BYTES).digest())
        self.digest = (self.digest + found) % (1 << 8 * _DIGEST_BYTES)


@dataclass(slots=True)
class Contents:
    """A summary of everything in a store.

    Attributes:
        time: The stored served time in ms, or None if there is none.
        sums: The number and digest of the values of each kind, by the noun of their spec, such as ``room``.
        damage: Lines about the first damaged pages and values, from `check_database`.
    """

    time: int | None = None
    sums: defaultdict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))
    damage: Sequence[str] = field(default=(), compare=False)


async def copy(source: CopyEnd, target: CopyEnd | None, specs: Specs) -> Contents:
    """Copy everything, or only read it if `target` is None, and return a summary. May raise `OperatorError`.

    Tables are copied in the order of their specs, and then games. Rooms come before players, so that the copy has every
    player with a seat even if servers write meanwhile.
    """
    contents = Contents()
    with refusing(CANNOT_READ):
        for spec in (*specs.tables, specs.games):
            found = contents.sums[spec.noun]
            async for some in source.load_all(spec):
                writes = []
                for key, value in ((stored.key, stored.value) for stored in some):
                    if isinstance(value, Unreadable):
                        source.damage.append(f"The {spec.noun} {key}: {value}")
                        continue
                    found.add(key, spec.encode(value))
                    if target is not None:
                        writes.append(target.put(spec, key, value))
                if target is not None:
                    with refusing(NO_MORE):
                        await asyncio.gather(*writes)
            if spec is specs.tables[0]:  # times in rooms are in served time
                try:
                    contents.time = await source.noted_time()
                except Unreadable:
                    source.damage.append("The served time.")
    if target is not None and contents.time is not None:
        with refusing(NO_MORE):
            await target.put_time(contents.time)
    return contents


async def check_database(path: Path, specs: Specs, *, is_backup: bool = False) -> Contents:
    """Read everything in a database without changing it, also while a server uses it; may raise `CannotOpenStore`."""
    with tempfile.TemporaryDirectory(prefix="tictactoe-check-") as place:
        try:
            with reading(path) as reader, closing(sqlite3.connect(Path(place) / FILE_NAME)) as copied:
                reader.backup(copied)
                texts = [text for (text,) in copied.execute(f"PRAGMA integrity_check({_MAX_FINDINGS})")]
            opened = _Folder.open(Path(place), specs)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise DamagedDatabase(path, [str(error)], is_backup=is_backup) from error
        except DamagedDatabase as error:
            raise DamagedDatabase(path, error.findings, is_backup=is_backup) from error
        async with aclosing(opened) as source:
            found = await copy(source, None, specs)
    pages = [f"A page of the database: {text}." for text in texts if text != "ok"]
    found.damage = [*pages, *source.damage][:_MAX_FINDINGS]
    return found


@asynccontextmanager
async def folder_source(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Open the database in `folder` as the source of a copy. No server may use the folder meanwhile.

    May raise `OperatorError`.
    """
    check_file(database_in(folder))
    with ExitStack() as stack:
        stack.callback(DataFolder(folder).release)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tictactoe-move-")))
        back_up(database_in(folder), place / FILE_NAME)
        async with aclosing(_Folder.open(place, specs)) as source:
            with reading(place / FILE_NAME) as copied:
                unknown = unknown_tables(copied, specs.tables)
            source.damage += [f"Table {name}: unknown to this version." for name in unknown]
            yield source


@asynccontextmanager
async def folder_target(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Create a database in `folder` as the target of a copy; raises the same errors as `folder_source`.

    If the folder does not exist, it is created.
    """
    if (folder / FILE_NAME).exists():
        raise OperatorError(f"{folder} is not empty: it contains a database. Nothing was changed.")
    with refusing(NO_MORE):
        async with aclosing(_Folder.open(folder, specs)) as target:
            yield target


class _Folder(SqliteStore):
    """A store in a folder as the source or the target of a copy (see `CopyEnd`). The caller reports the damage."""

    aclose = SqliteStore.close

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]:
        return self.table(spec).load_all()

    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]:
        return save(self.table(spec), key, value, MISSING)

    async def put_time(self, ms: int) -> None:
        self.note_time(ms)


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
