"""The balancer of the tests takes turns, names its callers, and leaves out servers that are gone or not ready."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from tests.peer import until
from tictactoe_server.transport import admission
from tools.cluster.balancer import Balancer, is_ready


class Answering:
    """Answers whether it is ready; keeps the first bytes of every other connection."""

    def __init__(self) -> None:
        self.status = 200
        self.first: list[bytes] = []
        self.was_asked = asyncio.Event()
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(65536)
        if first.startswith(b"GET /readyz"):
            writer.write(f"HTTP/1.1 {self.status} Some\r\nContent-Length: 0\r\n\r\n".encode())
            self.was_asked.set()
        else:
            self.first.append(first)
            writer.write(b"!")
        writer.close()


@contextlib.asynccontextmanager
async def answering() -> AsyncIterator[Answering]:
    server = Answering()
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listener:
        server.port = listener.sockets[0].getsockname()[1]
        yield server


async def call(port: int) -> tuple[str, bytes]:
    """Call, say nothing, and return one's own address and what is answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return writer.get_extra_info("sockname")[0], await reader.read(1)
    finally:
        writer.close()


async def test_servers_take_turns_and_are_told_the_callers_address() -> None:
    async with answering() as one, answering() as other, Balancer([one.port, other.port]) as balancer:
        for _ in range(4):
            host, answer = await call(balancer.port)
            assert answer == b"!"
        assert [len(one.first), len(other.first)] == [2, 2]
        assert admission.read_proxy_header(one.first[0]) == (host, len(one.first[0]))


async def test_a_server_that_is_gone_is_passed_over() -> None:
    async with answering() as one:
        async with answering() as other:
            pass
        async with Balancer([one.port, other.port]) as balancer:
            for _ in range(4):
                await call(balancer.port)
        assert len(one.first) == 4


async def test_a_server_that_is_not_ready_gets_nobody() -> None:
    async with answering() as one, answering() as other:
        other.status = 503
        assert await is_ready(one.port)
        assert not await is_ready(other.port)
        async with Balancer([one.port, other.port]) as balancer:
            await asyncio.gather(one.was_asked.wait(), other.was_asked.wait())
            await until(lambda: not balancer._is_ready[other.port])
            for _ in range(4):
                await call(balancer.port)
        assert (len(one.first), len(other.first)) == (4, 0)


async def test_where_no_server_is_callers_are_turned_away() -> None:
    async with answering() as gone:
        pass
    async with Balancer([gone.port]) as balancer:
        assert (await call(balancer.port))[1] == b""
