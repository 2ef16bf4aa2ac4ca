"""A TCP relay that can cut, delay, drop and hold up traffic, and turn connections away.

Each connection has two directions of its own; the proxy's two apply to all connections, current and future.
`Proxy.on_link` is called with each connection before its first byte.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Self

from tests.peer import PATIENCE_SECONDS
from tests.raw import stop_accepting

CHUNK_BYTES = 65_536

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Direction:
    """One way through a link, or, as `everywhere`, through all links.

    Attributes:
        delay_seconds: How long each chunk is held before it is passed on.
        is_swallowing: Read the bytes and pass nothing on.
        taken: If set, collects every byte that was read.
        cut_after: Cut the link after passing on this many more bytes, even within a chunk; None for never.
        passed: Number of bytes passed on.
        swallowed: Number of bytes read and dropped.
    """

    def __init__(self, everywhere: Direction | None = None) -> None:
        self.delay_seconds = 0.0
        self.is_swallowing = False
        self.taken: bytearray | None = None
        self.cut_after: int | None = None
        self.passed = 0
        self.swallowed = 0
        self._ways = [self] if everywhere is None else [everywhere, self]
        self._open = asyncio.Event()
        self._open.set()

    @property
    def swallows(self) -> bool:
        """Whether this link or all links drop what they read."""
        return any(way.is_swallowing for way in self._ways)

    def hold_up(self) -> None:
        """Stop reading, so that the sender's own buffers fill."""
        self._open.clear()

    def go_on(self) -> None:
        """Read again after `hold_up`."""
        self._open.set()

    async def take(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next bytes once reading is allowed; nothing at the end."""
        await self._until_open()
        data = await reader.read(CHUNK_BYTES)
        for way in self._ways:
            if way.taken is not None:
                way.taken += data
        await self._until_open()
        if seconds := sum(way.delay_seconds for way in self._ways):
            await asyncio.sleep(seconds)
        return data

    async def _until_open(self) -> None:
        for way in self._ways:
            await way._open.wait()


class Link:
    """One connection through the proxy: `up` goes to the server, `down` comes from it."""

    def __init__(self, up: Direction, down: Direction, caller: asyncio.StreamWriter) -> None:
        self.up = Direction(up)
        self.down = Direction(down)
        self.is_cut = False
        self._writers = [caller]

    def cut(self) -> None:
        """Abort the connection on both sides at once."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def carry(self, proxy: Proxy, caller: Streams) -> None:
        """Connect to the server and pass bytes on both ways until either side or a cut ends it."""
        try:
            await self._carry(proxy, caller)
        finally:
            for writer in self._writers:
                if not writer.is_closing():
                    writer.transport.abort()

    async def _carry(self, proxy: Proxy, caller: Streams) -> None:
        server = await proxy.reach(caller[1])
        if server is not None:
            self._writers.append(server[1])
        if server is None or self.is_cut:
            self.cut()
            return
        ways = [
            asyncio.create_task(self._pump(caller[0], server[1], self.up)),
            asyncio.create_task(self._pump(server[0], caller[1], self.down)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            for writer in self._writers:
                writer.close()
            await asyncio.gather(*ways, return_exceptions=True)
            for writer in self._writers:
                with contextlib.suppress(OSError):
                    await writer.wait_closed()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Direction) -> None:
        with contextlib.suppress(OSError):
            while data := await way.take(reader):
                if way.swallows:
                    way.swallowed += len(data)
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
    """Listens on a free `port` of the loopback, at `url`, for the server on port `target`. Use it with ``async with``.

    Attributes:
        up: What applies to every link's bytes to the server.
        down: What applies to every link's bytes from the server.
        links: The open connections.
        is_closed: Whether new connections are turned away.
        calls: Number of connections made, those turned away included.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.up, self.down = Direction(), Direction()
        self.links: list[Link] = []
        self.on_link: Callable[[Link], None] = lambda link: None
        self.is_closed = False
        self.calls = 0
        self._called = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"ws://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await stop_accepting(self._server)
        self.lose()  # a task that is cancelled before it began closes nothing
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> None:
        """Break every connection; new ones may be made."""
        for link in list(self.links):
            link.cut()

    def lose(self) -> None:
        self.is_closed = True
        self.cut()

    async def until_called(self) -> None:
        self._called.clear()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self._called.wait()

    async def reach(self, caller: asyncio.StreamWriter) -> Streams | None:
        """Connect to the server, or return None if that fails."""
        try:
            return await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return None

    def keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        self._called.set()
        if self.is_closed:
            writer.transport.abort()
            return
        link = Link(self.up, self.down, writer)
        self.on_link(link)
        self.links.append(link)
        task = asyncio.create_task(link.carry(self, (reader, writer)))
        self.keep(task)
        task.add_done_callback(lambda _: self.links.remove(link))
