"""The streams of a store, among which rooms and their games are shared out, and how a game's id tells its stream.

A room and its finished games are in the stream that a hash of the room's code says, all else is in the first. Where the
streams are shared out among more or fewer, the rooms move; a game stays in the stream where it was kept.
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

from tictactoe_server.cluster.jetstream.link import Link
from tictactoe_server.cluster.jetstream.stream import NO_STREAM, NoStream, Stream, StreamError, StreamInfo, find_stream
from tictactoe_server.storage.journal import PART_BITS
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Conflict, WriteFigures

ROOM: Final = "room."
GAME: Final = "game."
LAYOUT: Final = "streams"  # the key of the first stream under which stands how many there are
FORMAT: Final = 2  # of all that the streams hold; version 1 did not write any
_STREAM_OF_VERSION_1: Final = "KV_rooms"


class Layout(Struct, frozen=True):
    """How rooms are spread over the streams.

    Attributes:
        format: The format of everything in the streams; version 1 wrote none.
        shared: The number of streams that have rooms.
        streams: The number of all streams; games may be in the others, too.
        floor: The ids of games begin behind it in each stream.
        is_changing: Whether rooms are being moved, so that some are in the wrong stream.
    """

    format: int = 1
    shared: int = 1
    streams: int = 1
    floor: int = 0
    is_changing: bool = False


class Streams:
    """The streams over `link`, of which the first has this name."""

    def __init__(self, link: Link, first: str, layout: Layout) -> None:
        self.link = link
        self.layout = layout
        self.figures = WriteFigures()
        names = [first, *map(name_of, range(1, layout.streams))]
        self.all: Sequence[Stream] = [Stream(link, name, self.figures) for name in names]
        self.first = self.all[0]
        self._turn = randrange(layout.shared)

    def of(self, key: str) -> Stream:
        """Return the stream in which a key is written."""
        if not key.startswith((ROOM, GAME)):
            return self.first
        code = key[len(ROOM) :].partition("-")[0]
        return self.all[crc32(code.encode()) % self.layout.shared]

    def is_next(self, code: str) -> bool:
        """Tell whether a new room of this code goes to the stream whose turn it is; each has its turn as often."""
        is_next = self.of(ROOM + code) is self.all[self._turn]
        self._turn = (self._turn + is_next) % self.layout.shared
        return is_next

    def having(self, keys: str) -> Sequence[Stream]:
        """Return the streams that have keys which begin so."""
        if keys.startswith(GAME):
            return self.all
        return self.all[: self.layout.shared] if keys.startswith(ROOM) else [self.first]

    def owed_since(self) -> float | None:
        """Return since when any of them owes an answer or is away (s, as `clock.monotonic`), or None."""
        return min((since for one in self.all if (since := one.owed_since()) is not None), default=None)

    async def close(self) -> None:
        """Wait for the writes under way, for no longer than an answer may take."""
        await asyncio.gather(*(one.close() for one in self.all))

    # -- the ids of games ---------------------------------------------------------------------------------------

    def id_of(self, number: int, sequence: int) -> int:
        """Return the id of the game that was first kept as this message of a stream, or of the one before its first."""
        return (number << PART_BITS) + (sequence and self.layout.floor + sequence)

    def place_of(self, id: int) -> tuple[Stream, int] | None:
        """Return the stream and the sequence of the game with an id, None for one that came from another store."""
        number, sequence = id >> PART_BITS, id % (1 << PART_BITS) - self.layout.floor
        return (self.all[number], sequence) if sequence > 0 else None


def name_of(number: int) -> str:
    """Return the name of a stream by its place among all."""
    return f"rooms-{number}"


async def read_layout(first: Stream) -> Layout | None:
    """Return the layout in the first stream, None if there is none; raises `StoreUnavailable`."""
    found = await first.newest(LAYOUT)
    return found and msgspec.json.decode(found.document, type=Layout)


async def check_format(first: Stream) -> Layout:
    """Return the layout, which is written if the stream is empty.

    Raises `CannotOpenStore` if version 1 wrote in these streams, and `StoreUnavailable`.
    """
    layout, info = await read_layout(first), await first.info()
    if layout is None and not info.state.messages:
        layout = Layout(FORMAT)
        with suppress(Conflict):  # another server wrote it just now
            await first.put(LAYOUT, msgspec.json.encode(layout), MISSING)
    if layout is None or layout.format < FORMAT:
        raise _written_by_version_1(first.link, first.name)
    return layout


async def refuse_version_1(link: Link) -> None:
    """Raise `CannotOpenStore` if the account has the one stream that versions up to 1.4 had; else return."""
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
    """Return the streams, and what the leader of each says, for which it waits.

    Raises `CannotOpenStore` like `find_stream`, if version 1 wrote the streams, and while rooms are being moved.
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
