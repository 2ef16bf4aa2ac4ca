"""The sharding of a store over several streams.

Rooms and their finished games are sharded by a hash of the room's code; everything else is in the first stream. If the
number of shards changes, rooms move to other streams. Games do not move, and their ids show which stream has them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from random import randrange
from typing import Final
from zlib import crc32

import msgspec
from msgspec import Struct

from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.stream import (
    NO_STREAM,
    NoStream,
    Stream,
    StreamError,
    StreamInfo,
    find_stream,
)
from tictactoe_server.storage.journal import PART_BITS
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Conflict, WriteFigures

ROOM: Final = "room."
GAME: Final = "game."
LAYOUT: Final = "streams"  # the key of the layout in the first stream
FORMAT: Final = 2
_STREAM_OF_VERSION_1: Final = "KV_rooms"


class Layout(Struct, frozen=True):
    """How rooms are distributed over the streams.

    Attributes:
        format: The format of everything in the streams; version 1 stored no format.
        shared: The number of streams that rooms are stored in.
        streams: The number of all streams. Streams without rooms may still have games.
        floor: The number that is added to a message's sequence in the id of its game.
        is_changing: Whether rooms are being moved, so that some are still in the wrong stream.
    """

    format: int = 1
    shared: int = 1
    streams: int = 1
    floor: int = 0
    is_changing: bool = False


class Streams:
    """The streams of a store.

    Args:
        first: The name of the first stream.
    """

    def __init__(self, link: Link, first: str, layout: Layout) -> None:
        self.link = link
        self.layout = layout
        self.figures = WriteFigures()
        names = [first, *map(name_of, range(1, layout.streams))]
        self.all: Sequence[Stream] = [Stream(link, name, self.figures) for name in names]
        self.first = self.all[0]
        self._turn = randrange(layout.shared)

    def of(self, key: str) -> Stream:
        if not key.startswith((ROOM, GAME)):
            return self.first
        code = key[len(ROOM) :].partition("-")[0]
        return self.all[crc32(code.encode()) % self.layout.shared]

    def is_next(self, code: str) -> bool:
        """Return whether a new room with this code would be stored in the stream whose turn it is.

        The streams take turns to receive new rooms, so that they fill equally.
        """
        is_next = self.of(ROOM + code) is self.all[self._turn]
        self._turn = (self._turn + is_next) % self.layout.shared
        return is_next

    def having(self, keys: str) -> Sequence[Stream]:
        """Return the streams that may have keys with the prefix `keys`."""
        if keys.startswith(GAME):
            return self.all
        return self.all[: self.layout.shared] if keys.startswith(ROOM) else [self.first]

    def owed_since(self) -> float | None:
        return min((since for one in self.all if (since := one.owed_since()) is not None), default=None)

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self.all))

    def id_of(self, number: int, sequence: int) -> int:
        """Return the id of the game with this sequence in the stream with this number.

        For sequence 0, return an id below the ids of all games in the stream.
        """
        return (number << PART_BITS) + (sequence and self.layout.floor + sequence)

    def place_of(self, id: int) -> tuple[Stream, int] | None:
        """Return the stream and the sequence of the game with this id, or None if it was copied from another store."""
        number, sequence = id >> PART_BITS, id % (1 << PART_BITS) - self.layout.floor
        return (self.all[number], sequence) if sequence > 0 else None


def name_of(number: int) -> str:
    """Return the name of the stream with this number, from 0."""
    return f"rooms-{number}"


async def check_format(first: Stream) -> Layout:
    """Return the layout, after writing a default layout if the stream is empty.

    Raises `CannotOpenStore` if version 1 has written the stream.
    """
    found, info = await first.newest(LAYOUT), await first.info()
    layout = found and msgspec.json.decode(found.document, type=Layout)
    if layout is None and not info.state.messages:
        layout = Layout(FORMAT)
        with suppress(Conflict):  # another server wrote it just now
            await first.put(LAYOUT, msgspec.json.encode(layout), MISSING)
    if layout is None or layout.format < FORMAT:
        raise _written_by_version_1(first.link, first.name)
    return layout


async def refuse_version_1(link: Link) -> None:
    """Raise `CannotOpenStore` if the account has the stream that version 1 used."""
    try:
        await Stream(link, _STREAM_OF_VERSION_1).info()
    except StreamError as error:
        if error.code == NO_STREAM:
            return
        raise
    raise _written_by_version_1(link, _STREAM_OF_VERSION_1)


def _written_by_version_1(link: Link, stream: str) -> CannotOpenStore:
    return CannotOpenStore(
        f"The stream {stream} in {link.urls} was written by version 1 of tictactoe-server, which version 2 cannot "
        "read: keep using that version for it, or use another account of NATS. Nothing in it was changed."
    )


async def find_streams(link: Link, patience_seconds: float, *, unsafe: bool) -> tuple[Streams, list[StreamInfo]]:
    """Wait for the streams' leaders, and return the streams with their descriptions.

    Raises `CannotOpenStore` as `find_stream` does, and also for streams written by version 1 or while rooms are moved.
    """
    first = Stream(link, name_of(0))
    try:
        info = await find_stream(first, patience_seconds, unsafe=unsafe)
    except NoStream:
        await refuse_version_1(link)
        raise
    layout = await check_format(first)
    if layout.is_changing:
        raise CannotOpenStore(
            f"The rooms in {link.urls} are being shared out among the streams, or that broke off. "
            f"To end it: tictactoe-server cluster reshard {layout.shared}."
        )
    streams = Streams(link, first.name, layout)
    finding = (find_stream(one, patience_seconds, unsafe=unsafe) for one in streams.all[1:])
    return streams, [info, *await asyncio.gather(*finding)]
