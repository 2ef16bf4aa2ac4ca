"""The store of the whole house: one stream for all servers, and a copy of the finished games for each."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, Self

import structlog

from tictactoe_server.stores.figures import WriteFigures
from tictactoe_server.stores.jetstream.answers import NO_STREAM
from tictactoe_server.stores.jetstream.archive import JetStreamArchive
from tictactoe_server.stores.jetstream.feed import Feed
from tictactoe_server.stores.jetstream.link import OPENING_SECONDS, PATIENCE_SECONDS, Link, hidden
from tictactoe_server.stores.jetstream.setup import faults_of, risks_of
from tictactoe_server.stores.jetstream.stream import STREAM, Stream, StreamInfo
from tictactoe_server.stores.jetstream.tables import TIME, JetStreamBans, JetStreamPlayers, JetStreamRooms
from tictactoe_server.stores.jetstream.writes import MAX_WAITING, Writes
from tictactoe_server.stores.sqlite import SqliteStore
from tictactoe_server.stores.store import UNAWAITED, CannotOpenStore, StoreUnavailable, Unreadable

HISTORY: Final = "history"
"""The folder, in a server's folder of data, of its copy of the finished games."""

_PAUSE_SECONDS: Final = 0.25

log: Final = structlog.get_logger(__name__)


class JetStreamStore:
    """Everything in a stream; see `Storage` for what the methods promise.

    `link` is the connection, which servers may use to talk to one another, and `feed` tells what any of them writes.
    """

    def __init__(self, link: Link, copy: SqliteStore, *, max_waiting: int = MAX_WAITING) -> None:
        """Put the parts together; see `open`."""
        self.link = link
        self._stream = stream = Stream(link)
        self._writes = writes = Writes(link, stream, max_waiting=max_waiting)
        self._copy = copy
        self.archive = JetStreamArchive(link, stream, writes, copy.archive, lambda: self.feed.sequence)
        self.feed = Feed(link, stream, self.archive.take)
        self.rooms = JetStreamRooms(stream, writes, self.archive.archived)
        self.players = JetStreamPlayers(stream, writes)
        self.bans = JetStreamBans(stream, writes)
        self._copying: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        urls: str,
        *,
        credentials: Path | None = None,
        ca: Path | None = None,
        data: Path | None = None,
        unsafe: bool = False,
        max_waiting: int = MAX_WAITING,
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
        try:
            info = await _find_stream(Stream(link), urls, opening_seconds)
            check(info, unsafe=unsafe)
            copy = SqliteStore.open(None if data is None else data / HISTORY)
        except BaseException:
            await link.close()
            raise
        store = cls(link, copy, max_waiting=max_waiting)
        try:
            await store._follow(info)
        except BaseException:
            await store.close()
            raise
        return store

    @property
    def figures(self) -> WriteFigures:
        """What the writes took so far, each one by itself."""
        return self._writes.figures

    def owed_since(self) -> float | None:
        """Return since when the store owes an answer or is away (s, as `time.monotonic`), or None."""
        return self._writes.owed_since()

    def note_time(self, ms: int) -> None:
        """Keep the time over the note before."""
        self._writes.put(TIME, str(ms).encode(), UNAWAITED)

    async def noted_time(self) -> int | None:
        """Return the last note of any server, or None."""
        found = await self._stream.newest(TIME)
        if found is None or found.document is None:
            return None
        try:
            return int(found.document)
        except ValueError as error:
            raise Unreadable(f"The time is no number: {error}.") from error

    async def close(self) -> None:
        """Wait for what is under way, and let go of the connection and the copy."""
        await self.players.close()
        await self._writes.close()
        await self.feed.close()
        if self._copying is not None:
            self._copying.cancel()
            await asyncio.gather(self._copying, return_exceptions=True)
        await self.link.close()
        await self._copy.close()

    async def _follow(self, info: StreamInfo) -> None:
        """Begin to copy the games."""
        try:
            await self._copy.archive.begin_copy(info.created, info.state.last_seq)
            await self.feed.open()
        except StoreUnavailable as unavailable:
            raise CannotOpenStore(f"Cannot follow the store: {unavailable}") from unavailable
        self._copying = asyncio.create_task(self.archive.keep())


def check(info: StreamInfo, *, unsafe: bool) -> None:
    """Raise `CannotOpenStore` where the stream is not as the rooms need it, or is at risk and that is not accepted."""
    faults = faults_of(info)
    if faults:
        raise CannotOpenStore(f"The stream {STREAM} cannot keep the rooms: {' '.join(faults)}")
    risks = risks_of(info)
    if risks and not unsafe:
        raise CannotOpenStore(
            f"The stream {STREAM} may lose what it has acknowledged. {' '.join(risks)} "
            "To use it all the same: --store-unsafe."
        )
    for risk in risks:
        log.warning("the store may lose what it has acknowledged", reason=risk)


async def _find_stream(stream: Stream, urls: str, patience_seconds: float) -> StreamInfo:
    """Return what the stream's leader says, for whom it waits; raises `CannotOpenStore`."""
    reason = "it does not answer"
    try:
        async with asyncio.timeout(patience_seconds):
            while True:
                try:
                    info = await stream.info()
                    if info.error is None:
                        return info
                    if info.error.err_code == NO_STREAM:
                        raise CannotOpenStore(
                            f"There is no stream {STREAM} in {hidden(urls)}. To make it: tictactoe-server cluster init."
                        )
                    reason = info.error.description
                except StoreUnavailable as unavailable:
                    reason = str(unavailable).rstrip(".")
                await asyncio.sleep(_PAUSE_SECONDS)
    except TimeoutError:
        raise CannotOpenStore(f"Cannot use the stream {STREAM} in {hidden(urls)}: {reason}.") from None
