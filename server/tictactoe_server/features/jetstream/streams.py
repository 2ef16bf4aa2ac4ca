"""The sharding of a store over several streams.

Rooms and their finished games are sharded by a hash of the room's code; everything else is in the first stream. If the
number of shards changes, rooms move to other streams. Games do not move, and their ids show which stream has them.
The operator's commands create the streams, spread their leaders over the nodes, and change their number.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from random import randrange
from typing import Final
from zlib import crc32

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from nats.js.api import ClusterInfo

from tictactoe_server import clock
from tictactoe_server.features.jetstream.link import PATIENCE_SECONDS, Link
from tictactoe_server.features.jetstream.stream import (
    NO_STREAM,
    REPLICAS,
    Entry,
    Stream,
    StreamError,
    StreamInfo,
    find_stream,
)
from tictactoe_server.storage.journal import PART_BITS
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Conflict, StoreUnavailable, WriteFigures

ROOM: Final = "room."
GAME: Final = "game."
LAYOUT: Final = "streams"  # the key of the layout in the first stream
FORMAT: Final = 2

_CREATE: Final = "STREAM.CREATE."
_STEP_DOWN: Final = "STREAM.LEADER.STEPDOWN."
_ELECTION_SECONDS: Final = 4.0
_LOOK_SECONDS: Final = 0.1


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
        return min((since for stream in self.all if (since := stream.owed_since()) is not None), default=None)

    async def close(self) -> None:
        await asyncio.gather(*(stream.close() for stream in self.all))

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

    Raise `CannotOpenStore` if version 1 has written the stream.
    """
    found, info = await first.newest(LAYOUT), await first.info()
    layout = found and msgspec.json.decode(found.document, type=Layout)
    if layout is None and not info.state.messages:
        layout = Layout(FORMAT)
        with contextlib.suppress(Conflict):  # another server wrote it just now
            await first.put(LAYOUT, msgspec.json.encode(layout), MISSING)
    if layout is None or layout.format < FORMAT:
        raise CannotOpenStore(
            f"The stream {first.name} in {first.link.urls} was written by version 1 of tictactoe-server, which version "
            "2 cannot read. Keep using version 1, or use another NATS account. Nothing was changed."
        )
    return layout


async def find_streams(link: Link, patience_seconds: float, *, unsafe: bool) -> tuple[Streams, list[StreamInfo]]:
    """Wait for the streams' leaders, and return the streams with their descriptions.

    Raise `CannotOpenStore` as `find_stream` does, and also for streams written by version 1 or while rooms are moved.
    """
    first = Stream(link, name_of(0))
    info = await find_stream(first, patience_seconds, unsafe=unsafe)
    layout = await check_format(first)
    if layout.is_changing:
        raise CannotOpenStore(
            f"The rooms in {link.urls} are being distributed over the streams, or this was interrupted. "
            f"To finish: tictactoe-server cluster reshard {layout.shared}"
        )
    streams = Streams(link, first.name, layout)
    finding = (find_stream(stream, patience_seconds, unsafe=unsafe) for stream in streams.all[1:])
    return streams, [info, *await asyncio.gather(*finding)]


async def make_streams(link: Link, count: int, replicas: int = REPLICAS) -> Streams:
    """Create the missing streams; may raise `CannotOpenStore`.

    The layout of existing streams takes precedence over `count` and `replicas`.
    """
    try:
        first = Stream(link, name_of(0))
        try:
            info = await first.info()
        except StreamError as error:
            if error.code != NO_STREAM:
                raise
            info = await first.ask(_CREATE, first.config(replicas), StreamInfo)
        if not info.state.messages:
            await first.put(LAYOUT, msgspec.json.encode(Layout(FORMAT, count, count)), MISSING)
        layout = await check_format(first)
        streams = Streams(link, first.name, layout)
        await _create(streams.all[1:], info.config.get("num_replicas", replicas))
        await spread_leaders(streams)
    except StoreUnavailable as error:
        raise CannotOpenStore(f"Cannot create the streams: {error}") from error
    return streams


async def _create(streams: Sequence[Stream], replicas: int) -> None:
    for stream in streams:
        await stream.ask(_CREATE, stream.config(replicas), StreamInfo)


async def spread_leaders(streams: Streams) -> None:
    """Spread the leaders of the streams with rooms evenly over the nodes, as far as possible within a time limit."""
    shared = streams.having(ROOM)
    deadline = clock.monotonic() + _ELECTION_SECONDS * len(shared)
    while clock.monotonic() < deadline:
        clusters = await asyncio.gather(*map(_cluster_of, shared))
        led = Counter({peer.name: 0 for cluster in clusters for peer in cluster.replicas or ()})
        led.update(cluster.leader for cluster in clusters if cluster.leader)
        ranked = led.most_common() or [(None, 0)]
        (busiest, most), (idlest, least) = ranked[0], ranked[-1]
        if most - least > 1:
            moved = next(one for one, cluster in zip(shared, clusters, strict=True) if cluster.leader == busiest)
            with contextlib.suppress(StoreUnavailable):
                await moved.ask(_STEP_DOWN, {"placement": {"preferred": idlest}}, StreamInfo)
        elif all(cluster.leader for cluster in clusters):
            return
        await asyncio.sleep(_LOOK_SECONDS)


async def _cluster_of(stream: Stream) -> ClusterInfo:
    """Return a stream's leader and followers, or an empty `ClusterInfo` if no leader answers."""
    with contextlib.suppress(StoreUnavailable):
        return (await stream.info()).cluster
    return ClusterInfo()


async def share_out(link: Link, count: int) -> int:
    """Distribute the rooms over `count` streams, and return how many rooms have moved. No server may run meanwhile.

    After an interruption, call this function again with the same or the previous count. May raise `CannotOpenStore` or
    `StoreUnavailable`.
    """
    first = Stream(link, name_of(0))
    info = await find_stream(first, PATIENCE_SECONDS, unsafe=True)
    before = await check_format(first)
    layout = Layout(FORMAT, count, max(count, before.streams), before.floor, is_changing=True)
    streams = Streams(link, first.name, layout)
    await _create(streams.all[before.streams :], info.config.get("num_replicas", REPLICAS))
    await first.put(LAYOUT, msgspec.json.encode(layout), None)
    moved = 0
    for stream in streams.all:
        async for entries in stream.walk(ROOM + ">"):
            strays = [entry for entry in entries if streams.of(entry.key) is not stream]
            await asyncio.gather(*(_move(streams, stream, entry) for entry in strays))
            moved += len(strays)
    await first.put(LAYOUT, msgspec.json.encode(replace(layout, is_changing=False)), None)
    await spread_leaders(streams)
    return moved


async def _move(streams: Streams, stream: Stream, entry: Entry) -> None:
    await streams.of(entry.key).put(entry.key, entry.document, None)
    await stream.delete(entry.sequence)
