"""What is in a stream, as of one moment while servers write on, and an empty stream to be filled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Self

from tictactoe_server.rooms import FinishedGame, Room
from tictactoe_server.stores.contents import AT_ONCE, CannotMove, Item, Kind, KnownPlayer, SharedGame
from tictactoe_server.stores.documents import (
    decode_ban,
    decode_game,
    decode_room_of,
    encode_ban,
    encode_game,
    encode_room,
)
from tictactoe_server.stores.jetstream.link import PATIENCE_SECONDS, Link, LinkError, Message, hidden
from tictactoe_server.stores.jetstream.setup import faults_of
from tictactoe_server.stores.jetstream.stream import FEED, STREAM, Entry, Stream, heard
from tictactoe_server.stores.jetstream.tables import (
    BAN,
    GAME,
    PLAYER,
    ROOM,
    SHARE,
    TIME,
    Known,
    ban_key,
    decode_known,
    encode_known,
    share_key,
    shared_id_of,
)
from tictactoe_server.stores.jetstream.writes import Writes
from tictactoe_server.stores.store import MISSING, Ban, Conflict, Pending, StoreUnavailable, Unreadable

_PREFIXES: Final[dict[Kind, str]] = {"rooms": ROOM, "players": PLAYER, "bans": BAN, "shares": SHARE, "games": GAME}
_PAUSE_SECONDS: Final = 0.5
_TRYING_SECONDS: Final = 60.0
"""For how long a write that fails is tried again, which is longer than nodes need for an election."""


class StreamSource:
    """What was written until the rooms had been read, and of players and bans maybe what came after; see `Source`.

    What is written meanwhile is heard, for the older message under its key may be gone before it is read.
    """

    def __init__(self, link: Link) -> None:
        """Read over a link; see `open`."""
        self.damage: list[str] = []
        self._link = link
        self._stream = Stream(link)
        self._heard: dict[str, Entry] = {}
        self._from = self._upto = self._games_upto = 0
        self._is_whole = True
        self._is_amid = False

    @classmethod
    async def open(cls, urls: str, credentials: Path | None, ca: Path | None) -> Self:
        """Return what the stream behind ``nats://a,b,c`` holds; raises `CannotMove` and `CannotOpenStore`."""
        link = await Link.open(urls, credentials=credentials, ca=ca)
        try:
            source = cls(link)
            await link.subscribe(FEED + ">", source._hear)
            await link.flush()
            source._from = await source._stream.last_sequence()
            source._upto = source._upto or source._from
        except (LinkError, StoreUnavailable) as error:
            await link.close()
            raise CannotMove(f"Cannot read the stream {STREAM} in {hidden(urls)}: {error}") from error
        except BaseException:
            await link.close()
            raise
        return source

    async def read(self, kind: Kind) -> AsyncIterator[Sequence[Item]]:
        """Yield all of a kind that can be read."""
        try:
            if kind == "games":  # which never change
                async for entries in self._stream.walk(GAME + ">", 0, self._games_upto):
                    yield list(self._items(kind, entries))
                return
            prefix, found = _PREFIXES[kind], dict[str, Entry]()
            async for entries in self._stream.walk(prefix + ">", 0, self._from):
                found.update((entry.key, entry) for entry in entries)
            await self._catch_up()
        except StoreUnavailable as unavailable:
            raise CannotMove(f"The stream cannot be read: {unavailable}") from unavailable
        if kind == "rooms":
            self._games_upto = self._upto
        found.update((key, entry) for key, entry in self._heard.items() if key.startswith(prefix))
        everything = list(found.values())
        for first in range(0, len(everything), AT_ONCE):
            yield list(self._items(kind, everything[first : first + AT_ONCE]))

    async def time(self) -> int | None:
        """Return the last note of any server."""
        try:
            found = await self._stream.newest(TIME)
            return None if found is None or found.document is None else int(found.document)
        except StoreUnavailable as unavailable:
            raise CannotMove(f"The stream cannot be read: {unavailable}") from unavailable
        except ValueError:
            self.damage.append("How long servers have run.")
            return None

    async def close(self) -> None:
        """End the connection."""
        await self._link.close()

    def _hear(self, message: Message) -> None:
        entry = heard(message)
        if entry is not None:
            self._is_whole = self._is_whole and self._upto in (0, entry.sequence - 1)
            self._is_amid = entry.key.startswith(GAME)  # its room comes next
            self._upto = entry.sequence
            self._heard[entry.key] = entry

    async def _catch_up(self) -> None:
        """Return when all that was written until now has been heard; raises `StoreUnavailable`."""
        newest = await self._stream.last_sequence()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while self._upto < newest or self._is_amid:  # noqa: ASYNC110  # what comes meanwhile is many messages
                    await asyncio.sleep(0.01)
        except TimeoutError:
            self._is_whole = False
        if not self._is_whole:
            raise StoreUnavailable("What was written meanwhile has not all come. Try again.")

    def _items(self, kind: Kind, entries: Iterable[Entry]) -> Iterator[Item]:
        for entry in entries:
            if entry.document is None:
                continue
            try:
                yield _decode(kind, entry.key, entry.document)
            except Unreadable as unreadable:
                self.damage.append(f"{entry.key}: {unreadable}")


class StreamTarget:
    """A stream that had nothing in it; see `Target`."""

    def __init__(self, link: Link) -> None:
        """Write over a link; see `open`."""
        self._link = link
        self._writes = Writes(link, Stream(link))
        self._games = 0

    @classmethod
    async def open(cls, urls: str, credentials: Path | None, ca: Path | None) -> Self:
        """Return the stream behind ``nats://a,b,c``; raises `CannotMove` and `CannotOpenStore`."""
        link = await Link.open(urls, credentials=credentials, ca=ca)
        try:
            info = await Stream(link).info()
            if info.error is not None:
                raise CannotMove(
                    f"There is no stream {STREAM} in {hidden(urls)}: {info.error.description}. "
                    "To make it: tictactoe-server cluster init."
                )
            if faults := faults_of(info):
                raise CannotMove(f"The stream {STREAM} cannot keep the rooms: {' '.join(faults)}")
            if info.state.messages:
                raise CannotMove(
                    f"The stream {STREAM} in {hidden(urls)} is not empty: it has {info.state.messages} documents. "
                    "Nothing in it was changed."
                )
        except StoreUnavailable as unavailable:
            await link.close()
            raise CannotMove(f"The stream {STREAM} cannot be asked: {unavailable}") from unavailable
        except BaseException:
            await link.close()
            raise
        return cls(link)

    async def write(self, items: Sequence[Item]) -> None:
        """Keep all of these; what fails is tried again for a while."""
        await self._write([self._message(item) for item in items])

    async def write_time(self, ms: int) -> None:
        """Keep the time."""
        await self._write([_Message(TIME, str(ms).encode())])

    async def close(self) -> None:
        """Wait for what is under way, and end the connection."""
        await self._writes.close()
        await self._link.close()

    async def _write(self, messages: list[_Message]) -> None:
        try:
            async with asyncio.timeout(_TRYING_SECONDS):
                failed = await self._try(messages, is_first=True)
                while failed:
                    await asyncio.sleep(_PAUSE_SECONDS)
                    failed = await self._try(failed, is_first=False)
        except TimeoutError:
            raise CannotMove("The stream takes no more.") from None

    async def _try(self, messages: list[_Message], *, is_first: bool) -> list[_Message]:
        """Write messages and return those of which it is not known that they are kept."""
        pending = [Pending() for _ in messages]
        for message, waiter in zip(messages, pending, strict=True):
            self._writes.replace(message.key, message.document, MISSING, waiter, message.headers)
        failed = []
        for message, outcome in zip(
            messages, await asyncio.gather(*(each.future for each in pending), return_exceptions=True), strict=True
        ):
            if isinstance(outcome, StoreUnavailable):
                failed.append(message)
            elif isinstance(outcome, Conflict) and is_first:  # later it may be what was written before
                raise CannotMove(f"Somebody else writes into the stream, too: {message.key} is there already.")
            elif isinstance(outcome, BaseException) and not isinstance(outcome, Conflict):
                raise outcome
        return failed

    def _message(self, item: Item) -> _Message:
        match item:
            case Room():
                return _Message(ROOM + item.code, encode_room(item))
            case KnownPlayer():
                known = Known(item.player, item.seen, item.is_seated)
                return _Message(PLAYER + item.key, encode_known(known), known.headers)
            case Ban():
                return _Message(ban_key(item.subject), encode_ban(item))
            case SharedGame():
                return _Message(share_key(item.id), encode_game(item.game))
            case FinishedGame():
                self._games += 1
                return _Message(f"{GAME}{self._games}", encode_game(item))


class _Message(NamedTuple):
    """What is written under a key."""

    key: str
    document: bytes
    headers: Mapping[str, str] | None = None


def _decode(kind: Kind, key: str, document: bytes) -> Item:
    """Return what a message holds; raises `Unreadable`."""
    name = key.removeprefix(_PREFIXES[kind])
    match kind:
        case "rooms":
            return decode_room_of(name, document)
        case "players":
            known = decode_known(document)
            return KnownPlayer(name, known.player, known.seen, known.is_seated)
        case "bans":
            return decode_ban(document)
        case "shares":
            return SharedGame(shared_id_of(name), decode_game(document))
        case "games":
            return decode_game(document)
