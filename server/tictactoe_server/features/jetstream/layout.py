"""Creates a cluster's streams, spreads their leaders over the nodes, and redistributes rooms if the number changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec.structs import replace
from nats.js.api import ClusterInfo

from tictactoe_server import clock
from tictactoe_server.features.jetstream.copies import Copies
from tictactoe_server.features.jetstream.link import Link
from tictactoe_server.features.jetstream.stream import (
    NO_STREAM,
    REPLICAS,
    Entry,
    Stream,
    StreamError,
    StreamInfo,
)
from tictactoe_server.features.jetstream.streams import (
    FORMAT,
    LAYOUT,
    ROOM,
    Layout,
    Streams,
    check_format,
    name_of,
    refuse_version_1,
)
from tictactoe_server.storage.store import MISSING, CannotOpenStore, StoreUnavailable

_CREATE: Final = "STREAM.CREATE."
_REMOVE: Final = "$JS.API.SERVER.REMOVE"
_STEP_DOWN: Final = "STREAM.LEADER.STEPDOWN."
_ELECTION_SECONDS: Final = 4.0
_LOOK_SECONDS: Final = 0.1
_REMOVAL_SECONDS: Final = 30.0  # for a new node to join, and for an earlier change of the cluster's nodes to end


async def find_first(link: Link) -> tuple[Stream, StreamInfo | None]:
    """Return the first stream and its description, or None for the description if the stream does not exist yet.

    Raises `CannotOpenStore` if version 1 has written a stream, or `StoreUnavailable`.
    """
    stream = Stream(link, name_of(0))
    try:
        return stream, await stream.info()
    except StreamError as error:
        if error.code != NO_STREAM:
            raise
    await refuse_version_1(link)
    return stream, None


async def make_streams(link: Link, count: int, replicas: int = REPLICAS) -> Streams:
    """Create the missing streams; raises `CannotOpenStore`.

    The layout of existing streams takes precedence over `count` and `replicas`.
    """
    try:
        first, info = await find_first(link)
        if info is None:
            info = await first.ask(_CREATE, first.config(replicas), StreamInfo)
        if not info.state.messages:
            await first.put(LAYOUT, msgspec.json.encode(Layout(FORMAT, count, count)), MISSING)
        layout = await check_format(first)
        streams = Streams(link, first.name, layout)
        await _create(streams.all[1:], info.config.get("num_replicas", replicas))
        await spread_leaders(streams)
    except StoreUnavailable as error:
        raise CannotOpenStore(f"The streams could not be made: {error}") from error
    return streams


async def remove_node(link: Link, node: str) -> None:
    """Remove a node from the cluster, retrying for a while.

    Raises `CannotOpenStore` if the other nodes still refuse to remove it, or if too few of them are connected.
    """
    copies, deadline = Copies(link), clock.monotonic() + _REMOVAL_SECONDS
    await copies.open()
    while True:
        others = await copies.nodes() - {node, ""}
        names = ", ".join(sorted(others)) or "none"
        reason = f"three other nodes are needed, and there are {names}. Start the new node first"
        if len(others) >= REPLICAS:
            answer = msgspec.json.decode(await link.request(_REMOVE, msgspec.json.encode({"peer": node})))
            if "error" not in answer:
                return
            reason = answer["error"]["description"]
        if clock.monotonic() > deadline:
            raise CannotOpenStore(f"Node {node} cannot be removed: {reason}.")
        await asyncio.sleep(_LOOK_SECONDS)


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

    After an interruption, call this function again with the same or the previous count. Raises `CannotOpenStore` or
    `StoreUnavailable`.
    """
    first, info = await find_first(link)
    if info is None:
        raise CannotOpenStore(f"There is no stream {first.name}. To make it: tictactoe-server cluster init.")
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
