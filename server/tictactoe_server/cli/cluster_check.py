"""Sentences for the operator about a cluster's leaders, lagging nodes and unreachable servers.

Disk usage, permissions and flush settings are left to the tools of NATS.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from typing import Final

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tictactoe_server import clock
from tictactoe_server.admin.orders.status import Status
from tictactoe_server.cluster.jetstream.link import PATIENCE_SECONDS, Link, Message
from tictactoe_server.cluster.jetstream.stream import risks_of
from tictactoe_server.cluster.jetstream.streams import find_streams
from tictactoe_server.cluster.members import HEARTBEAT_SECONDS
from tictactoe_server.cluster.messages import HEARTBEATS, ORDERS, Heartbeat
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable

LISTENING_SECONDS: Final = 2.4 * HEARTBEAT_SECONDS  # long enough for two heartbeats of each server
_PATIENCE_SECONDS: Final = 2.0
_MAX_TIME_LAG_MS: Final = 1_000


class Fault(str):
    """A finding that needs attention; any other finding is a plain str."""

    __slots__ = ()


async def inspect(link: Link) -> list[str]:
    """Return findings about the streams, the nodes and the servers."""
    return [finding for part in (_inspect_streams(link), _inspect_servers(link)) async for finding in part]


async def _inspect_streams(link: Link) -> AsyncIterator[str]:
    try:
        streams, infos = await find_streams(link, PATIENCE_SECONDS, unsafe=True)
    except (CannotOpenStore, StoreUnavailable) as unavailable:
        yield Fault(unavailable)
        return
    risky = defaultdict[str, list[str]](list)
    for stream, info in zip(streams.all, infos, strict=True):
        replicas, leader = info.config.get("num_replicas", 1), info.cluster.leader
        yield f"Stream {stream.name}: replicas {replicas}, the leader is {leader or 'not known'}."
        if replicas > 1 and not leader:
            yield Fault(f"The stream {stream.name} has no leader: nothing can be written.")
        for risk in risks_of(info):
            risky[risk].append(stream.name)
    for risk, names in risky.items():
        yield Fault(f"The stream {', '.join(names)}: {risk}")
    followers = [peer for info in infos for peer in info.cluster.replicas or ()]
    for node in sorted({peer.name or "" for peer in followers}):
        peers = [peer for peer in followers if peer.name == node]
        behind = f"{max(peer.lag or 0 for peer in peers)} writes behind."
        if any(peer.offline for peer in peers):
            yield Fault(f"Node {node} is away.")
        elif all(peer.current for peer in peers):
            yield f"Node {node} has a copy, {behind}"
        else:
            advice = "Restart it if that lasts: a node whose disk was full does not catch up by itself."
            yield Fault(f"Node {node} is {behind} {advice}")


async def _inspect_servers(link: Link) -> AsyncIterator[str]:
    try:
        found = await find_living(link)
    except StoreUnavailable as error:
        yield Fault(f"The servers cannot be heard: {error}")
        return
    if not found:
        yield "No server lives."
    for one, time_lag_ms in found:
        try:
            reply = await link.request(ORDERS + one.sender, msgspec.json.encode(Status()))
            answer = msgspec.json.decode(reply)["answer"]
        except (StoreUnavailable, msgspec.MsgspecError, KeyError) as error:
            yield Fault(f"Server {one.name} lives and does not say how it is: {error}")
            continue
        serves = f"{answer['players']} players, {answer['served']} rooms served, {answer['elsewhere']} known at others"
        yield f"Server {one.name} lives: {serves}, its time {time_lag_ms} ms behind the latest."
        if answer["unready"] is not None and answer["drain"] is None:
            yield Fault(f"Server {one.name} is not ready: {answer['unready']}.")
        if time_lag_ms > _MAX_TIME_LAG_MS:
            yield Fault(f"The time of server {one.name} is not that of the others: it does not hear them.")
        for other, _ in found:
            if other.sender not in one.living:
                yield Fault(f"Server {one.name} does not hear {other.name}.")
    for url, count in Counter(one.url for one, _ in found).items():
        if count > 1:
            yield Fault(f"{count} servers say that they are at {url}: each needs an --advertise of its own.")
    reasons = await asyncio.gather(*(_find_obstacle(one.url) for one, _ in found))
    for (one, _), reason in zip(found, reasons, strict=True):
        if reason:
            yield Fault(f"Server {one.name} cannot be reached at {one.url}: {reason}.")


async def find_living(link: Link) -> list[tuple[Heartbeat, int]]:
    """Return a heartbeat of each running server, sorted by name, with the lag of its served time in ms."""
    heard: dict[str, tuple[Heartbeat, float]] = {}

    def hear(message: Message) -> None:
        with contextlib.suppress(msgspec.DecodeError):
            heartbeat = msgspec.msgpack.decode(message.data, type=Heartbeat)
            heard[heartbeat.sender] = heartbeat, heartbeat.time - clock.monotonic() * 1000

    await link.subscribe(HEARTBEATS, hear)
    await link.flush()
    await asyncio.sleep(LISTENING_SECONDS)
    latest = max((moment for _, moment in heard.values()), default=0.0)
    found = [(heartbeat, round(latest - moment)) for heartbeat, moment in heard.values()]
    return sorted(found, key=lambda one: one[0].name)


async def _find_obstacle(url: str) -> str:
    """Return why no WebSocket can be opened at a URL, or "" if one can."""
    try:
        async with connect(url, open_timeout=_PATIENCE_SECONDS, close_timeout=_PATIENCE_SECONDS, proxy=None):
            return ""
    except ConnectionRefusedError:
        return "nobody listens there"
    except TimeoutError:
        return f"nobody answers within {_PATIENCE_SECONDS:.0f} s"
    except (OSError, WebSocketException) as error:
        return str(error).rstrip(".") or repr(error)
