"""How many bytes go out to peers: counted on connections of a kind of their own, where that is asked for."""

from __future__ import annotations

import asyncio
from typing import Any

from tictactoe_server.transport.connection import Connection


class Meter:
    """`sent` is how many bytes went out over all connections that have this meter."""

    __slots__ = ("sent",)

    def __init__(self) -> None:
        self.sent = 0


class MeteredConnection(Connection):
    """A connection that counts what it sends."""

    __slots__ = ("_meter",)

    def __init__(self, meter: Meter, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._meter = meter

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to talk, and to count."""
        super().connection_made(transport)
        write, meter = self._write, self._meter

        def count(data: bytes) -> None:
            meter.sent += len(data)
            write(data)

        self._write = count
