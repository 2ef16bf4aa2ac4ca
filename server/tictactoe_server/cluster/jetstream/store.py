"""The store of several servers: one stream for all, and a copy of the finished games for each.

A game's id is the sequence of its message. The copy takes games in that order, so it goes on behind its newest one:
some of them every few seconds, and all before a question is answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import structlog

from tictactoe_server.cluster.jetstream import tables
from tictactoe_server.cluster.jetstream.link import OPENING_SECONDS, PATIENCE_SECONDS, Link, Message
from tictactoe_server.cluster.jetstream.setup import find_stream
from tictactoe_server.cluster.jetstream.stream import DELETE_SUBJECT, FEED, Stream, Write, entry_of
from tictactoe_server.records.tables import BANS, Ban, ban_or_none
from tictactoe_server.storage.journal import GameTables
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteLog, SqliteStore
from tictactoe_server.storage.store import MISSING, UNAWAITED, Conflict, Game, StoreUnavailable, Unsettled, Value
from tictactoe_server.storage.writer import Answer

_COPY_SECONDS: Final = 5.0
_MOST_AT_A_TIME: Final = 1_000  # how many games are copied how often, where nobody asks for any
_PATIENCE_SECONDS: Final = 1.0
_IN_PROCESS_SECONDS: Final = 0.02

log: Final = structlog.get_logger(__name__)


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
        self.games = _Log(stream, copy.games)
        self._tables: dict[str, tables.JetStreamTable[Any]] = {
            spec.name: tables.JetStreamTable(stream, spec, specs.games) for spec in specs.tables
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
        link.run(store.games.keep())
        return store

    def table(self, spec: TableSpec[Value]) -> tables.JetStreamTable[Value]:
        return self._tables[spec.name]

    def note_time(self, ms: int) -> None:
        self._stream.write(Write(tables.TIME, str(ms).encode(), None, UNAWAITED))

    async def noted_time(self) -> int | None:
        return await tables.noted_time(self._stream)

    async def identity(self) -> tuple[str, bytes]:
        """Return by what players know these servers, and a secret that they share; made by whoever comes first."""
        while (found := await self._stream.newest(tables.IDENTITY)) is None:
            new = "c" + secrets.token_urlsafe(9), secrets.token_bytes(32)
            try:
                await self._stream.keep(tables.IDENTITY, msgspec.json.encode(new), MISSING)
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

    async def close(self) -> None:
        """Wait for what is under way, and let go of the connection and the copy."""
        await self._stream.close()
        await self.link.close()
        await self._copy.close()


class _Log(SqliteLog[Game]):
    """The copy, brought up to date before each question. Let `keep` run beside it."""

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
        orders = [msgspec.json.encode({"seq": id, "no_erase": True}) for id, _ in old]
        await asyncio.gather(*(self._stream.link.request(DELETE_SUBJECT, order) for order in orders))
        return await super().forget_before(at)

    async def keep(self) -> None:
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
            async for entries in self._stream.walk(tables.GAME + ">", self._reached, upto):
                games = [(entry.sequence, entry.document) for entry in entries]
                await self.take(games)
                self._reached = max([self._reached, *(id for id, _ in games)])
                most -= len(games)
                if most <= 0:
                    return
            self._reached = max(self._reached, upto)
