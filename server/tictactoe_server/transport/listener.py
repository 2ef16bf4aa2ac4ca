"""Accepts connections, a few at a time, knows all that are there, and finds out whether they still live.

Who is one too many is told so and let go at next to no cost; with TLS, where that could not be read, without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from http import HTTPStatus
from itertools import cycle
from socket import SHUT_WR, socket
from typing import Any, Final

from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import TOO_MANY_WORDS, Admission, RemotePeer, canonical
from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.connection import LOOKS_A_PING, Connection, Receiver
from tictactoe_server.transport.http_connection import LINGER_SECONDS
from tictactoe_server.transport.http_messages import encode_response, say

BACKLOG: Final = 4_096  # how many connections may wait to be accepted: all players of a server that comes back at once
ACCEPTED_A_TURN: Final = 2  # how many are accepted at one socket in one turn of the event loop
MAX_TURNED_AWAY: Final = 64  # how many of these may
_PAUSE_SECONDS: Final = 0.1  # how long to wait where the system has no descriptor left for one more
_TURNS: Final = 48
_TURNS_A_LOOK: Final = _TURNS // LOOKS_A_PING
_CLOSED_AT_ONCE: Final = 200


class Listener:
    """Accepts connections, with a certificate by TLS; `accept` makes a receiver for each whose WebSocket is open.

    `connections`, which `make` makes, are in the order of their acceptance. Each has its turn in the round of pings, so
    that these do not all go out at once.
    """

    def __init__(
        self,
        accept: Callable[[Connection], Receiver],
        admission: Admission,
        limits: Limits,
        certificate: Certificate | None = None,
        make: Callable[..., Connection] = Connection,
    ) -> None:
        self._accept, self._make = accept, make
        self._admission, self._limits, self._certificate = admission, limits, certificate
        self._sockets: list[socket] = []
        self._connecting: set[asyncio.Task[None]] = set()
        self._pinging: asyncio.Task[None] | None = None
        self._refused: set[socket] = set()
        self._turns: list[set[Connection]] = [set() for _ in range(_TURNS)]
        self.connections: dict[Connection, set[Connection]] = {}
        self._next_turn = cycle(self._turns)
        self._is_empty = asyncio.Event()

    async def listen(self, sockets: Iterable[socket]) -> None:
        for listening in sockets:
            listening.listen(BACKLOG)
            listening.setblocking(False)
            self._sockets.append(listening)
            self._accept_at(listening)
        self._pinging = asyncio.create_task(self._ping())

    async def stop(self, code: int, reason: str, within: float) -> None:
        """Accept nothing more, close all connections politely, and cut off what is not gone within so many seconds.

        Handshakes of TLS that are not done are let go of at once. It may be called again.
        """
        while self._sockets:
            listening = self._sockets.pop()
            asyncio.get_running_loop().remove_reader(listening)
            listening.close()
        if self._pinging is not None:
            self._pinging.cancel()
        # Without TLS a connection is there in a moment; one that is cancelled then is closed by uvloop without a word.
        if self._certificate is not None:
            for connecting in self._connecting:
                connecting.cancel()
        for refused in list(self._refused):
            self._close_refused(refused)
        for number, connection in enumerate(list(self.connections)):
            connection.close(code, reason)
            if number % _CLOSED_AT_ONCE == 0:
                await asyncio.sleep(0)
        if self.connections:
            self._is_empty.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_empty.wait(), within)
        self.cut_off()

    def cut_off(self) -> None:
        for connection in list(self.connections):
            connection.abort()

    # -- accepting ----------------------------------------------------------------------------------------------

    def _accept_at(self, listening: socket) -> None:
        if listening in self._sockets:
            asyncio.get_running_loop().add_reader(listening, self._accept_some, listening)

    def _accept_some(self, listening: socket) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(ACCEPTED_A_TURN):
            try:
                accepted, address = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                loop.remove_reader(listening)
                loop.call_later(_PAUSE_SECONDS, self._accept_at, listening)
                return
            accepted.setblocking(False)
            peer = RemotePeer(self._admission)
            if peer.accept(canonical(str(address[0])) or ""):
                connecting = loop.create_task(self._connect(self._make_connection(peer), accepted))
                self._connecting.add(connecting)
                connecting.add_done_callback(self._connecting.discard)
            else:
                peer.close()
                self._turn_away(accepted)

    async def _connect(self, connection: Connection, accepted: socket) -> None:
        loop, limits = asyncio.get_running_loop(), self._limits
        tls: dict[str, Any] = {}
        if self._certificate is not None:
            tls = {"ssl_handshake_timeout": limits.hello_seconds, "ssl_shutdown_timeout": limits.close_seconds}
            tls["ssl"] = self._certificate.context
        try:
            await loop.connect_accepted_socket(lambda: connection, accepted, **tls)
        except (OSError, asyncio.CancelledError):  # one who does not speak TLS, or went away; or the server stops
            connection.abort()

    def _turn_away(self, accepted: socket) -> None:
        """Say that there are too many, and let go: at once where many of those are here already.

        What is closed with something unread is reset, and what was said may then not arrive.
        """
        self._refused.add(accepted)
        if self._certificate is None:
            with contextlib.suppress(OSError):
                accepted.send(encode_response(say(HTTPStatus.SERVICE_UNAVAILABLE, TOO_MANY_WORDS)))
                accepted.shutdown(SHUT_WR)
            if len(self._refused) <= MAX_TURNED_AWAY:
                asyncio.get_running_loop().call_later(LINGER_SECONDS, self._close_refused, accepted)
                return
        self._close_refused(accepted)

    def _close_refused(self, refused: socket) -> None:
        self._refused.discard(refused)
        refused.close()

    # -- all that are there -------------------------------------------------------------------------------------

    def _make_connection(self, peer: RemotePeer) -> Connection:
        connection = self._make(self._accept, self._forget, peer, self._limits)
        turn = self.connections[connection] = next(self._next_turn)
        turn.add(connection)
        return connection

    def _forget(self, connection: Connection) -> None:
        self.connections.pop(connection, set()).discard(connection)
        if not self.connections:
            self._is_empty.set()

    async def _ping(self) -> None:
        for number in cycle(range(_TURNS)):
            await asyncio.sleep(self._limits.ping_seconds / _TURNS)
            self._take_turn(number)

    def _take_turn(self, number: int) -> None:
        """Ping this turn's connections, and check those of the turns before it for silence."""
        for turn in self._turns[number % _TURNS_A_LOOK :: _TURNS_A_LOOK]:
            for connection in list(turn):
                connection.end_if_silent()
        for connection in list(self._turns[number]):
            connection.ping()
