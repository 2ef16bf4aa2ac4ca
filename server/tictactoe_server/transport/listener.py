"""The sockets that a server listens on, all connections that came through them, and whether these still live."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from itertools import cycle
from socket import socket
from typing import Final

from tictactoe_server.settings import Limits
from tictactoe_server.transport.caller import Caller
from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.connection import LOOKS_A_PING, Connection, Receiver
from tictactoe_server.transport.door import Door
from tictactoe_server.transport.entrance import Entrance

BACKLOG: Final = 4_096
"""How many connections may wait to be accepted: all players of a server that comes back at once."""

_TURNS: Final = 48
_TURNS_A_LOOK: Final = _TURNS // LOOKS_A_PING
_CLOSED_AT_ONCE: Final = 200


class Listener:
    """Accepts connections; `accept` makes a receiver for each whose handshake is done. With a certificate they are TLS.

    Each connection has its turn in the round of pings, so that they do not all go out at once. `make` makes the
    connections.
    """

    def __init__(
        self,
        accept: Callable[[Connection], Receiver],
        door: Door,
        limits: Limits,
        certificate: Certificate | None = None,
        make: Callable[..., Connection] = Connection,
    ) -> None:
        self._accept = accept
        self._door = door
        self._make = make
        self._limits = limits
        self._certificate = certificate
        self._entrances: list[Entrance] = []
        self._turns: list[set[Connection]] = [set() for _ in range(_TURNS)]
        self._turn_of: dict[Connection, set[Connection]] = {}
        self._next_turn = cycle(self._turns)
        self._pinging: asyncio.Task[None] | None = None
        self._emptied: asyncio.Event | None = None

    @property
    def connections(self) -> Iterable[Connection]:
        """All connections, in the order of their acceptance."""
        return self._turn_of.keys()

    def cut_off(self) -> None:
        """Cut all connections off, without waiting for any."""
        for connection in list(self.connections):
            connection.abort()

    async def listen(self, sockets: Iterable[socket]) -> None:
        """Accept connections from now on."""
        context = None if self._certificate is None else self._certificate.context
        for listening in sockets:
            listening.listen(BACKLOG)
            self._entrances.append(Entrance(listening, self._door, self._make_connection, self._limits, context))
        self._pinging = asyncio.create_task(self._ping())

    async def stop(self, code: int, reason: str, within: float) -> None:
        """Accept nothing more, close all connections politely, and cut off what is not gone within so many seconds."""
        for entrance in self._entrances:
            entrance.close()
        for number, connection in enumerate(list(self.connections)):
            connection.close(code, reason)
            if number % _CLOSED_AT_ONCE == 0:
                await asyncio.sleep(0)
        if self._turn_of:
            self._emptied = asyncio.Event()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._emptied.wait(), within)
        self.cut_off()
        if self._pinging is not None:
            self._pinging.cancel()
            await asyncio.gather(self._pinging, return_exceptions=True)

    def _make_connection(self, caller: Caller) -> Connection:
        connection = self._make(self._accept, self._forget, caller, self._limits)
        turn = self._turn_of[connection] = next(self._next_turn)
        turn.add(connection)
        return connection

    def _forget(self, connection: Connection) -> None:
        self._turn_of.pop(connection).discard(connection)
        if self._emptied is not None and not self._turn_of:
            self._emptied.set()

    async def _ping(self) -> None:
        """Give each connection its turn, round after round."""
        for number in cycle(range(_TURNS)):
            await asyncio.sleep(self._limits.ping_seconds / _TURNS)
            self._take_turn(number)

    def _take_turn(self, number: int) -> None:
        """Ask the connections of this turn, and look at those of every turn that is so many behind it."""
        for turn in self._turns[number % _TURNS_A_LOOK :: _TURNS_A_LOOK]:
            for connection in list(turn):
                connection.look()
        for connection in list(self._turns[number]):
            connection.ping()
