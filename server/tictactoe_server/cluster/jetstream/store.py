"""The store of several servers: tables as keys of one stream for all, and a copy of the finished games for each.

A game's id is the sequence of its message. The copy takes games in that order, so it goes on behind its newest one:
some of them every few seconds, and all before a question is answered.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import math
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final, Generic, Self

import msgspec
import structlog

from tictactoe_server.cluster.jetstream.link import OPENING_SECONDS, PATIENCE_SECONDS, Link, Message
from tictactoe_server.cluster.jetstream.stream import (
    FEED,
    TIME,
    TOMBSTONE,
    Entry,
    Stream,
    Write,
    entry_of,
    find_stream,
)
from tictactoe_server.records.tables import BANS, Ban, ban_or_none
from tictactoe_server.storage.journal import GameTables
from tictactoe_server.storage.journal import Write as WriteJob
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec, hash_id
from tictactoe_server.storage.sqlite import SqliteLog, SqliteStore
from tictactoe_server.storage.store import (
    MISSING,
    UNAWAITED,
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

GAME: Final = "game."
_IDENTITY: Final = "cluster"
_COPY_SECONDS: Final = 5.0
_MOST_AT_A_TIME: Final = 1_000  # how many games are copied how often, where nobody asks for any
_PATIENCE_SECONDS: Final = 1.0
_FILLER: Final = "filler"
_FILLERS, _FILLER_BYTES = 80, 120_000
"""What fills a file of the nodes, so that they begin another one: these have 8 MB at the most."""

_IN_PROCESS_SECONDS: Final = 0.02
_PLAIN: Final = frozenset({"rooms", "players", "games"})
_HALVED: Final = frozenset({"shares"})
"""How keys are written as subjects: as they are, or each half as a word, by which it is found. All others in base64."""

log: Final = structlog.get_logger(__name__)


class JetStreamTable(Generic[Value]):
    """Values under keys that begin with the name of their table, as one of it; see `Table` for what is promised."""

    def __init__(self, stream: Stream, spec: TableSpec[Value], games: GameSpec[Any]) -> None:
        self.spec = spec
        self.prefix = spec.name.removesuffix("s") + "."
        self.expires = spec.lifetime_seconds is not None
        self._stream = stream
        self._games = games

    async def load(self, key: str) -> tuple[Value, int] | None:
        found = await self._stream.newest(self.subject_of(key))
        return found and (self.spec.read(key, found.document), found.sequence)

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Value]]]:
        """Return all that is kept, some at a time; what is changed meanwhile may be missing."""
        async for entries in self._stream.walk(self.prefix + ">"):
            yield [self.stored(entry) for entry in entries]

    async def all_keys(self) -> AsyncIterator[list[str]]:
        """Return all keys, also of some that are gone since a moment, by the leader, some at a time."""
        async for subjects in self._stream.all_keys(self.prefix + ">"):
            yield [self.key_of(subject) for subject in subjects]

    async def first_key(self, prefix: str) -> str | None:
        """Return one of the keys that begin so; cheap for a first half where keys are written so."""
        rest = f"{prefix}.*" if self.spec.name in _HALVED else ">"
        async for entries in self._stream.walk(self.prefix + rest):
            for entry in entries:
                if self.key_of(entry.key).startswith(prefix):
                    return self.key_of(entry.key)
        return None

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        """Keep the value, and the finished game with it in one batch, and tell the waiter."""
        lifetime, before = self.spec.lifetime_seconds, None
        headers = {} if lifetime is None else {"Nats-TTL": f"{lifetime(value)}s"}
        if finished is not None:
            _, number = self._games.place(finished)
            name = self.subject_of(key).removeprefix(self.prefix)
            before = f"{GAME}{name}-{self._games.at(finished)}-{number}", self._games.encode(finished)
        document = self.spec.encode(value)
        self._stream.write(Write(self.subject_of(key), document, expected_revision, waiter, headers, before))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self.spec.forget(key)
        if expected_revision == MISSING:
            waiter.failed(Conflict(key))
        else:
            self._stream.write(Write(self.subject_of(key), b"", expected_revision, waiter, TOMBSTONE))

    def subject_of(self, key: str) -> str:
        """Return the key of the stream for one of the table's own."""
        if self.spec.name in _PLAIN:
            return self.prefix + key
        if self.spec.name in _HALVED:
            return f"{self.prefix}{key[: len(key) // 2]}.{key[len(key) // 2 :]}"
        return self.prefix + base64.urlsafe_b64encode(key.encode()).rstrip(b"=").decode()

    def key_of(self, subject: str) -> str:
        """Return the table's own key for one of the stream."""
        rest = subject.removeprefix(self.prefix)
        if self.spec.name in _PLAIN:
            return rest
        if self.spec.name in _HALVED:
            return rest.replace(".", "")
        return base64.urlsafe_b64decode(rest + "==").decode()

    def stored(self, entry: Entry) -> Stored[Value]:
        """Return what a message holds."""
        key = self.key_of(entry.key)
        try:
            return Stored(key, self.spec.read(key, entry.document), entry.sequence)
        except Unreadable as damaged:
            return Stored(key, damaged, MISSING)


class JetStreamStore:
    """Everything in a stream; see `Storage` for what the methods promise.

    `link` is the connection, which servers may use to talk to one another.
    """

    def __init__(self, link: Link, copy: SqliteStore, specs: Specs) -> None:
        self.link = link
        self._stream = stream = Stream(link)
        self._copy = copy
        self.figures = stream.figures
        self.owed_since = stream.owed_since
        self.noted_time = stream.noted_time
        self.games = _Log(stream, copy.games)
        self._tables: dict[str, JetStreamTable[Any]] = {
            spec.name: JetStreamTable(stream, spec, specs.games) for spec in specs.tables
        }

    @classmethod
    async def open(
        cls,
        urls: str,
        specs: Specs,
        *,
        credentials: Path | None = None,
        ca: Path | None = None,
        data: Path | None = None,
        unsafe: bool = False,
        patience_seconds: float = PATIENCE_SECONDS,
        opening_seconds: float = OPENING_SECONDS,
    ) -> Self:
        """Return the store behind ``nats://a,b,c``, with its copy of the games in the folder `data`, None for memory.

        `credentials` and `ca` are as for `Link.open`. Raises `CannotOpenStore`, also where the stream may lose what it
        has acknowledged, unless that is accepted as `unsafe`.
        """
        link = await Link.open(
            urls, credentials=credentials, ca=ca, patience_seconds=patience_seconds, opening_seconds=opening_seconds
        )
        async with contextlib.AsyncExitStack() as failing:
            failing.push_async_callback(link.close)
            info = await find_stream(Stream(link), urls, opening_seconds, unsafe=unsafe)
            copy = SqliteStore.open(None if data is None else data / "history", specs)
            failing.push_async_callback(copy.close)
            await copy.games.begin_copy(info.created, info.state.last_seq)
            failing.pop_all()
        store = cls(link, copy, specs)
        link.run(store.games.run())
        return store

    def table(self, spec: TableSpec[Value]) -> JetStreamTable[Value]:
        return self._tables[spec.name]

    def note_time(self, ms: int) -> None:
        self._stream.write(Write(TIME, str(ms).encode(), None, UNAWAITED))

    async def identity(self) -> tuple[str, bytes]:
        """Return by what players know these servers, and a secret that they share; made by whoever comes first."""
        while (found := await self._stream.newest(_IDENTITY)) is None:
            new = "c" + secrets.token_urlsafe(9), secrets.token_bytes(32)
            try:
                await self._stream.put(_IDENTITY, msgspec.json.encode(new), MISSING)
            except Conflict:
                continue
            except Unsettled:  # another server makes it just now
                await asyncio.sleep(_IN_PROCESS_SECONDS)
        return msgspec.json.decode(found.document, type=tuple[str, bytes])

    async def follow_bans(self, changed: Callable[[str, Ban | None], None]) -> None:
        """Tell of each ban that there is, and of each that any server keeps or forgets from now on."""
        bans, told = self.table(BANS), dict[str, Ban | None]()

        def tell(subject: str, ban: Ban | None) -> None:
            told[subject] = ban
            changed(subject, ban)

        def hear(message: Message) -> None:
            entry = entry_of(message)
            tell(bans.key_of(entry.key), None if entry.is_gone else ban_or_none(bans.stored(entry)))

        async def tell_all() -> None:
            with contextlib.suppress(StoreUnavailable):
                found = {stored.key: ban_or_none(stored) async for some in bans.load_all() for stored in some}
                for subject in {*told, *found}:
                    if found.get(subject) != told.get(subject):
                        tell(subject, found.get(subject))

        await self.link.subscribe(f"{FEED}{bans.prefix}>", hear)
        self.link.on_connected.append(lambda: self.link.run(tell_all()))
        await tell_all()

    async def drop_copies(self, keys: Collection[str]) -> None:
        await self.games.drop(keys)
        await self._copy.scrub()

    async def scrub(self) -> None:
        """Move what is kept behind what was replaced, so that the nodes give up the files that this stands in."""
        upto = await self._stream.last_sequence()
        for _ in range(_FILLERS):
            await self._stream.put(_FILLER, bytes(_FILLER_BYTES), None)
        for table in self._tables.values():
            async for some in table.load_all():
                for stored in some:
                    if not isinstance(stored.value, Unreadable) and stored.revision <= upto:
                        with contextlib.suppress(Conflict):  # it was written anew meanwhile
                            await save(table, stored.key, stored.value, stored.revision)
        await self._stream.erase(await self._stream.put(_FILLER, b"-", None))
        await self._copy.scrub()

    async def close(self) -> None:
        """Wait for what is under way, and let go of the connection and the copy."""
        await self._stream.close()
        await self.link.close()
        await self._copy.close()


class _Log(SqliteLog[Game]):
    """The copy, brought up to date before each question. Let `run` go on beside it."""

    def __init__(self, stream: Stream, copy: SqliteLog[Game]) -> None:
        super().__init__(copy.writer, copy.spec)
        self._stream = stream
        self._reached = 0
        self._lock = asyncio.Lock()

    async def _ask(self, ask: Callable[[GameTables], Answer]) -> Answer:
        with contextlib.suppress(TimeoutError, StoreUnavailable):  # what can be had while anybody would wait
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._copy_on(math.inf)
        return await super()._ask(ask)

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment, here and in the stream."""
        old = await self.writer.ask(lambda _, journal: journal.games.old(at))
        await asyncio.gather(*(self._stream.delete(id) for id, _ in old))
        return await super().forget_before(at)

    async def replace(self, id: int, game: Game) -> None:
        """Keep the game as a message of its own, under another id, and erase the one that had it."""
        room, number = self.spec.place(game)
        await self._stream.put(f"{GAME}{room}-{self.spec.at(game)}-{number}-again", self.spec.encode(game), None)
        await self._stream.erase(id)
        await self.writer.ask(lambda _, journal: journal.games.drop((), (id,)), WriteJob)

    async def drop(self, keys: Collection[str]) -> None:
        """Keep no copies of the games of those who are known by these hashes of their ids."""

        if keys:
            forgotten = [one for one in await super()._ask(GameTables.players) if hash_id(one) in keys]
            await self.writer.ask(lambda _, journal: journal.games.drop(forgotten), WriteJob)

    async def run(self) -> None:
        """Copy some now and then, until cancelled; what fails is tried again."""
        while True:
            try:
                await self._copy_on(_MOST_AT_A_TIME)
            except StoreUnavailable as unavailable:
                log.warning("finished games could not be copied yet", reason=str(unavailable))
            await asyncio.sleep(_COPY_SECONDS)

    async def _copy_on(self, most: float) -> None:
        """Copy what the stream has and the copy has not, about so many."""
        async with self._lock:
            upto = await self._stream.last_sequence()
            self._reached = self._reached or await self.writer.ask(lambda _, journal: journal.games.newest())
            async for entries in self._stream.walk(GAME + ">", self._reached, upto):
                games = [(entry.sequence, entry.document) for entry in entries]
                await self.take(games)
                self._reached = max([self._reached, *(id for id, _ in games)])
                most -= len(games)
                if most <= 0:
                    return
            self._reached = max(self._reached, upto)
