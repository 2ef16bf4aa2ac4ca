"""What is wrong with a store and its servers, in sentences for the operator; each kind of right is tried once.

How soon a node's disk is flushed (`sync_interval`) is nothing that a user of the game may ask: each node's own
monitoring page says it.
"""

from __future__ import annotations

import asyncio
import urllib.request
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tictactoe_server.admin import orders
from tictactoe_server.cluster.jetstream.link import Link, Message
from tictactoe_server.cluster.jetstream.setup import faults_of, risks_of
from tictactoe_server.cluster.jetstream.stream import (
    DELETE_SUBJECT,
    FEED,
    PREFIX,
    READ_MANY_SUBJECT,
    STREAM,
    TOMBSTONE,
    Stream,
    StreamInfo,
)
from tictactoe_server.cluster.living import ask_living, find_living
from tictactoe_server.storage.store import StoreUnavailable

_PROBE: Final = "check"
_SERVERS: Final = "house.check"
_PATIENCE_SECONDS: Final = 2.0
_REACHING_SECONDS: Final = 2.0
_MAX_TIME_LAG_MS: Final = 1_000


class Report:
    """What is so, and what is wrong, in sentences."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.wrong: list[str] = []


async def inspect(link: Link, monitors: Sequence[str] = ()) -> Report:
    """Return how a store and its servers are; `monitors` are the nodes' monitoring pages, as in ``http://a:8222``."""
    report = Report()
    if await _look_at_stream(Stream(link), report):
        await _try_rights(link, report)
    await _look_at_disks(monitors, report)
    await _look_at_servers(link, report)
    return report


async def _look_at_stream(stream: Stream, report: Report) -> bool:
    """Report on the stream, and return whether there is one."""
    try:
        info = await stream.info()
    except StoreUnavailable as unavailable:
        report.wrong.append(f"The stream {STREAM} cannot be asked: {unavailable}")
        return False
    if info.error is not None:
        report.wrong.append(
            f"The stream {STREAM}: {info.error.description}. To make it: tictactoe-server cluster init."
        )
        return False
    state = info.state
    report.said.append(
        f"Stream {STREAM}: {state.messages} documents, {state.bytes} bytes, replicas {info.config.num_replicas}, "
        f"the leader is {info.cluster.leader or 'not known'}."
    )
    report.wrong += [f"The stream {STREAM}: {fault}" for fault in (*faults_of(info), *risks_of(info))]
    _look_at_nodes(info, report)
    return True


def _look_at_nodes(info: StreamInfo, report: Report) -> None:
    if info.config.num_replicas > 1 and not info.cluster.leader:
        report.wrong.append(f"The stream {STREAM} has no leader: nothing can be written.")
    for peer in info.cluster.replicas:
        if peer.offline:
            report.wrong.append(f"Node {peer.name} is away.")
        elif not peer.current:
            report.wrong.append(
                f"Node {peer.name} is {peer.lag} writes behind. Restart it where that lasts: one whose disk was full "
                "does not catch up by itself."
            )
        else:
            report.said.append(f"Node {peer.name} has a copy, {peer.lag} writes behind.")


async def _try_rights(link: Link, report: Report) -> None:
    """Do once what servers do, under a key of its own that is gone a second later."""
    feed: asyncio.Queue[Message] = asyncio.Queue()
    servers: asyncio.Queue[Message] = asyncio.Queue()
    probes: dict[str, Callable[[], Awaitable[object]]] = {
        "read": lambda: Stream(link).newest(_PROBE),
        "read many documents": lambda: link.request_many(
            READ_MANY_SUBJECT, msgspec.json.encode({"seq": 1, "next_by_subj": f"{PREFIX}{_PROBE}", "batch": 1})
        ),
        "write": lambda: link.request(f"{PREFIX}{_PROBE}", b"", TOMBSTONE),
        "hear what is written": lambda: _next(feed),
        "delete old games": lambda: link.request(DELETE_SUBJECT, b'{"seq": 0}'),
        "hear other servers": lambda: _next(servers),
    }
    await link.subscribe(f"{FEED}{_PROBE}", feed.put_nowait)
    await link.subscribe(_SERVERS, servers.put_nowait)
    try:
        await link.flush()
    except StoreUnavailable as error:
        report.wrong.append(str(error))
        return
    link.publish(_SERVERS)
    refusals = [fault for fault in await asyncio.gather(*map(_try, probes, probes.values())) if fault]
    report.wrong += refusals
    if not refusals:
        report.said.append("This user has every right that a server needs.")


async def _try(name: str, probe: Callable[[], Awaitable[object]]) -> str:
    """Return what is wrong where a probe is refused, or unanswered for some seconds; else ""."""
    try:
        await probe()
    except (StoreUnavailable, TimeoutError) as error:
        return f"This user cannot {name}: {str(error).rstrip('.') or 'nothing came'}."
    return ""


async def _next(queue: asyncio.Queue[Message]) -> Message:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        return await queue.get()


async def _look_at_disks(monitors: Sequence[str], report: Report) -> None:
    if not monitors:
        report.said.append(
            "Whether each node flushes every write (sync_interval: always) can be told from its monitoring page alone: "
            "--monitor http://NODE:8222, once for each."
        )
    for url in monitors:
        try:
            found = await asyncio.to_thread(_read_monitor, url)
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            report.wrong.append(f"The monitoring page of {url} cannot be read: {error}.")
            continue
        if found.jetstream.config.sync_always:
            report.said.append(f"Node {found.server_name} flushes every write to its disk.")
        else:
            report.wrong.append(
                f"Node {found.server_name} acknowledges writes that a loss of power takes back: set "
                "sync_interval: always in its jetstream block."
            )


async def _look_at_servers(link: Link, report: Report) -> None:
    """Report on the servers that live; that none does is no fault."""
    try:
        living = await find_living(link)
    except StoreUnavailable as error:
        report.wrong.append(f"The servers cannot be heard: {error}")
        return
    if not living:
        report.said.append("No server lives.")
    for one, time_lag_ms in living:
        try:
            said = await ask_living(link, one.sender, msgspec.json.encode(orders.Status()))
            answer = msgspec.json.decode(said)["answer"]
        except (StoreUnavailable, msgspec.MsgspecError, KeyError) as error:
            report.wrong.append(f"Server {one.name} lives and does not say how it is: {error}")
            continue
        report.said.append(
            f"Server {one.name} lives: {answer['players']} players, {answer['served']} rooms served, "
            f"{answer['elsewhere']} known at others, its time {time_lag_ms} ms behind the latest."
        )
        if answer["unready"] is not None and answer["drain"] is None:
            report.wrong.append(f"Server {one.name} is not ready: {answer['unready']}.")
        if time_lag_ms > _MAX_TIME_LAG_MS:
            report.wrong.append(f"The time of server {one.name} is not that of the others: it does not hear them.")
        for other, _ in living:
            if other.sender not in one.living:
                report.wrong.append(f"Server {one.name} does not hear {other.name}.")
    await _look_at_addresses([(one.name, one.url) for one, _ in living], report)


async def _look_at_addresses(addresses: Sequence[tuple[str, str]], report: Report) -> None:
    """Connect to each server, by name, as players do; each needs a URL of its own."""
    urls = [url for _, url in addresses]
    for url, count in Counter(urls).items():
        if count > 1:
            report.wrong.append(f"{count} servers say that they are at {url}: each needs an --advertise of its own.")
    reasons = await asyncio.gather(*map(_why_out_of_reach, urls))
    for (name, url), reason in zip(addresses, reasons, strict=True):
        if reason:
            report.wrong.append(f"Server {name} cannot be reached at {url}: {reason}.")


async def _why_out_of_reach(url: str) -> str:
    """Return why no WebSocket opens at a URL, or "" where one does."""
    try:
        async with connect(url, open_timeout=_REACHING_SECONDS, close_timeout=_REACHING_SECONDS, proxy=None):
            return ""
    except ConnectionRefusedError:
        return "nobody listens there"
    except TimeoutError:
        return f"nobody answers within {_REACHING_SECONDS:.0f} s"
    except (OSError, WebSocketException) as error:
        return str(error).rstrip(".") or repr(error)


class _JetStreamConfig(msgspec.Struct, frozen=True):
    sync_always: bool = False


class _JetStream(msgspec.Struct, frozen=True):
    config: _JetStreamConfig = _JetStreamConfig()


class _Monitor(msgspec.Struct, frozen=True):
    server_name: str = ""
    jetstream: _JetStream = _JetStream()


def _read_monitor(url: str) -> _Monitor:
    """Return what a node says of itself; raises OSError, ValueError and msgspec's errors. Blocks."""
    if not url.startswith(("http://", "https://")):
        raise ValueError("it has to begin with http:// or https://")
    with urllib.request.urlopen(f"{url.rstrip('/')}/varz", timeout=_PATIENCE_SECONDS) as answer:
        return msgspec.json.decode(answer.read(1 << 20), type=_Monitor)
