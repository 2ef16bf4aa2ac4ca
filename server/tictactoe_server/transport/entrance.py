"""Where connections come in: accepted a few at a time, and counted before anything is done for them.

Whoever is one too many is told so and let go, at next to no cost; with TLS, where it could not be read, without a word.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from http import HTTPStatus
from socket import SHUT_WR, socket
from typing import Final

from tictactoe_server.settings import Limits
from tictactoe_server.transport import http
from tictactoe_server.transport.caller import TOO_MANY_WORDS, Caller
from tictactoe_server.transport.connection import Connection
from tictactoe_server.transport.door import MAX_TURNED_AWAY, Door, canonical

ACCEPTED_A_TURN: Final = 2
"""How many are accepted in one turn of the event loop."""

_LINGER_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 0.1
"""How long to wait where the system has no descriptor left for one more."""


class Entrance:
    """Accepts at one socket; with a `context` connections are TLS. `make` makes a connection of a caller."""

    def __init__(
        self,
        listening: socket,
        door: Door,
        make: Callable[[Caller], Connection],
        limits: Limits,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._listening = listening
        self._door = door
        self._make = make
        self._limits = limits
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._coming: set[asyncio.Task[None]] = set()
        self._lingering: set[socket] = set()
        listening.setblocking(False)
        self._loop.add_reader(listening, self._accept)

    def close(self) -> None:
        """Accept nothing more, and let go of those whose handshake of TLS is not done; it may be called again."""
        if self._listening.fileno() >= 0:
            self._loop.remove_reader(self._listening)
            self._listening.close()
        for task in self._coming:
            task.cancel()
        for refused in list(self._lingering):
            self._let_go(refused)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_A_TURN):
            try:
                accepted, peer = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:
                self._loop.remove_reader(self._listening)
                self._loop.call_later(_PAUSE_SECONDS, self._accept_again)
                return
            accepted.setblocking(False)
            caller = Caller(self._door)
            if caller.arrive(canonical(str(peer[0])) or ""):
                task = self._loop.create_task(self._let_in(caller, accepted))
                self._coming.add(task)
                task.add_done_callback(self._coming.discard)
            else:
                caller.depart()
                self._turn_away(accepted)

    def _accept_again(self) -> None:
        if self._listening.fileno() >= 0:
            self._loop.add_reader(self._listening, self._accept)

    async def _let_in(self, caller: Caller, accepted: socket) -> None:
        connection = self._make(caller)
        with_tls = {} if self._context is None else self._tls(self._context)
        try:
            await self._loop.connect_accepted_socket(lambda: connection, accepted, **with_tls)  # type: ignore[arg-type]
        except OSError:  # a stranger to TLS, or one who went away
            connection.abort()
        except asyncio.CancelledError:
            connection.abort()
            raise

    def _tls(self, context: ssl.SSLContext) -> dict[str, object]:
        return {
            "ssl": context,
            "ssl_handshake_timeout": self._limits.hello_seconds,
            "ssl_shutdown_timeout": self._limits.close_seconds,
        }

    def _turn_away(self, accepted: socket) -> None:
        """Say that there are too many, and let go: at once where many of those are here already.

        What is closed with something unread is reset, and what was said may then not arrive.
        """
        if self._context is None:
            with contextlib.suppress(OSError):
                accepted.send(http.refuse(HTTPStatus.SERVICE_UNAVAILABLE, TOO_MANY_WORDS))
                accepted.shutdown(SHUT_WR)
            if len(self._lingering) < MAX_TURNED_AWAY:
                self._lingering.add(accepted)
                self._loop.call_later(_LINGER_SECONDS, self._let_go, accepted)
                return
        accepted.close()

    def _let_go(self, refused: socket) -> None:
        self._lingering.discard(refused)
        refused.close()
