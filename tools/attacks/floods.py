"""Floods: many connections that send as much as they can, or as much as they may.

Each runs for a while in a process of its own, comes from `STRANGER` or, within every limit, from `STRANGERS`, and
returns what it sent and received.
"""

import asyncio
import itertools
import json
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from tools.bench.load import Wire, encode_frame, gather_some, open_wire
from tools.examples import REQUEST_EXAMPLES

STRANGER = "127.0.0.2"
CONNECTIONS = 1_000
WATCHERS = 294
MESSAGES_A_SECOND = 100
STRANGERS = tuple(f"127.0.2.{number}" for number in range(1, 21))
CONNECTIONS_EACH, MESSAGES_EACH = 30, 33
ALLOWED = {
    "unknown": '{"type":"nonsense","id":"a"}',
    "wrong": '{"type":"move","room":"K7M4PQ","cell":"b2","ply":0,"id":"a"}',
    **{
        text["type"]: json.dumps(text)
        for text in map(msgspec.to_builtins, (some[0] for some in REQUEST_EXAMPLES.values()))
    },
}
"""The messages of the floods that stay within every limit, by the floods' names."""

IN_FLIGHT = 10
TICK_SECONDS = 0.01

Found = dict[str, object]


def tell_begun() -> None:
    """Tell the measuring process that the flood begins now."""
    print(flush=True)


_CODE = re.compile(rb'"(?:code|type)":"(\w+)"')


def come_from(address: str) -> socket.socket:
    """Return a socket bound to an address of the loopback."""
    sock = socket.socket()
    sock.setblocking(False)
    sock.bind((address, 0))
    return sock


class Asking(Wire):
    """A connection that waits for the first data after a request."""

    def __init__(self) -> None:
        super().__init__()
        self.first: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def received(self, payload: bytes) -> None:
        if not self.first.done():
            self.first.set_result(payload)

    async def ask(self, text: str) -> bytes:
        """Return the first data after a request."""
        self.first = asyncio.get_running_loop().create_future()
        self.send(text)
        return await asyncio.wait_for(self.first, 30)


class Stranger(Asking):
    """A connection that counts the received messages by code or type."""

    heard: ClassVar[Counter[str]] = Counter()

    def received(self, payload: bytes) -> None:
        found = _CODE.search(payload)
        self.heard[found[1].decode() if found else "other"] += 1
        super().received(payload)


async def enter(url: str, address: str = STRANGER) -> Stranger:
    wire = await open_wire(url, Stranger, come_from(address))
    await wire.ask('{"type":"hello"}')
    return wire


async def say(wires: list[Stranger], texts: Iterator[str], a_second: float, seconds: float) -> int:
    """Send texts on each connection at this rate, evenly, and return how many were sent."""
    frames = (encode_frame(text.encode()) for text in texts)
    tell_begun()
    begun, said = time.perf_counter(), 0
    turn = itertools.cycle(wires)
    while (passed := time.perf_counter() - begun) < seconds and any(wire.is_open for wire in wires):
        due = int(passed * a_second * len(wires))
        for _ in range(min(due - said, 10 * len(wires))):
            wire = next(turn)
            if wire.is_open and wire.transport.get_write_buffer_size() < 65_536:
                wire.transport.write(next(frames))
        said = due
        await asyncio.sleep(TICK_SECONDS)
    return said


async def leave(wires: list[Stranger], said: int) -> Found:
    """Cut all connections, and return what was sent and received."""
    found: Found = {"said": said, **Stranger.heard}
    for wire in wires:
        wire.transport.abort()
    await asyncio.sleep(0.1)
    return found


async def types(url: str, seconds: float) -> Found:
    """Send messages of an unknown type faster than allowed."""
    Stranger.heard.clear()
    wires = await gather_some(enter(url) for _ in range(CONNECTIONS))
    said = await say(wires, itertools.repeat('{"type":"nonsense"}'), MESSAGES_A_SECOND, seconds)
    return await leave(wires, said)


async def say_what_is_allowed(text: str, url: str, seconds: float) -> Found:
    """Send the same message from many addresses, as often as each address may."""
    Stranger.heard.clear()
    wires = await gather_some(enter(url, address) for address in STRANGERS for _ in range(CONNECTIONS_EACH))
    said = await say(wires, itertools.repeat(text), MESSAGES_EACH, seconds)
    return await leave(wires, said)


class Asker(asyncio.Protocol):
    """A connection that always has several requests of plain HTTP in flight."""

    def __init__(self, request: bytes, heard: Counter[str], lost: Callable[[], None]) -> None:
        self._request = request
        self._heard = heard
        self._lost = lost

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._ask(IN_FLIGHT)

    def data_received(self, data: bytes) -> None:
        statuses = re.findall(rb"HTTP/1\.1 (\d+)", data)
        self._heard.update(status.decode() for status in statuses)
        self._ask(len(statuses))

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost()

    def _ask(self, times: int) -> None:
        if not self._transport.is_closing():
            self._transport.write(self._request * times)  # type: ignore[attr-defined]


async def _ask_alike(url: str, seconds: float, path: str) -> Found:
    heard: Counter[str] = Counter()
    until, place = time.perf_counter() + seconds, urlsplit(url)
    request = f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\nAccept: text/html\r\n\r\n".encode()
    loop = asyncio.get_running_loop()
    tell_begun()

    async def keep_asking() -> None:
        while time.perf_counter() < until:
            lost = asyncio.Event()
            try:
                transport, _ = await loop.create_connection(
                    lambda lost=lost: Asker(request, heard, lost.set),  # type: ignore[misc]
                    place.hostname or "",
                    place.port or 80,
                    local_addr=(STRANGER, 0),
                )
            except OSError:
                heard["refused"] += 1
                await asyncio.sleep(TICK_SECONDS)
                continue
            try:
                await asyncio.wait_for(lost.wait(), max(0.0, until - time.perf_counter()))
            except TimeoutError:
                transport.abort()

    await asyncio.gather(*(keep_asking() for _ in range(CONNECTIONS)))
    return dict(heard)


async def health(url: str, seconds: float) -> Found:
    return await _ask_alike(url, seconds, "/healthz")


async def page(url: str, seconds: float) -> Found:
    return await _ask_alike(url, seconds, "/")


async def handshakes(url: str, seconds: float) -> Found:
    heard: Counter[str] = Counter()
    until = time.perf_counter() + seconds
    tell_begun()

    async def come_and_go() -> None:
        while time.perf_counter() < until:
            try:
                wire = await open_wire(url, Stranger, come_from(STRANGER))
            except OSError:
                heard["refused"] += 1
            else:
                heard["opened"] += 1
                wire.transport.abort()

    await asyncio.gather(*(come_and_go() for _ in range(32)))
    return dict(heard)


async def _crowd(url: str) -> tuple[list[Stranger], str, list[Stranger]]:
    """Return two players, the code of their room, and many watchers."""
    Stranger.heard.clear()
    players = [await enter(url) for _ in range(2)]
    code = json.loads(await players[0].ask('{"type":"create","id":"c"}'))["room"]
    await players[1].ask(f'{{"type":"join","room":"{code}","id":"j"}}')

    async def watch() -> Stranger:
        wire = await enter(url)
        await wire.ask(f'{{"type":"watch","room":"{code}","id":"w"}}')
        return wire

    return players, code, await gather_some(watch() for _ in range(WATCHERS))


async def chat(url: str, seconds: float) -> Found:
    """Chat once a second as every watcher of a room."""
    players, code, watchers = await _crowd(url)
    said = await say(watchers, itertools.repeat(f'{{"type":"chat","room":"{code}","text":"hello all"}}'), 1, seconds)
    return await leave([*players, *watchers], said)


async def offers(url: str, seconds: float) -> Found:
    """Offer a draw and withdraw it a hundred times a second, before many watchers."""
    players, code, watchers = await _crowd(url)
    texts = (
        f'{{"type":"draw","room":"{code}","action":"{action}"}}' for action in itertools.cycle(("offer", "decline"))
    )
    said = await say(players[:1], texts, MESSAGES_A_SECOND, seconds)
    return await leave([*players, *watchers], said)


FLOODS: dict[str, Callable[[str, float], Coroutine[Any, Any, Found]]] = {
    **{name: partial(say_what_is_allowed, text) for name, text in ALLOWED.items()},
    **{flood.__name__: flood for flood in (types, health, page, handshakes, chat, offers)},
}
