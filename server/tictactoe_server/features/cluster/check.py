"""The checks of a cluster for its operator: stream leaders, copies on the nodes, and whether servers can be reached."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from itertools import chain
from typing import Final, Self

import msgspec
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tictactoe_server import clock
from tictactoe_server.features.cluster.members import HEARTBEAT_SECONDS
from tictactoe_server.features.cluster.messages import HEARTBEATS, ORDERS, Heartbeat
from tictactoe_server.features.jetstream.copies import Copies
from tictactoe_server.features.jetstream.link import PATIENCE_SECONDS, Link, Message
from tictactoe_server.features.jetstream.stream import risks_of
from tictactoe_server.features.jetstream.streams import find_streams
from tictactoe_server.operator.status import Status
from tictactoe_server.operator.words import show_count
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable

LISTENING_SECONDS: Final = 2.4 * HEARTBEAT_SECONDS  # long enough for two heartbeats of each server
_PATIENCE_SECONDS: Final = 2.0
_MAX_TIME_LAG_MS: Final = 1_000


class Fault(str):
    """A finding that needs the operator's attention. All other findings are plain strings."""

    __slots__ = ()


class Inspector:
    """Checks the streams, the NATS nodes and the servers. Call `open` first."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._copies = Copies(link)
        self._heard: dict[str, tuple[Heartbeat, float]] = {}

    async def open(self) -> Self:
        await self._link.subscribe(HEARTBEATS, self._on_heartbeat)
        await self._copies.open()
        return self

    async def inspect(self) -> list[str]:
        """Return findings about the streams, the nodes and the servers, with the faults at the end."""
        parts = (_inspect_streams(self._link, self._copies), self._inspect_servers())
        return sorted([finding for part in parts async for finding in part], key=lambda one: isinstance(one, Fault))

    async def living(self) -> list[tuple[Heartbeat, int]]:
        """Return a heartbeat from each running server and how far its served time is behind the latest one, in ms.

        The heartbeats are sorted by the servers' names.
        """
        self._heard = {}
        await self._link.flush()
        await asyncio.sleep(LISTENING_SECONDS)
        latest = max((moment for _, moment in self._heard.values()), default=0.0)
        found = [(heartbeat, round(latest - moment)) for heartbeat, moment in self._heard.values()]
        return sorted(found, key=lambda one: one[0].name)

    def _on_heartbeat(self, message: Message) -> None:
        with contextlib.suppress(ValueError):
            heartbeat = msgspec.msgpack.decode(message.data, type=Heartbeat)
            self._heard[heartbeat.sender] = heartbeat, heartbeat.time - clock.monotonic() * 1000

    async def _inspect_servers(self) -> AsyncIterator[str]:
        try:
            found = await self.living()
        except StoreUnavailable as error:
            yield Fault(f"The servers cannot be queried: {error}")
            return
        if not found:
            yield "No server is running."
        for one, time_lag_ms in found:
            try:
                reply = await self._link.request(ORDERS + one.sender, msgspec.json.encode(Status()))
                answer = msgspec.json.decode(reply)["answer"]
            except (StoreUnavailable, ValueError, KeyError) as error:
                yield Fault(f"Server {one.name} is running but does not report its status: {error}")
                continue
            players, served = show_count(answer["players"], "player"), show_count(answer["served"], "room")
            serves = f"{players}, {served} served, {answer['elsewhere']} on other servers"
            yield f"Server {one.name}: {serves}, clock {time_lag_ms} ms behind the latest."
            if answer["unready"] is not None and answer["drain"] is None:
                yield Fault(f"Server {one.name} is not ready: {answer['unready']}.")
            if time_lag_ms > _MAX_TIME_LAG_MS:
                yield Fault(f"The clock of server {one.name} is behind: it does not receive the others' heartbeats.")
            for other, _ in found:
                if other.sender not in one.living:
                    yield Fault(f"Server {one.name} does not receive heartbeats from {other.name}.")
        for url, count in Counter(one.url for one, _ in found).items():
            if count > 1:
                yield Fault(f"{count} servers advertise {url}: each requires its own --advertise.")
        reasons = await asyncio.gather(*(_find_obstacle(one.url) for one, _ in found))
        for (one, _), reason in zip(found, reasons, strict=True):
            if reason:
                yield Fault(f"Server {one.name} cannot be reached at {one.url}: {reason}.")


async def _inspect_streams(link: Link, copies: Copies) -> AsyncIterator[str]:
    try:
        streams, infos = await find_streams(link, PATIENCE_SECONDS, unsafe=True)
    except (CannotOpenStore, StoreUnavailable) as unavailable:
        yield Fault(unavailable)
        return
    risky = defaultdict[str, list[str]](list)
    for number, (stream, info) in enumerate(zip(streams.all, infos, strict=True)):
        replicas, leader = info.config.get("num_replicas", 1), info.cluster.leader
        use = "" if number < streams.layout.shared else "; it has older games, and no rooms"
        yield f"Stream {stream.name}: {replicas} replicas, leader {leader or 'unknown'}{use}."
        if replicas > 1 and not leader:
            yield Fault(f"Stream {stream.name} has no leader: nothing can be written.")
        for risk in risks_of(info):
            risky[risk].append(stream.name)
    for risk, names in risky.items():
        yield Fault(f"Stream {', '.join(names)}: {risk}")
    try:
        found = await copies.find_faults(streams.all)
    except StoreUnavailable as unavailable:
        yield Fault(f"Cannot compare the copies on the nodes: {unavailable}")
        return
    for sentence in chain.from_iterable(found[node] for node in sorted(found)):
        yield Fault(sentence)


async def _find_obstacle(url: str) -> str:
    """Return the reason why no WebSocket connection to `url` can be opened, or "" if it can."""
    try:
        async with connect(url, open_timeout=_PATIENCE_SECONDS, close_timeout=_PATIENCE_SECONDS, proxy=None):
            return ""
    except ConnectionRefusedError:
        return "connection refused"
    except TimeoutError:
        return f"no response within {_PATIENCE_SECONDS:.0f} s"
    except (OSError, WebSocketException) as error:
        return str(error).rstrip(".") or repr(error)
