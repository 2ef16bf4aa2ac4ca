"""The store of a cluster: tables whose rows are keys in streams, and on each server a local copy of the finished games.

Every few seconds some new games are copied, in the order of each stream, and all new games before a query is answered.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import math
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, Self

import msgspec
import structlog

from tictactoe_server import clock
from tictactoe_server.features.jetstream.link import OPENING_SECONDS, PATIENCE_SECONDS, Link
from tictactoe_server.features.jetstream.stream import TIME, TOMBSTONE, Entry, Stream, StreamInfo, Write
from tictactoe_server.features.jetstream.streams import GAME, Streams, find_streams
from tictactoe_server.storage.journal import PART_BITS, GameTables
from tictactoe_server.storage.journal import Write as WriteJob
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec, hash_id
from tictactoe_server.storage.sqlite import SqliteLog, SqliteStore
from tictactoe_server.storage.store import (
    MISSING,
    Conflict,
    Game,
    Stored,
    StoreUnavailable,
    Unreadable,
    Unsettled,
    Value,
    Waiter,
    save,
)
from tictactoe_server.storage.writer import Answer

_IDENTITY: Final = "cluster"
_MARKS: Final = "marks"  # the copy's note of the highest acknowledged sequence in each stream, by the stream's name
_COPY_SECONDS: Final = 5.0
_MOST_AT_A_TIME: Final = 1_000  # games copied from each stream at a time in the background
_PATIENCE_SECONDS: Final = 1.0
_INDEX_SECONDS: Final = 60.0
_FILLER: Final = "filler"
_FILLERS, _FILLER_BYTES = 80, 120_000  # together more than the 8 MB of a node's file, so that nodes begin a new file

_IN_PROCESS_SECONDS: Final = 0.02
_PLAIN: Final = frozenset({"rooms", "players", "games"})
_HALVED: Final = frozenset({"shares"})
"""How a table's keys become subjects: unchanged in `_PLAIN`, in `_HALVED` split into two halves so that the first half
can be searched for, and in base64 in all other tables."""

log: Final = structlog.get_logger(__name__)


class JetStreamTable(Generic[Value]):
    """A table whose rows are keys with the table's prefix; see `Table` for the contract."""

    def __init__(self, streams: Streams, spec: TableSpec[Value], games: GameSpec[Any]) -> None:
        self.spec = spec
        self.prefix = spec.name.removesuffix("s") + "."
        self.expires = spec.lifetime_seconds is not None
        self._streams = streams
        self._games = games

    async def load(self, key: str) -> tuple[Value, int] | None:
        subject = self.subject_of(key)
        found = await self._streams.of(subject).newest(subject)
        return found and (self.spec.read(key, found.document), found.sequence)

    async def load_all(self, skipped: Container[str] = ()) -> AsyncIterator[Sequence[Stored[Value]]]:
        """Yield all values in batches; values that change meanwhile may be missing."""
        for stream in self._streams.having(self.prefix):
            async for entries in stream.walk(self.prefix + ">"):
                yield [self.stored(entry) for entry in entries if self.key_of(entry.key) not in skipped]

    async def all_keys(self) -> AsyncIterator[list[str]]:
        """Yield all keys in batches, as the streams' leaders know them, including some that have just been deleted."""
        for stream in self._streams.having(self.prefix):
            async for subjects in stream.all_keys(self.prefix + ">"):
                yield [self.key_of(subject) for subject in subjects]

    async def first_key(self, prefix: str) -> str | None:
        """Return a key that begins with `prefix`, or None.

        For tables in `_HALVED`, `prefix` is the first half of a key, and the search is fast.
        """
        rest = f"{prefix}.*" if self.spec.name in _HALVED else ">"
        for stream in self._streams.having(self.prefix):
            async for entries in stream.walk(self.prefix + rest):
                for entry in entries:
                    if self.key_of(entry.key).startswith(prefix):
                        return self.key_of(entry.key)
        return None

    async def has_lost(self, key: str, revision: int) -> bool:
        return await self._streams.of(self.subject_of(key)).has_lost(revision)

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        """Store the value, together with the `finished` game if there is one, and notify `waiter`."""
        lifetime, before = self.spec.lifetime_seconds, None
        headers = {} if lifetime is None else {"Nats-TTL": f"{lifetime(value)}s"}
        if finished is not None:
            before = subject_of_game(self._games, finished), self._games.encode(finished)
        self._write(key, self.spec.encode(value), expected_revision, waiter, headers, before)

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self.spec.forget(key)
        if expected_revision == MISSING:
            waiter.failed(Conflict(key))
        else:
            self._write(key, b"", expected_revision, waiter, TOMBSTONE)

    def _write(self, key: str, *what: Any) -> None:
        subject = self.subject_of(key)
        self._streams.of(subject).write(Write(subject, *what))

    def subject_of(self, key: str) -> str:
        if self.spec.name in _PLAIN:
            return self.prefix + key
        if self.spec.name in _HALVED:
            return f"{self.prefix}{key[: len(key) // 2]}.{key[len(key) // 2 :]}"
        return self.prefix + base64.urlsafe_b64encode(key.encode()).rstrip(b"=").decode()

    def key_of(self, subject: str) -> str:
        rest = subject.removeprefix(self.prefix)
        if self.spec.name in _PLAIN:
            return rest
        if self.spec.name in _HALVED:
            return rest.replace(".", "")
        return base64.urlsafe_b64decode(rest + "==").decode()

    def stored(self, entry: Entry) -> Stored[Value]:
        key = self.key_of(entry.key)
        try:
            return Stored(key, self.spec.read(key, entry.document), entry.sequence)
        except Unreadable as damaged:
            return Stored(key, damaged, MISSING)


class JetStreamStore:
    """A store in JetStream; see `Storage` for the contract. Servers also exchange messages over its `link`."""

    def __init__(self, streams: Streams, copy: SqliteStore, specs: Specs) -> None:
        self.link = streams.link
        self.streams, self._first = streams, streams.first
        self._copy = copy
        self.figures = streams.figures
        self.owed_since = streams.owed_since
        self.noted_time = streams.first.noted_time
        self.games = _Log(streams, copy.games)
        self._tables: dict[str, JetStreamTable[Any]] = {
            spec.name: JetStreamTable(streams, spec, specs.games) for spec in specs.tables
        }
        self._persons = _PersonIndex([table for table in self._tables.values() if table.spec.persons_of.is_indexed])

    @classmethod
    async def open(
        cls,
        urls: str,
        specs: Specs,
        *,
        credentials: Path | None = None,
        ca: Path | None = None,
        data: Path | None = None,
        copy: SqliteStore | None = None,
        unsafe: bool = False,
        patience_seconds: float = PATIENCE_SECONDS,
        opening_seconds: float = OPENING_SECONDS,
    ) -> Self:
        """Open the store. For `urls`, `credentials` and `ca`, see `Access`.

        May raise `CannotOpenStore`.

        Args:
            data: The folder for the copy of the finished games; None keeps the copy in memory.
            copy: An open copy to use instead.
            unsafe: Accept streams that may lose acknowledged writes.
            patience_seconds: How long to wait for the reply to a request.
            opening_seconds: How long to wait for the connection, and for each stream's leader.
        """
        link = await Link.open(
            urls, credentials=credentials, ca=ca, patience_seconds=patience_seconds, opening_seconds=opening_seconds
        )
        async with contextlib.AsyncExitStack() as failing:
            failing.push_async_callback(link.close)
            streams, infos = await find_streams(link, opening_seconds, unsafe=unsafe)
            copy = copy or SqliteStore.open(None if data is None else data / "history", specs)
            failing.push_async_callback(copy.close)
            store = cls(streams, copy, specs)
            await store.games.begin(infos)
            failing.pop_all()
        link.run(store.games.run())
        return store

    def table(self, spec: TableSpec[Value]) -> JetStreamTable[Value]:
        return self._tables[spec.name]

    async def keys_of(self, ids: Collection[str], *, is_exact: bool = False) -> Sequence[tuple[str, str]]:
        return await self._persons.keys_of(ids, is_exact=is_exact)

    def note_time(self, ms: int) -> None:
        noting = self._first.put(TIME, str(ms).encode(), None)
        noting.add_done_callback(asyncio.Future.exception)  # a failure does not matter
        self.games.note_marks()

    async def identity(self) -> tuple[str, bytes]:
        """Return the cluster's public id and its servers' shared secret, which the first server creates."""
        while (found := await self._first.newest(_IDENTITY)) is None:
            new = "c" + secrets.token_urlsafe(9), secrets.token_bytes(32)
            with contextlib.suppress(Conflict, Unsettled):  # another server creates them
                await self._first.put(_IDENTITY, msgspec.json.encode(new), MISSING)
            await asyncio.sleep(_IN_PROCESS_SECONDS)
        return msgspec.json.decode(found.document, type=tuple[str, bytes])

    async def drop_copies(self, keys: Collection[str]) -> None:
        await self.games.drop(keys)
        await self._copy.scrub()

    async def scrub(self) -> None:
        """Write all current values once more, into new files, so that the nodes delete the files with old values."""
        upto = {stream: await stream.last_sequence() for stream in self.streams.all}
        for one in upto:
            for _ in range(_FILLERS):
                await one.put(_FILLER, bytes(_FILLER_BYTES), None)
        for table in self._tables.values():
            async for some in table.load_all():
                for stored in some:
                    is_old = stored.revision <= upto[self.streams.of(table.subject_of(stored.key))]
                    if is_old and not isinstance(stored.value, Unreadable):
                        with contextlib.suppress(Conflict):  # the value has changed meanwhile
                            await save(table, stored.key, stored.value, stored.revision)
        for one in upto:
            await one.delete(await one.put(_FILLER, b"-", None), erase=True)
        await self._copy.scrub()

    async def close(self) -> None:
        await self.streams.close()
        await self.link.close()
        await self._copy.close()


class _PersonIndex:
    """An index of the rows that name a person. All rows are read again for each exact answer, else once a minute."""

    def __init__(self, tables: Sequence[JetStreamTable[Any]]) -> None:
        self._tables = tables
        self._lock = asyncio.Lock()
        self._keys: Mapping[str, Collection[tuple[str, str]]] = {}
        self._read_at = -math.inf

    async def keys_of(self, ids: Collection[str], *, is_exact: bool) -> Sequence[tuple[str, str]]:
        """Return the tables and keys of the rows that name one of these persons."""
        async with self._lock:
            if is_exact or clock.monotonic() - self._read_at > _INDEX_SECONDS:
                self._keys = await self._read_all()
                self._read_at = clock.monotonic()
        return sorted({place for id in ids for place in self._keys.get(id, ())})

    async def _read_all(self) -> Mapping[str, Collection[tuple[str, str]]]:
        keys = defaultdict[str, list[tuple[str, str]]](list)
        for table in self._tables:
            async for rows in table.load_all():
                for row in rows:
                    if not isinstance(row.value, Unreadable):
                        for id in table.spec.indexed_ids(row.value):
                            keys[id].append((table.spec.name, row.key))
        return keys


class _Log(SqliteLog[Game]):
    """The local copy of the finished games, updated before each query, and in the background by `run`.

    Only games from the same stream are in the order of their ids.
    """

    def __init__(self, streams: Streams, copy: SqliteLog[Game]) -> None:
        super().__init__(copy.writer, copy.spec)
        self._streams = streams
        self._reached: dict[Stream, int] = {}
        for stream in streams.all:
            stream.on_set_back.append(self._read_again)
        self._lock = asyncio.Lock()

    async def begin(self, infos: Sequence[StreamInfo]) -> None:
        """Continue with the copy and its marks, or begin a new copy if this one is from other streams.

        `infos` are the descriptions of the streams.
        """
        is_same, id_of = await self.begin_copy(infos[0].created), self._streams.id_of
        found = await self.writer.ask(lambda _, journal: journal.noted(_MARKS)) if is_same else None
        marks = msgspec.json.decode(found or b"{}", type=dict[str, int])
        for number, stream in enumerate(self._streams.all):
            newest = await super()._ask(partial(GameTables.newest, below=id_of(number + 1, 0)))
            self._reached[stream] = max(0, newest - id_of(number, 1) + 1)
            stream.acknowledged = max(self._reached[stream], marks.get(stream.name, 0))
            await stream.last_sequence()

    def note_marks(self) -> None:
        """Schedule a write of the highest acknowledged sequences, which the next start needs."""
        marks = {stream.name: stream.acknowledged for stream in self._streams.all}
        self.writer.note(_MARKS, msgspec.json.encode(marks))

    def _read_again(self, stream: Stream) -> None:
        """Copy all games in a stream again, because it has lost writes. Games that only the copy still has remain."""
        log.error("log of finished games was truncated; reading it again", stream=stream.name)
        self._reached[stream] = 0

    async def _ask(self, ask: Callable[[GameTables], Answer]) -> Answer:
        is_whole = False
        with contextlib.suppress(TimeoutError, StoreUnavailable):  # an incomplete copy may suffice
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._copy_on(math.inf)
                is_whole = True
        found = await super()._ask(ask)
        if not is_whole:
            log.warning("finished games not copied yet; retrying", reason="The node did not respond in time.")
            if not found:  # the missing games may have the answer
                raise StoreUnavailable("Not all finished games could be read.")
        return found

    async def after(self, cursor: str, limit: int) -> AsyncIterator[tuple[str, int, Game]]:
        """Yield the games after a cursor, one stream after another. A cursor has a position in each stream."""
        reached = [int(part) for part in cursor.split(".") if part]
        newest = await self._ask(GameTables.newest)
        reached += [0] * (1 + (newest >> PART_BITS) - len(reached))
        for number, start in enumerate(range(0, len(reached) << PART_BITS, 1 << PART_BITS)):
            async for id, game in self._between(start + reached[number], start + (1 << PART_BITS) - 1, limit):
                reached[number] = id - start
                limit -= 1
                yield ".".join(map(str, reached)), id, game

    async def forget_before(self, at: int) -> bool:
        """Delete some of the games that ended before the time `at`, from the copy and from the streams."""
        old = await self.writer.ask(lambda _, journal: journal.games.old(at))
        await asyncio.gather(*(self._delete(id, subject_of_game(self.spec, game)) for id, game in old if game))
        return await super().forget_before(at)

    async def replace(self, id: int, game: Game) -> None:
        """Store `game`, which replaces the game with this id, in a new message with a new id, and erase the old one."""
        first = subject_of_game(self.spec, game)
        subject = f"{first}-{secrets.token_hex(4)}"
        await self._streams.of(subject).put(subject, self.spec.encode(game), None)
        await self._delete(id, first, erase=True)
        await self.writer.ask(lambda _, journal: journal.games.drop((), (id,)), WriteJob)

    async def _delete(self, id: int, subject: str, *, erase: bool = False) -> None:
        """Delete a game's message. For a game that was copied from another store, look it up by its subject."""
        place = self._streams.place_of(id)
        if place is not None:
            await place[0].delete(place[1], erase=erase)
        for one in self._streams.all if place is None else ():
            if entry := await one.newest(subject):
                await one.delete(entry.sequence, erase=erase)

    async def drop(self, keys: Collection[str]) -> None:
        """Delete all games by these players from the local copy; `keys` are the hashes of the players' ids."""
        if keys:
            forgotten = [one for one in await super()._ask(GameTables.players) if hash_id(one) in keys]
            await self.writer.ask(lambda _, journal: journal.games.drop(forgotten), WriteJob)

    async def run(self) -> None:
        """Copy games in the background, until cancelled."""
        while True:
            try:
                await self._copy_on(_MOST_AT_A_TIME)
            except StoreUnavailable as unavailable:
                log.warning("finished games not copied yet; retrying", reason=str(unavailable))
            await asyncio.sleep(_COPY_SECONDS)

    async def _copy_on(self, most: float) -> None:
        async with self._lock:
            copying = [self._copy_stream(number, stream, most) for number, stream in enumerate(self._streams.all)]
            for failed in await asyncio.gather(*copying, return_exceptions=True):
                if failed is not None:
                    raise failed

    async def _copy_stream(self, number: int, stream: Stream, most: float) -> None:
        upto, id_of = await stream.last_sequence(), self._streams.id_of
        async for entries in stream.walk(GAME + ">", self._reached[stream], upto):
            ids = [id_of(number, entry.sequence) if entry.id is None else entry.id for entry in entries]
            await self.import_games([(id, entry.document) for id, entry in zip(ids, entries, strict=True)])
            self._reached[stream] = max([self._reached[stream], *(entry.sequence for entry in entries)])
            most -= len(entries)
            if most <= 0:
                return
        self._reached[stream] = max(self._reached[stream], upto)


def subject_of_game(spec: GameSpec[Game], game: Game) -> str:
    """Return the key that a finished game is first stored with."""
    room, number = spec.place(game)
    return f"{GAME}{room}-{spec.at(game)}-{number}"
