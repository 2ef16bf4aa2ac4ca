"""What is in a stream, as of one moment while servers write on, and an empty stream to be filled."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, Self

from tictactoe_server.cluster.jetstream import tables
from tictactoe_server.cluster.jetstream.access import hidden
from tictactoe_server.cluster.jetstream.link import PATIENCE_SECONDS, Link, on_failure
from tictactoe_server.cluster.jetstream.setup import find_stream
from tictactoe_server.cluster.jetstream.stream import FEED, STREAM, Entry, Stream, entry_of
from tictactoe_server.rooms import FinishedGame, Room
from tictactoe_server.storage import documents
from tictactoe_server.storage.contents import AT_ONCE, CannotMove, Item, Kind, KnownPlayer, SharedGame
from tictactoe_server.storage.store import MISSING, Ban, Conflict, StoreUnavailable, Unreadable

_PAUSE_SECONDS: Final = 0.5
_TRYING_SECONDS: Final = 60.0
"""For how long a write that fails is tried again, which is longer than nodes need for an election."""


class StreamSource:
    """What was written until the rooms had been read, and of players and bans maybe what came after; see `Source`.

    What is written meanwhile is heard, for the older message under its key may be gone before it is read.
    """

    def __init__(self, link: Link) -> None:
        self.damage: list[str] = []
        self._stream = Stream(link)
        self._heard: list[Entry] = []
        self._games_upto = 0

    @classmethod
    async def open(cls, urls: str, credentials: Path | None, ca: Path | None) -> Self:
        """Return what the stream behind ``nats://a,b,c`` holds; raises `CannotMove` and `CannotOpenStore`."""
        source = cls(await Link.open(urls, credentials=credentials, ca=ca))
        async with on_failure(source.close):
            with _reading():
                await source._stream.link.subscribe(FEED + ">", lambda message: source._heard.append(entry_of(message)))
                await source._stream.link.flush()
                newest = await source._stream.last_sequence()
        if not source._heard:
            source._heard.append(Entry("", newest, b"", is_gone=True))  # behind which the hearing begins
        return source

    async def read(self, kind: Kind) -> AsyncIterator[Sequence[Item]]:
        """Yield all of a kind that can be read."""
        prefix, found = _KINDS[kind][0], dict[str, Entry]()
        with _reading():
            if kind == "games":  # which never change
                async for entries in self._stream.walk(prefix + ">", 0, self._games_upto):
                    yield list(self._items(kind, entries))
                return
            async for entries in self._stream.walk(prefix + ">"):
                found.update((entry.key, entry) for entry in entries)
            await self._catch_up()
        if kind == "rooms":
            self._games_upto = self._heard[-1].sequence
        found.update((entry.key, entry) for entry in self._heard if entry.key.startswith(prefix))
        everything = [entry for entry in found.values() if not entry.is_gone]
        for first in range(0, len(everything), AT_ONCE):
            yield list(self._items(kind, everything[first : first + AT_ONCE]))

    async def time(self) -> int | None:
        """Return the last note of any server."""
        with _reading():
            found = await self._stream.newest(tables.TIME)
        try:
            return None if found is None else int(found.document)
        except ValueError:
            self.damage.append("How long servers have run.")
            return None

    async def close(self) -> None:
        """End the connection."""
        await self._stream.link.close()

    async def _catch_up(self) -> None:
        """Return when all that was written until now has been heard; raises `StoreUnavailable`."""
        newest = await self._stream.last_sequence()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not self._has_heard(newest):  # noqa: ASYNC110  # what comes meanwhile is many messages
                    await asyncio.sleep(0.01)
        is_whole = all(later.sequence == earlier.sequence + 1 for earlier, later in pairwise(self._heard))
        if not is_whole or not self._has_heard(newest):
            raise StoreUnavailable("What was written meanwhile has not all come. Try again.")

    def _has_heard(self, sequence: int) -> bool:
        last = self._heard[-1]
        return last.sequence >= sequence and not last.key.startswith(tables.GAME)  # the room of a game comes next

    def _items(self, kind: Kind, entries: Iterable[Entry]) -> Iterator[Item]:
        prefix, decode = _KINDS[kind]
        for entry in entries:
            try:
                yield decode(entry.key.removeprefix(prefix), entry.document)
            except Unreadable as unreadable:
                self.damage.append(f"{entry.key}: {unreadable}")


class StreamTarget:
    """A stream that had nothing in it; see `Target`."""

    def __init__(self, link: Link) -> None:
        self._stream = Stream(link)
        self._games = 0

    @classmethod
    async def open(cls, urls: str, credentials: Path | None, ca: Path | None) -> Self:
        """Return the stream behind ``nats://a,b,c``; raises `CannotMove` and `CannotOpenStore`."""
        link = await Link.open(urls, credentials=credentials, ca=ca)
        async with on_failure(link.close):
            info = await find_stream(Stream(link), urls, PATIENCE_SECONDS, unsafe=True)
            if info.state.messages:
                raise CannotMove(
                    f"The stream {STREAM} in {hidden(urls)} is not empty: it has {info.state.messages} documents. "
                    "Nothing in it was changed."
                )
        return cls(link)

    async def write(self, items: Sequence[Item]) -> None:
        """Keep all of these, sent in their order; what fails is tried again for a while."""
        await asyncio.gather(*(self._keep(*self._message(item)) for item in items))

    async def write_time(self, ms: int) -> None:
        """Keep the time."""
        await self._keep(tables.TIME, str(ms).encode())

    async def close(self) -> None:
        """End the connection."""
        await self._stream.link.close()

    async def _keep(self, key: str, document: bytes, headers: dict[str, str] | None = None) -> None:
        """Keep a document under a key that is new, unless it was kept by an attempt that seemed to fail."""
        is_first, deadline = True, time.monotonic() + _TRYING_SECONDS
        while True:
            try:
                return await self._stream.put(key, document, MISSING, headers)
            except Conflict:
                if is_first:
                    raise CannotMove(f"Somebody else writes into the stream, too: {key} is there already.") from None
                return None
            except StoreUnavailable as unavailable:
                if time.monotonic() > deadline:
                    raise CannotMove(f"The stream takes no more: {unavailable}") from unavailable
            is_first = False
            await asyncio.sleep(_PAUSE_SECONDS)

    def _message(self, item: Item) -> tuple[str, bytes] | tuple[str, bytes, dict[str, str]]:
        """Return the key and the document of what is to be kept, and its headers."""
        match item:
            case Room():
                return tables.ROOM + item.code, documents.encode_room(item)
            case KnownPlayer():
                known = tables.Known(item.player, item.seen, item.is_seated)
                return tables.PLAYER + item.key, tables.encode_known(known), known.headers
            case Ban():
                return tables.ban_key(item.subject), documents.encode_ban(item)
            case SharedGame():
                return tables.share_key(item.id), documents.encode_game(item.game)
            case FinishedGame():
                self._games += 1
                return f"{tables.GAME}{self._games}", documents.encode_game(item)


@contextlib.contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except StoreUnavailable as unavailable:
        raise CannotMove(f"The stream {STREAM} cannot be read: {unavailable}") from unavailable


def _decode_player(key: str, document: bytes) -> KnownPlayer:
    known = tables.decode_known(document)
    return KnownPlayer(key, known.player, known.seen, known.is_seated)


def _decode_shared(name: str, document: bytes) -> SharedGame:
    return SharedGame(tables.shared_id_of(name), documents.decode_game(document))


_KINDS: Final[dict[Kind, tuple[str, Callable[[str, bytes], Item]]]] = {
    "rooms": (tables.ROOM, documents.decode_room_of),
    "players": (tables.PLAYER, _decode_player),
    "bans": (tables.BAN, lambda name, document: documents.decode_ban(document)),
    "shares": (tables.SHARE, _decode_shared),
    "games": (tables.GAME, lambda name, document: documents.decode_game(document)),
}
"""The beginning of the keys of each kind, and what makes an item of the rest of a key and its document."""
