"""What is wrong with a store and its servers, in sentences for the operator; each kind of right is tried once.

How soon a node's disk is flushed (`sync_interval`) only its own monitoring page says.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from typing import Any, Final

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tictactoe_server.admin.orders.status import Status
from tictactoe_server.cluster.jetstream import stream
from tictactoe_server.cluster.jetstream.link import PATIENCE_SECONDS, Link, Message
from tictactoe_server.cluster.jetstream.stream import risks_of
from tictactoe_server.cluster.jetstream.streams import find_streams
from tictactoe_server.cluster.members import HEARTBEAT_SECONDS
from tictactoe_server.cluster.messages import HEARTBEATS, ORDERS, Heartbeat
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable

LISTENING_SECONDS: Final = 2.4 * HEARTBEAT_SECONDS  # long enough for two heartbeats of each server
_PROBE: Final = "check"
_SERVERS: Final = "house.check"
_PATIENCE_SECONDS: Final = 2.0
_MAX_TIME_LAG_MS: Final = 1_000


class Wrong(str):
    """A finding that is a fault; all others say how something is."""

    __slots__ = ()


async def inspect(link: Link, monitors: Sequence[str] = ()) -> list[str]:
    """Return how a store and its servers are; `monitors` are the nodes' monitoring pages, as in ``http://a:8222``."""
    parts = _look_at_streams(link), _look_at_disks(monitors), _look_at_servers(link)
    return [finding for part in parts async for finding in part]


async def _look_at_streams(link: Link) -> AsyncIterator[str]:
    """Yield how each stream is, with the writes it takes within a moment, and whether this user has every right."""
    try:
        streams, before = await find_streams(link, PATIENCE_SECONDS, unsafe=True)
        begun = time.monotonic()
        await asyncio.sleep(LISTENING_SECONDS)
        infos = await asyncio.gather(*(one.info() for one in streams.all))
    except (CannotOpenStore, StoreUnavailable) as unavailable:
        yield Wrong(unavailable)
        return
    seconds = time.monotonic() - begun
    for one, earlier, later in zip(streams.all, before, infos, strict=True):
        for finding in _look_at_stream(one, later, (later.state.last_seq - earlier.state.last_seq) / seconds):
            yield finding
    risky = defaultdict[str, list[str]](list)
    for one, info in zip(streams.all, infos, strict=True):
        for risk in risks_of(info):
            risky[risk].append(one.name)
    for risk, names in risky.items():
        yield Wrong(f"The stream {', '.join(names)}: {risk}")
    for node in sorted({peer.name or "" for info in infos for peer in info.cluster.replicas or ()}):
        peers = [peer for info in infos for peer in info.cluster.replicas or () if peer.name == node]
        behind = f"{max(peer.lag or 0 for peer in peers)} writes behind."
        if any(peer.offline for peer in peers):
            yield Wrong(f"Node {node} is away.")
        elif all(peer.current for peer in peers):
            yield f"Node {node} has a copy, {behind}"
        else:
            advice = "Restart it where that lasts: one whose disk was full does not catch up by itself."
            yield Wrong(f"Node {node} is {behind} {advice}")
    async for finding in _try_rights(streams.first):
        yield finding


def _look_at_stream(one: stream.Stream, info: stream.StreamInfo, writes_a_second: float) -> Iterator[str]:
    replicas, leader = info.config.get("num_replicas", 1), info.cluster.leader
    kept = f"{info.state.messages} documents, {info.state.bytes} bytes, replicas {replicas}"
    led = f"the leader is {leader or 'not known'}, {writes_a_second:.0f} writes a second"
    yield f"Stream {one.name}: {kept}, {led}."
    if replicas > 1 and not leader:
        yield Wrong(f"The stream {one.name} has no leader: nothing can be written.")


async def _try_rights(first: stream.Stream) -> AsyncIterator[str]:
    """Do once what servers do, under a key of its own that is gone a second later."""
    is_told, is_heard, link = asyncio.Event(), asyncio.Event(), first.link
    await link.subscribe(f"{first.feed}{_PROBE}", lambda message: is_told.set())
    await link.subscribe(_SERVERS, lambda message: is_heard.set())
    try:
        await link.flush()
    except StoreUnavailable as error:
        yield Wrong(error)
        return
    link.publish(_SERVERS)
    probes: dict[str, Awaitable[object]] = {
        "read": first.newest(_PROBE),
        "read many documents": first.read_many(1, _PROBE, 1),
        "write": link.request(f"{first.prefix}{_PROBE}", b"", stream.TOMBSTONE),
        "hear what is written": asyncio.wait_for(is_told.wait(), _PATIENCE_SECONDS),
        "delete old games": first.delete(0),
        "hear other servers": asyncio.wait_for(is_heard.wait(), _PATIENCE_SECONDS),
    }
    found = zip(probes, await asyncio.gather(*probes.values(), return_exceptions=True), strict=True)
    refused = {right: answer for right, answer in found if isinstance(answer, BaseException)}
    for right, refusal in refused.items():
        if not isinstance(refusal, StoreUnavailable | TimeoutError):
            raise refusal
        yield Wrong(f"This user cannot {right}: {str(refusal).rstrip('.') or 'nothing came'}.")
    if not refused:
        yield "This user has every right that a server needs."


async def _look_at_disks(monitors: Sequence[str]) -> AsyncIterator[str]:
    if not monitors:
        page = "its monitoring page alone: --monitor http://NODE:8222, once for each."
        yield f"Whether each node flushes every write (sync_interval: always) can be told from {page}"
    for url in monitors:
        try:
            node = await asyncio.to_thread(_read_monitor, url)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            yield Wrong(f"The monitoring page of {url} cannot be read: {error}.")
            continue
        if node.jetstream.get("config", {}).get("sync_always"):
            yield f"Node {node.server_name} flushes every write to its disk."
        else:
            advice = "set sync_interval: always in its jetstream block."
            yield Wrong(f"Node {node.server_name} acknowledges writes that a loss of power takes back: {advice}")


async def _look_at_servers(link: Link) -> AsyncIterator[str]:
    """Yield how the servers are that live, and whether players reach each at a URL of its own; none is no fault."""
    try:
        found = await find_living(link)
    except StoreUnavailable as error:
        yield Wrong(f"The servers cannot be heard: {error}")
        return
    if not found:
        yield "No server lives."
    for one, time_lag_ms in found:
        try:
            said = await link.request(ORDERS + one.sender, msgspec.json.encode(Status()))
            answer = msgspec.json.decode(said)["answer"]
        except (StoreUnavailable, msgspec.MsgspecError, KeyError) as error:
            yield Wrong(f"Server {one.name} lives and does not say how it is: {error}")
            continue
        serves = f"{answer['players']} players, {answer['served']} rooms served, {answer['elsewhere']} known at others"
        yield f"Server {one.name} lives: {serves}, its time {time_lag_ms} ms behind the latest."
        if answer["unready"] is not None and answer["drain"] is None:
            yield Wrong(f"Server {one.name} is not ready: {answer['unready']}.")
        if time_lag_ms > _MAX_TIME_LAG_MS:
            yield Wrong(f"The time of server {one.name} is not that of the others: it does not hear them.")
        for other, _ in found:
            if other.sender not in one.living:
                yield Wrong(f"Server {one.name} does not hear {other.name}.")
    for url, count in Counter(one.url for one, _ in found).items():
        if count > 1:
            yield Wrong(f"{count} servers say that they are at {url}: each needs an --advertise of its own.")
    reasons = await asyncio.gather(*(_why_out_of_reach(one.url) for one, _ in found))
    for (one, _), reason in zip(found, reasons, strict=True):
        if reason:
            yield Wrong(f"Server {one.name} cannot be reached at {one.url}: {reason}.")


async def find_living(link: Link) -> list[tuple[Heartbeat, int]]:
    """Return who is heard within a moment, by name, and how far the served time of each is behind the latest (ms)."""
    heard: dict[str, tuple[Heartbeat, float]] = {}

    def hear(message: Message) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            heartbeat = msgspec.msgpack.decode(message.data, type=Heartbeat)
            heard[heartbeat.sender] = heartbeat, heartbeat.time - time.monotonic() * 1000

    await link.subscribe(HEARTBEATS, hear)
    await link.flush()
    await asyncio.sleep(LISTENING_SECONDS)
    latest = max((moment for _, moment in heard.values()), default=0.0)
    found = [(heartbeat, round(latest - moment)) for heartbeat, moment in heard.values()]
    return sorted(found, key=lambda one: one[0].name)


async def _why_out_of_reach(url: str) -> str:
    """Return why no WebSocket opens at a URL, or "" where one does."""
    try:
        async with connect(url, open_timeout=_PATIENCE_SECONDS, close_timeout=_PATIENCE_SECONDS, proxy=None):
            return ""
    except ConnectionRefusedError:
        return "nobody listens there"
    except TimeoutError:
        return f"nobody answers within {_PATIENCE_SECONDS:.0f} s"
    except (OSError, WebSocketException) as error:
        return str(error).rstrip(".") or repr(error)


class _Monitor(msgspec.Struct, frozen=True):
    """What a node says of itself, as far as it matters here."""

    server_name: str = ""
    jetstream: dict[str, Any] = {}


def _read_monitor(url: str) -> _Monitor:
    """Return what a node says of itself; raises OSError, ValueError and msgspec's errors. Blocks."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("it has to begin with http:// or https://")
    with urllib.request.urlopen(f"{url.rstrip('/')}/varz", timeout=_PATIENCE_SECONDS) as answer:
        return msgspec.json.decode(answer.read(1 << 20), type=_Monitor)
