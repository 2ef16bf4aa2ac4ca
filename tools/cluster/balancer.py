"""A TCP balancer without stickiness, as operators put in front of a cluster: round robin over the servers.

It sends a header of the PROXY protocol, version 1, skips servers that refuse a connection, and tries servers that are
not ready last.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from http import HTTPStatus
from typing import Self, cast

from tests.proxy import Proxy, Streams

CONNECT_SECONDS = 1.0
ASK_SECONDS = 0.5
"""How often servers are asked whether they are ready, and how long an answer may take."""


class Balancer(Proxy):
    """Listens on a free port of the loopback, at `url`, for servers on `ports`; use it with ``async with``."""

    def __init__(self, ports: Sequence[int]) -> None:
        super().__init__(ports[0])
        self._ports = list(ports)
        self._turn = 0
        self._is_ready = dict.fromkeys(ports, True)

    async def __aenter__(self) -> Self:
        for port in self._ports:
            self.keep(asyncio.create_task(self._ask(port)))
        return await super().__aenter__()

    async def reach(self, caller: asyncio.StreamWriter) -> Streams | None:
        """Connect to the next server that accepts, and announce the caller's address; None if there is none."""
        server = await self._connect()
        if server is not None:
            server[1].write(self._header(caller))
        return server

    async def _connect(self) -> Streams | None:
        self._turn += 1
        turned = [self._ports[(self._turn + place) % len(self._ports)] for place in range(len(self._ports))]
        for port in sorted(turned, key=lambda port: not self._is_ready[port]):
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection("127.0.0.1", port)
        return None

    async def _ask(self, port: int) -> None:
        """Ask a server repeatedly whether it is ready."""
        while True:
            self._is_ready[port] = await is_ready(port)
            await asyncio.sleep(ASK_SECONDS)

    def _header(self, writer: asyncio.StreamWriter) -> bytes:
        host, port = cast(tuple[str, int], writer.get_extra_info("peername"))
        own_host, own_port = cast(tuple[str, int], writer.get_extra_info("sockname"))
        return f"PROXY TCP4 {host} {own_host} {port} {own_port}\r\n".encode()


async def is_ready(port: int) -> bool:
    """Return whether the server on this port reports in time that it is ready."""
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(ASK_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            return int((await reader.readline()).split()[1]) == HTTPStatus.OK
    except (OSError, TimeoutError, IndexError, ValueError):
        return False
    finally:
        if writer is not None:
            writer.close()
