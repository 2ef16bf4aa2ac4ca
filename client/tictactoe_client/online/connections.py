"""The connections of one client: to the server that it is at, and to each other one in whose rooms it is.

It knows at which of them each room is, and nothing of what is said."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from tictactoe_client.online.address import Address, is_same_server
from tictactoe_client.online.connection import Connection
from tictactoe_client.online.errors import ClientError, ConnectionLost

Reader = Callable[[Connection], Coroutine[Any, Any, ConnectionLost]]
"""Reads a connection to its end, and returns why it ended."""
Ended = Callable[[Connection, "asyncio.Task[ConnectionLost]"], object]


class Connections:
    """Connections that are read by tasks; `main` is the one to the server that we are at, and may be lost.

    Rooms are at the main one unless it is known otherwise. A room that is on its way is at none.
    """

    def __init__(
        self, main: Connection, call: Callable[[Address], Awaitable[Connection]], read: Reader, ended: Ended
    ) -> None:
        """Read the main one: with `read`, after which `ended` is called, as for all. `call` makes one."""
        self.main = main
        self._call, self._read, self._ended = call, read, ended
        self._readers: dict[Connection, asyncio.Task[ConnectionLost]] = {}
        self._places: dict[str, Connection | None] = {}
        self._calls: dict[Address, asyncio.Task[Connection]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._listen(main)

    # -- which there are --------------------------------------------------------------------------------------------

    def is_live(self, connection: Connection | None) -> bool:
        """Tell whether it is not lost, as far as is known, and not given up."""
        return connection in self._readers

    @property
    def others(self) -> list[Connection]:
        """Those that live beside the main one."""
        return [connection for connection in self._readers if connection is not self.main]

    def use(self, connection: Connection) -> None:
        """Let this be the main one; where it is new, read it."""
        self.main = connection
        self._places = {code: place for code, place in self._places.items() if place is not connection}
        if connection not in self._readers:
            self._listen(connection)

    async def reach(self, address: Address) -> Connection:
        """Return our connection to a server, made now where there is none; raises what making one raises."""
        for connection in self._readers:
            if is_same_server(connection.address, address):
                return connection
        call = self._calls.get(address)
        if call is None:
            call = self._calls[address] = asyncio.create_task(self._make(address), name="tictactoe call")
            call.add_done_callback(lambda _: self._calls.pop(address, None))
        return await asyncio.shield(call)

    async def servers_now(self, connection: Connection) -> tuple[Address, ...]:
        """Return the servers that a server names to whoever comes now: one may have started since it welcomed us."""
        try:
            newer = await self._call(connection.address)
        except ClientError:
            return connection.servers
        await newer.close()
        return newer.servers

    async def until_reached(self) -> None:
        """Wait for those that are being made, or cannot be."""
        while self._calls:
            await asyncio.wait(list(self._calls.values()))

    async def _make(self, address: Address) -> Connection:
        connection = await self._call(address)
        self._listen(connection)
        return connection

    def _listen(self, connection: Connection) -> None:
        reader = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._readers[connection] = reader
        reader.add_done_callback(partial(self._note_end, connection))

    def _note_end(self, connection: Connection, reader: asyncio.Task[ConnectionLost]) -> None:
        if self._readers.pop(connection, None) is not None and not reader.cancelled():
            self._ended(connection, reader)

    def give_up(self, connection: Connection) -> None:
        """Close one that nobody needs any more; its end is not told."""
        if (reader := self._readers.pop(connection, None)) is not None:
            reader.cancel()
        closing = asyncio.create_task(connection.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Close all."""
        for call in self._calls.values():
            call.cancel()
        for connection in {self.main, *self._readers}:
            self.give_up(connection)
        await asyncio.wait([*self._closing, *self._calls.values()])

    # -- where rooms are --------------------------------------------------------------------------------------------

    def place_of(self, room: str) -> Connection | None:
        """Return the connection at which a room is, or None while it is on its way."""
        return self._places.get(room, self.main)

    def set_out(self, room: str) -> None:
        """Take note that a room is on its way."""
        self._places[room] = None

    def arrive(self, room: str, connection: Connection) -> None:
        """Take note where a room is."""
        self.forget(room)
        if connection is not self.main:
            self._places[room] = connection

    def forget(self, room: str) -> None:
        """Take a room for one that is where we are."""
        self._places.pop(room, None)
