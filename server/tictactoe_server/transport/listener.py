"""Accepts connections, a few at a time, and pings them.

Connections beyond the limits are refused cheaply: with a plain HTTP response or, if TLS is enabled, without a response.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from http import HTTPStatus
from itertools import cycle
from socket import SHUT_WR, socket
from typing import Any, Final

from tictactoe_server.scheduler import Tasks, wait_for
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import TOO_MANY_WORDS, Admission, RemotePeer, canonical
from tictactoe_server.transport.certificate import Certificate
from tictactoe_server.transport.connection import LOOKS_A_PING, Connection, Receiver
from tictactoe_server.transport.http_connection import LINGER_SECONDS
from tictactoe_server.transport.http_messages import encode_response, say

BACKLOG: Final = 4_096  # connections that may wait to be accepted: all players reconnect at once after a restart
ACCEPTED_A_TURN: Final = 2  # connections accepted on one socket in one turn of the event loop
MAX_TURNED_AWAY: Final = 64  # refused connections that stay open for a while, so that peers can read the reason
_PAUSE_SECONDS: Final = 0.1  # pause in accepting when the system has no file descriptors left
_TURNS: Final = 48  # groups of connections, which are pinged one after another
_TURNS_A_LOOK: Final = _TURNS // LOOKS_A_PING
_CLOSED_AT_ONCE: Final = 200


class Listener:
    """Accepts connections, over TLS if there is a certificate.

    Attributes:
        connections: The accepted connections in order, each with its group for pings.
    """

    def __init__(
        self,
        accept: Callable[[Connection], Receiver],
        admission: Admission,
        limits: Limits,
        certificate: Certificate | None = None,
    ) -> None:
        self._accept = accept
        self._admission = admission
        self._limits = limits
        self._certificate = certificate
        self._sockets: list[socket] = []
        self._connecting = Tasks()
        self._pinging = Tasks()
        self._refused: set[socket] = set()
        self._turns: list[dict[Connection, None]] = [{} for _ in range(_TURNS)]
        self.connections: dict[Connection, dict[Connection, None]] = {}
        self._next_turn = cycle(self._turns)
        self._is_empty = asyncio.Event()

    async def listen(self, sockets: Iterable[socket]) -> None:
        for listening in sockets:
            listening.listen(BACKLOG)
            listening.setblocking(False)
            self._sockets.append(listening)
            self._accept_at(listening)
        self._pinging.start(self._ping())

    async def stop(self, code: int, reason: str, within: float) -> None:
        """Stop accepting, close all connections, and abort the remaining ones after `within` seconds. Idempotent.

        Args:
            code: The close code for WebSockets.
            reason: The reason in the close frame.
        """
        while self._sockets:
            listening = self._sockets.pop()
            asyncio.get_running_loop().remove_reader(listening)
            listening.close()
        await self._pinging.stop()
        # Without TLS, connecting takes no time, and uvloop would not notify a cancelled connection that it is closed.
        if self._certificate is not None:
            await self._connecting.stop()
        for refused in list(self._refused):
            self._close_refused(refused)
        for number, connection in enumerate(list(self.connections)):
            connection.close(code, reason)
            if number % _CLOSED_AT_ONCE == 0:
                await asyncio.sleep(0)
        if self.connections:
            self._is_empty.clear()
            await wait_for(self._is_empty, within)
        self.cut_off()

    def cut_off(self) -> None:
        for connection in list(self.connections):
            connection.abort()

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
                self._connecting.start(self._connect(self._make_connection(peer), accepted))
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
        except (OSError, asyncio.CancelledError):  # no TLS, a lost connection, or the end of the server
            connection.abort()

    def _turn_away(self, accepted: socket) -> None:
        """Send the reason for a refusal, and close the socket a little later, so that the peer can read the reason.

        With TLS, or if many refused sockets are open, close the socket at once.
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

    def _make_connection(self, peer: RemotePeer) -> Connection:
        connection = Connection(self._accept, self._forget, peer, self._limits)
        turn = self.connections[connection] = next(self._next_turn)
        turn[connection] = None
        return connection

    def _forget(self, connection: Connection) -> None:
        self.connections.pop(connection, {}).pop(connection, None)
        if not self.connections:
            self._is_empty.set()

    async def _ping(self) -> None:
        for number in cycle(range(_TURNS)):
            await asyncio.sleep(self._limits.ping_seconds / _TURNS)
            self._take_turn(number)

    def _take_turn(self, number: int) -> None:
        """Ping one group of connections, and check every sixth group for silent peers."""
        for turn in self._turns[number % _TURNS_A_LOOK :: _TURNS_A_LOOK]:
            for connection in list(turn):
                connection.end_if_silent()
        for connection in list(self._turns[number]):
            connection.ping()
