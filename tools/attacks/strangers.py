"""The attackers: each runs in a process of its own and prints its result as one line of JSON."""

import asyncio
import contextlib
import os
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.peer import Message, Peer
from tests.raw import open_bytes, open_raw

Found = dict[str, object]

MISERE = {"rows": 7, "columns": 7, "line": 4, "misere": True}
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
HEADER_LINES, HEADER_BYTES = 126, 8_000


def outcome_of(message: Message) -> str:
    return str(message.get("code") or message["type"])


@contextlib.asynccontextmanager
async def peer(url: str) -> AsyncIterator[Peer]:
    """Connect and say hello, with more patience than usual."""
    async with connect(url, compression=None, proxy=None, open_timeout=60, ping_interval=None) as socket:
        one = Peer(socket)
        await one.send("hello")
        await one.receive()
        yield one


async def hoard(url: str, seconds: float) -> Found:
    """Open as many rooms as possible, each by a new player, and stay."""
    heard: Counter[str] = Counter()
    async with contextlib.AsyncExitStack() as stack:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                one = await stack.enter_async_context(peer(url))
            except InvalidStatus as refused:
                heard[str(refused.response.status_code)] += 1
                await asyncio.sleep(0.05)
                continue
            for _ in range(25):
                reply = await one.ask("create")
                heard[outcome_of(reply)] += 1
    return dict(heard)


async def crowd(url: str, seconds: float) -> Found:
    """Open a thousand connections, and keep them."""
    heard: Counter[str] = Counter()
    host, port = url.removeprefix("ws://").split(":")
    open_ones = []
    until = time.monotonic() + seconds
    for _ in range(1_000):
        try:
            reader, writer = await asyncio.wait_for(asyncio.open_connection(host, int(port)), 2)
            writer.write(b"GET / HTTP/1.1\r\nHost: " + host.encode() + b"\r\nUpgrade: websocket\r\n")
            writer.write(b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n")
            writer.write(b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            line = await asyncio.wait_for(reader.readline(), 2)
            heard[line.decode().split(" ")[1] if line else "cut off"] += 1
            open_ones.append(writer)
        except (OSError, TimeoutError) as error:
            heard[type(error).__name__] += 1
    await asyncio.sleep(max(0.0, until - time.monotonic()))
    for writer in open_ones:
        writer.close()
    return dict(heard)


async def headers(url: str, seconds: float) -> Found:
    """Begin 200 handshakes with a megabyte of headers each, and end none."""
    port = int(url.rsplit(":", 1)[1])
    line = b"X: " + b"x" * HEADER_BYTES + b"\r\n"
    sent = 0
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(200):
            _, writer = await stack.enter_async_context(open_bytes(port))
            with contextlib.suppress(ConnectionError):
                writer.write(b"GET / HTTP/1.1\r\n")
                for _ in range(HEADER_LINES):
                    writer.write(line)
                    await writer.drain()
                    sent += len(line)
        await asyncio.sleep(seconds / 2)
    return {"sent_mb": round(sent / 1e6)}


async def pings(url: str, seconds: float) -> Found:
    """Send pings and never read."""
    async with open_raw(url, receive_buffer=4096) as stranger:
        frame = b"\x89\xfd" + bytes(4) + bytes(125)
        chunk, sent, began = frame * 500, 0, time.monotonic()
        with contextlib.suppress(ConnectionError, TimeoutError):
            while time.monotonic() - began < seconds:
                stranger.writer.write(chunk)
                await asyncio.wait_for(stranger.writer.drain(), seconds)
                sent += len(chunk)
        return {"sent_mb": round(sent / 1e6, 1), "cut_after_s": round(time.monotonic() - began, 2)}


async def bots(url: str, seconds: float) -> Found:
    """Start perfect bots against each other on difficult boards, as many as allowed, and leave."""
    heard: Counter[str] = Counter()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        async with peer(url) as one:
            for _ in range(10):
                reply = await one.ask("create", rules=MISERE, bots=["perfect", "perfect"])
                heard[outcome_of(reply)] += 1
        await asyncio.sleep(0.2)
    return dict(heard)


async def guesses(url: str, seconds: float) -> Found:
    heard: Counter[str] = Counter()

    async def guess() -> None:
        with contextlib.suppress(ConnectionClosed):
            async with peer(url) as one:
                until = time.monotonic() + seconds
                while time.monotonic() < until:
                    reply = await one.ask("join", room="".join(ALPHABET[byte % 32] for byte in os.urandom(6)))
                    heard[outcome_of(reply)] += 1

    await asyncio.gather(*(guess() for _ in range(10)))
    return dict(heard)


ATTACKS: dict[str, Callable[[str, float], Coroutine[Any, Any, Found]]] = {
    attack.__name__: attack for attack in (hoard, crowd, headers, pings, bots, guesses)
}
