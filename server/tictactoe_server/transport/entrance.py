"""Where connections with TLS come in: accepted one by one, so that they count before their handshake is done."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from socket import socket
from typing import Final

from tictactoe_server.settings import Limits
from tictactoe_server.transport.connection import Connection
from tictactoe_server.transport.door import canonical

_PAUSE_SECONDS: Final = 0.1
"""How long to wait where the system has no descriptor left for one more."""


class Entrance:
    """Accepts at one socket; whoever is one too many, or fails at the handshake, is let go without a word."""

    def __init__(
        self, listening: socket, context: ssl.SSLContext, make_connection: Callable[[], Connection], limits: Limits
    ) -> None:
        self._listening = listening
        self._context = context
        self._make_connection = make_connection
        self._limits = limits
        self._shaking: set[asyncio.Task[None]] = set()
        self._accepting = asyncio.create_task(self._accept())

    def close(self) -> None:
        """Accept nothing more, and let go of those whose handshake is not done."""
        for task in (self._accepting, *self._shaking):
            task.cancel()
        self._listening.close()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        self._listening.setblocking(False)
        while True:
            try:
                accepted, peer = await loop.sock_accept(self._listening)
            except OSError:
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            task = loop.create_task(self._shake_hands(accepted, canonical(str(peer[0])) or ""))
            self._shaking.add(task)
            task.add_done_callback(self._shaking.discard)

    async def _shake_hands(self, accepted: socket, address: str) -> None:
        connection = self._make_connection()
        if not connection.arrive(address):
            accepted.close()
            connection.abort()
            return
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connection,
                accepted,
                ssl=self._context,
                ssl_handshake_timeout=self._limits.hello_seconds,
                ssl_shutdown_timeout=self._limits.close_seconds,
            )
        except OSError:  # a stranger to TLS, or one who went away
            connection.abort()
        except asyncio.CancelledError:
            connection.abort()
            raise
