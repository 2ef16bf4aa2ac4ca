"""A TCP proxy with faults: each connection through it can be cut, delayed, throttled, swallowed or held up, any time.

It passes bytes on and knows nothing of what they mean. Everything is per connection and direction, and can be
switched while the bytes flow; `Proxy.on_link` sees each new connection before its first byte.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Self

CHUNK_BYTES = 65_536


class Direction:
    """One way through a link. `passed` and `swallowed` count its bytes.

    delay_seconds: how long every chunk is kept before it goes on.
    bytes_per_second: how much goes on in a second, None for no limit.
    is_swallowing: take the bytes and pass nothing on.
    cut_after: cut the whole link when so many more bytes have gone on, in mid-chunk where it falls so; None for never.
    """

    def __init__(self) -> None:
        self.delay_seconds = 0.0
        self.bytes_per_second: int | None = None
        self.is_swallowing = False
        self.cut_after: int | None = None
        self.passed = 0
        self.swallowed = 0
        self.has_swallowed = asyncio.Event()
        self._open = asyncio.Event()
        self._open.set()

    def hold_up(self) -> None:
        """Stop reading, so that the sender's own buffers fill."""
        self._open.clear()

    def go_on(self) -> None:
        """Read again after `hold_up`."""
        self._open.set()

    async def take(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next bytes that may be read, empty at the end."""
        await self._open.wait()
        limit = CHUNK_BYTES if self.bytes_per_second is None else max(1, self.bytes_per_second // 20)
        data = await reader.read(limit)
        await self._open.wait()
        if self.bytes_per_second is not None:
            await asyncio.sleep(len(data) / self.bytes_per_second)
        if self.delay_seconds:
            await asyncio.sleep(self.delay_seconds)
        return data


class Link:
    """One connection through the proxy: `up` goes to the server, `down` comes from it."""

    def __init__(self) -> None:
        self.up = Direction()
        self.down = Direction()
        self.is_cut = False
        self._writers: list[asyncio.StreamWriter] = []

    def cut(self) -> None:
        """Cut the connection on both sides at once, without a word."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def carry(self, client: tuple[asyncio.StreamReader, asyncio.StreamWriter], host: str, port: int) -> None:
        """Connect to the server and pass bytes on both ways until either side or a cut ends it."""
        self._writers.append(client[1])
        try:
            server = await asyncio.open_connection(host, port)
        except OSError:
            self.cut()
            return
        self._writers.append(server[1])
        if self.is_cut:
            self.cut()
            return
        ways = [
            asyncio.create_task(self._pump(client[0], server[1], self.up)),
            asyncio.create_task(self._pump(server[0], client[1], self.down)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for writer in self._writers:
                writer.close()
            for writer in self._writers:
                with contextlib.suppress(OSError):
                    await writer.wait_closed()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Direction) -> None:
        with contextlib.suppress(OSError):
            while data := await way.take(reader):
                if way.is_swallowing:
                    way.swallowed += len(data)
                    way.has_swallowed.set()
                    continue
                if way.cut_after is not None and len(data) >= way.cut_after:
                    writer.write(data[: way.cut_after])
                    way.passed += way.cut_after
                    self.cut()
                    return
                if way.cut_after is not None:
                    way.cut_after -= len(data)
                way.passed += len(data)
                writer.write(data)
                await writer.drain()


class Proxy:
    """Listens on a free `port` of the loopback, at `url`; use it with ``async with``. `links` are those that live."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.links: list[Link] = []
        self.on_link: Callable[[Link], None] = lambda link: None
        self._target = (host, port)
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = Link()
        self.on_link(link)
        self.links.append(link)
        task = asyncio.create_task(link.carry((reader, writer), *self._target))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: self.links.remove(link))
