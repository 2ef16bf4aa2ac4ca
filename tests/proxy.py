"""A relay between a client and a server that can lose its connections, go deaf and turn callers away."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Proxy:
    """Passes bytes on to `port` of this machine.

    `cut` breaks every connection, `lose` for good; while `is_closed` callers are turned away; while `swallows_replies`
    nothing of the server's gets through; between `hold` and `release` it comes late, and `delay_seconds` late at any
    time. `called` is set whenever somebody calls; `replies` is all that the server has said.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.is_closed = False
        self.swallows_replies = False
        self.delay_seconds = 0.0
        self.calls = 0
        self.replies = bytearray()
        self.called = asyncio.Event()
        self._flows = asyncio.Event()
        self._flows.set()
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"ws://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    async def stop(self) -> None:
        self.cut()
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def lose(self) -> None:
        """Break every connection, and turn callers away from now on."""
        self.is_closed = True
        self.cut()

    def hold(self) -> None:
        self._flows.clear()

    def release(self) -> None:
        self._flows.set()

    async def until_called(self) -> None:
        self.called.clear()
        async with asyncio.timeout(10):
            await self.called.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.calls += 1
        self.called.set()
        if self.is_closed:
            writer.transport.abort()
            return
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.port)
        both = {writer, up_writer}
        self._writers |= both
        await asyncio.gather(
            self._pass(reader, up_writer, replies=False),
            self._pass(up_reader, writer, replies=True),
        )
        self._writers -= both

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, replies: bool) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if replies:
                    self.replies += data
                    await asyncio.sleep(self.delay_seconds)
                    await self._flows.wait()
                if not (replies and self.swallows_replies):
                    writer.write(data)
        writer.transport.abort()


@contextlib.asynccontextmanager
async def run_proxy(port: int) -> AsyncIterator[Proxy]:
    proxy = Proxy(port)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.stop()
