"""A load that costs less than the server and never sleeps: WebSocket connections with prepared frames.

A load that waits in `epoll` makes the server pay for waking it, and a load on a whole WebSocket library measures
itself. Here a frame is encoded once, masked with zeros, which leaves its text unchanged (RFC 6455, section 5.3), and a
whole received frame is passed on unchanged. Subclasses interpret the texts.
"""

import asyncio
import base64
import gc
import signal
import socket
import time
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import uvloop

AT_ONCE = 64
"""How many connections are opened concurrently: fewer than a server's listen queue holds."""

TEXT, BINARY, _CLOSE, _PING, _PONG = 0x1, 0x2, 0x8, 0x9, 0xA
_DATA = (0x81, 0x82)
_KEY = base64.b64encode(b"sixteen bytes...").decode()

_Wire = TypeVar("_Wire", bound="Wire")
_Result = TypeVar("_Result")


def encode_frame(payload: bytes, opcode: int = TEXT) -> bytes:
    """Return one whole frame from a client.

    >>> encode_frame(b"hi")
    b'\\x81\\x82\\x00\\x00\\x00\\x00hi'
    """
    length = len(payload)
    if length < 126:
        return bytes((0x80 | opcode, 0x80 | length)) + bytes(4) + payload
    if length < 65536:
        return bytes((0x80 | opcode, 0xFE)) + length.to_bytes(2) + bytes(4) + payload
    return bytes((0x80 | opcode, 0xFF)) + length.to_bytes(8) + bytes(4) + payload


class _Tally:
    """The number of reads on all connections; a class attribute would invalidate the interpreter's caches."""

    __slots__ = ("reads",)

    def __init__(self) -> None:
        self.reads = 0


_tally = _Tally()


class Wire(asyncio.Protocol):
    """A client's connection; subclasses handle messages in `received`."""

    def __init__(self) -> None:
        self.is_open = False
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rest = b""

    def received(self, payload: bytes) -> None:
        """Take one message."""

    def lost(self) -> None:
        """Hear of the end of the connection."""

    def send(self, text: str) -> None:
        self.transport.write(encode_frame(text.encode()))

    def upgrade(self, host: str, path: str) -> None:
        """Request a WebSocket; `opened` is done when it is open."""
        self.transport.write(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {_KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def close(self) -> None:
        """Close the connection without waiting for the answer."""
        if not self.transport.is_closing():
            self.transport.write(encode_frame((1000).to_bytes(2), _CLOSE))
            self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        _tally.reads += 1
        length = len(data)
        if self._rest or not self.is_open or length < 4 or data[0] not in _DATA:
            self._take_slowly(data)
        elif data[1] == length - 2 < 126:
            self.received(data[2:])
        elif data[1] == 126 and (data[2] << 8 | data[3]) == length - 4:
            self.received(data[4:])
        else:
            self._take_slowly(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if not self.opened.done():
            self.opened.set_exception(ConnectionError("the connection ended before it was open"))
        self.lost()

    def _take_slowly(self, data: bytes) -> None:
        """Handle bytes that may not be one whole frame."""
        data = self._rest + data
        if not self.is_open:
            head, end, data = data.partition(b"\r\n\r\n")
            if not end:
                self._rest = head
                return
            self._end_upgrade(head)
        begin = 0
        while self.is_open and (frame := _find_frame(data, begin)) is not None:
            opcode, payload, begin = frame
            if opcode in (TEXT, BINARY):
                self.received(payload)
            elif opcode == _PING:
                self.transport.write(encode_frame(payload, _PONG))
            elif opcode == _CLOSE:
                self.close()
        self._rest = data[begin:]

    def _end_upgrade(self, head: bytes) -> None:
        if not head.startswith(b"HTTP/1.1 101"):
            self.opened.set_exception(ConnectionError(head.decode(errors="replace")))
            self.transport.abort()
            return
        self.is_open = True
        if not self.opened.done():
            self.opened.set_result(None)


def _find_frame(data: bytes, begin: int) -> tuple[int, bytes, int] | None:
    """Return opcode, payload and end of the frame at this offset, or None if it is incomplete."""
    if len(data) < begin + 2:
        return None
    length, start = data[begin + 1], begin + 2
    if length == 126:
        length, start = int.from_bytes(data[begin + 2 : begin + 4]), begin + 4
    elif length == 127:
        length, start = int.from_bytes(data[begin + 2 : begin + 10]), begin + 10
    if len(data) < start + length:
        return None
    return data[begin] & 0x0F, data[start : start + length], start + length


async def open_wire(url: str, make: Callable[[], _Wire], sock: socket.socket | None = None) -> _Wire:
    """Connect, by a given socket if there is one, and return the open WebSocket from `make`."""
    address = urlsplit(url)
    assert address.hostname is not None
    loop, where = asyncio.get_running_loop(), (address.hostname, address.port or 80)
    if sock is None:
        _, wire = await loop.create_connection(make, *where)
    else:
        await loop.sock_connect(sock, where)
        _, wire = await loop.create_connection(make, sock=sock)
    path = f"{address.path or '/'}?{address.query}" if address.query else address.path or "/"
    wire.upgrade(address.netloc, path)
    await wire.opened
    return wire


async def gather_some(work: Iterable[Coroutine[Any, Any, _Result]], at_once: int = AT_ONCE) -> list[_Result]:
    """Return all results in order, with at most `at_once` running concurrently."""
    free = asyncio.Semaphore(at_once)

    async def wait_for_a_place(one: Coroutine[Any, Any, _Result]) -> _Result:
        async with free:
            return await one

    return await asyncio.gather(*(wait_for_a_place(one) for one in work))


class Spin:
    """Keeps the event loop from sleeping; counts the idle seconds."""

    def __init__(self) -> None:
        self._is_on = True
        self._loop = asyncio.get_running_loop()
        self._reads = _tally.reads
        self._at = time.perf_counter()
        self.idle_seconds = 0.0
        self._loop.call_soon(self._turn)

    def stop(self) -> None:
        self._is_on = False

    def _turn(self) -> None:
        now = time.perf_counter()
        if _tally.reads == self._reads:
            self.idle_seconds += now - self._at
        self._reads, self._at = _tally.reads, now
        if self._is_on:
            self._loop.call_soon(self._turn)


def run(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Run on a loop without garbage collection, whose pauses would be attributed to the server.

    SIGTERM cancels it, so that the servers end with the benchmark.
    """

    async def until_told() -> _Result:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await main

    gc.collect()
    gc.disable()
    try:
        return uvloop.run(until_told())
    finally:
        gc.enable()
