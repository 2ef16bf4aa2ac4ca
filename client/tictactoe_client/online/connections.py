"""The connections of one client: to the server that it is at, and to each other one in whose rooms it is.

It knows the servers of the cluster and how to come back to one of them, and nothing of what is said."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from msgspec import UNSET

from tictactoe_client.online.address import Address, is_same_server
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.cluster import Cluster
from tictactoe_client.online.connection import Connection
from tictactoe_client.online.errors import ClientError, ConnectionLost
from tictactoe_client.online.events import ConnectionEvent
from tictactoe_client.online.failures import GOING_DOWN
from tictactoe_client.online.reconnect import come_back
from tictactoe_protocol.catalogue import say

Reader = Callable[[Connection], Coroutine[Any, Any, ConnectionLost]]
"""Reads a connection to its end, and returns why it ended."""
Ended = Callable[[Connection, "asyncio.Task[ConnectionLost]"], object]


class Connections:
    """Connections that are read by tasks; `main` is the one to the server that we are at, and may be lost.

    `cluster` begins with the server that we are at. Setting `hurry` ends a wait for the next attempt to come back.
    """

    def __init__(
        self,
        main: Connection,
        cluster: Cluster,
        greet: Callable[[Address], Awaitable[Connection]],
        backoff: Backoff | None,
        read: Reader,
        ended: Ended,
    ) -> None:
        """Read the main one with `read`, after which `ended` is called, as for all. `greet` makes one."""
        self.main = main
        self.cluster = cluster.seen_from(main.address, main.servers)
        self.hurry = asyncio.Event()
        self.backoff = backoff
        self._greet, self._read, self._ended = greet, read, ended
        self._readers: dict[Connection, asyncio.Task[ConnectionLost]] = {}
        self._greetings: dict[Address, asyncio.Task[Connection]] = {}
        self._closing: set[asyncio.Task[None]] = set()
        self._listen(main)

    def is_live(self, connection: Connection | None) -> bool:
        """Tell whether it is not lost, as far as is known, and not given up."""
        return connection in self._readers

    @property
    def others(self) -> list[Connection]:
        """Those that live beside the main one."""
        return [connection for connection in self._readers if connection is not self.main]

    @property
    def patience(self) -> tuple[float, float]:
        """For how many seconds it is tried to be in our rooms again: at a server, and where there is none."""
        hold_ms = self.main.welcome.hold_ms
        return (self.backoff or Backoff()).patience(None if hold_ms is UNSET else hold_ms)

    def known_from(self, teller: Connection) -> tuple[Address, ...]:
        """Return the servers to which one may go from this one: none without TLS from one with it."""
        return (*teller.servers, *(one for one in self.cluster.addresses if teller.address.may_lead_to(one)))

    # -- making them ------------------------------------------------------------------------------------------------

    def settle_at(self, connection: Connection) -> None:
        """Let this be the main one; where it is new, read it."""
        self.main = connection
        self.cluster = self.cluster.seen_from(connection.address, connection.servers)
        if connection not in self._readers:
            self._listen(connection)

    async def reach(self, address: Address) -> Connection:
        """Return our connection to a server, made now where there is none; raises what making one raises."""
        for connection in self._readers:
            if is_same_server(connection.address, address):
                return connection
        greeting = self._greetings.get(address)
        if greeting is None:
            greeting = self._greetings[address] = asyncio.create_task(self._make(address), name="tictactoe greeting")
            greeting.add_done_callback(lambda _: self._greetings.pop(address, None))
        return await asyncio.shield(greeting)

    async def ask_for_servers(self, connection: Connection) -> None:
        """Have a server name its cluster anew, as to whoever comes now: one may have started since it welcomed us."""
        try:
            newer = await self._greet(connection.address)
        except ClientError:
            return
        await newer.close()
        connection.servers = newer.servers

    async def find_return(self, lost: ConnectionLost) -> float | None:
        """Return in how many ms the lost server said to be back, infinite for never, None where it did not say.

        Raises `ConnectionLost` where nothing brings us back. Waits for connections that are being made.
        """
        while self._greetings:
            await asyncio.wait(list(self._greetings.values()))
        if self.backoff is None and not self.others:
            raise lost
        notice = self.main.notice
        if notice is None or notice.code != "stopping" or lost.close_code not in GOING_DOWN:
            return lost.retry_ms
        if len(self.cluster.addresses) == 1:
            raise ConnectionLost(say("lost stopped"), lost.close_code)
        return math.inf

    async def replace_main(
        self, lost: ConnectionLost, announced_ms: float | None, tell: Callable[[ConnectionEvent], None]
    ) -> Connection:
        """Return a live connection in place of the main one; raises `ConnectionLost` where none is to be had in time.

        Where rooms of ours are at another server, or on their way there, we are there already.
        """
        if others := self.others:
            return others[0]
        self.hurry.clear()
        lasted = asyncio.get_running_loop().time() - self.main.began_at
        ways = (self.backoff or Backoff()).ways(len(self.cluster.addresses), announced_ms, lasted_seconds=lasted)
        return await come_back(self._greet, self.cluster, ways, self.patience, lost, tell, self.hurry)

    async def _make(self, address: Address) -> Connection:
        connection = await self._greet(address)
        self._listen(connection)
        return connection

    def _listen(self, connection: Connection) -> None:
        reader = asyncio.create_task(self._read(connection), name="tictactoe connection")
        self._readers[connection] = reader
        reader.add_done_callback(partial(self._note_end, connection))

    # -- ending them ------------------------------------------------------------------------------------------------

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
        for greeting in self._greetings.values():
            greeting.cancel()
        for connection in {self.main, *self._readers}:
            self.give_up(connection)
        await asyncio.wait([*self._closing, *self._greetings.values()])
