"""One WebSocket from its handshake to its end: text in, text out, and clear words when it cannot be had or breaks.

It speaks no word of the game beyond the version of the protocol. What is said over it, and what happens when it
ends, is the business of `client`.
"""

from __future__ import annotations

import logging
import re
import ssl
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.frames import CloseCode
from websockets.typing import Subprotocol

from tictactoe_client.online.address import Address
from tictactoe_client.online.errors import ConnectionLost, Expelled, ProtocolBroken, Unreachable
from tictactoe_client.online.failure import explain_failure
from tictactoe_protocol import clean_text, escape_text
from tictactoe_protocol.codes import SUBPROTOCOL
from tictactoe_protocol.codes import CloseCode as Code

MAX_RECEIVED_BYTES: Final = 4 * 1024 * 1024
MAX_RECEIVED_MESSAGES: Final = 4
"""How many messages are read ahead, before the rest waits in the network."""

PING_INTERVAL_SECONDS: Final = 4
PING_TIMEOUT_SECONDS: Final = 9
CLOSE_TIMEOUT_SECONDS: Final = 1
"""A server that stops is found out within the sum of these three, at most 15 seconds."""

log = logging.getLogger("tictactoe_client")

_SECRET: Final = re.compile(r'("token"\s*:\s*")(?:[^"\\]|\\.)*')

_FAULTS: Final[dict[int, str]] = {
    CloseCode.PROTOCOL_ERROR: "what it sends is no WebSocket",
    CloseCode.INVALID_DATA: "a message is not UTF-8",
    CloseCode.MESSAGE_TOO_BIG: f"a message has more than {MAX_RECEIVED_BYTES // 2**20} MiB",
}
"""With which code we end a connection over which the server sends what it may not, and why."""


GOING_DOWN: Final = frozenset({Code.GOING_AWAY, Code.SERVICE_RESTART})
"""With which code a server closes that goes down."""

_EXPULSIONS: Final[dict[int, tuple[str, str]]] = {
    Code.BANNED: ("banned", "The server's operator has banned you"),
    Code.KICKED: ("kicked", "The server's operator has closed your connection"),
}
"""With which code a server ends the connection of one whom its operator sent away, and what to say if it does not."""


class Connection:
    """An open WebSocket to a server of this protocol; made by `open_connection`."""

    def __init__(self, connection: ClientConnection) -> None:
        self._socket = connection

    @property
    def latency_seconds(self) -> float:
        """How long the server took to answer our last ping, 0 before the first: one goes out every five seconds."""
        return self._socket.latency

    async def send(self, text: str) -> None:
        """Send one message; raises `ConnectionLost`."""
        if log.isEnabledFor(logging.DEBUG):
            log.debug("sent %s", escape_text(hide_secrets(text)))
        try:
            await self._socket.send(text)
        except ConnectionClosed as closed:
            raise _lost(closed) from None

    async def receive(self) -> str:
        """Return the next message as it came; raises `ConnectionLost` when there will be none.

        Raises `ProtocolBroken` for what is no text, and where the library found that WebSocket itself is broken.
        """
        try:
            message = await self._socket.recv()
        except ConnectionClosed as closed:
            raise _lost(closed) from None
        if isinstance(message, bytes):
            raise ProtocolBroken("a frame is binary")
        if log.isEnabledFor(logging.DEBUG):
            log.debug("received %s", escape_text(hide_secrets(message)))
        return message

    async def close(self) -> None:
        """Say goodbye to the server; waits at most a second for its answer."""
        await self._socket.close()

    def abort(self) -> None:
        """End the connection at once, without a word."""
        self._socket.transport.abort()


class _OpenSocket(open_socket):
    """The library's way to a connection, but that it follows no server to another host."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        found = super().process_redirect(exc)
        return exc if isinstance(found, str) and urlsplit(found).hostname != urlsplit(self.uri).hostname else found


def _context_for(address: Address, ca: str | Path | None) -> ssl.SSLContext | bool | None:
    """Return what the library takes for TLS: None for none, True where the machine's own authorities are enough.

    Raises `Unreachable` where nobody to trust stands in the file `ca`.
    """
    if address.scheme != "wss" or ca is None:
        return True if address.scheme == "wss" else None
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(Path(ca).expanduser())
    except ssl.SSLError:
        raise Unreachable(address.url, f"TLS: {ca} holds no certificate in PEM") from None
    except OSError as error:
        raise Unreachable(address.url, f"TLS: {ca}: {(error.strerror or str(error)).lower()}") from None
    # What was made by hand often lacks what Python asks of public authorities since 3.13.
    context.verify_flags = context.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


async def open_connection(address: Address, *, timeout_seconds: float, ca: str | Path | None = None) -> Connection:
    """Return a connection to the server, trusting those in the file `ca`, too, where that is one of TLS.

    Raises `Unreachable` or `VersionRefused`.
    """
    context = _context_for(address, ca)
    try:
        opened = await _OpenSocket(
            address.url,
            ssl=context,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            open_timeout=timeout_seconds,
            ping_interval=PING_INTERVAL_SECONDS,
            ping_timeout=PING_TIMEOUT_SECONDS,
            close_timeout=CLOSE_TIMEOUT_SECONDS,
            max_size=MAX_RECEIVED_BYTES,
            max_queue=MAX_RECEIVED_MESSAGES,
            proxy=None if address.is_loopback else True,
        )
    except (OSError, WebSocketException, ImportError, ValueError) as error:
        raise await explain_failure(address, error, timeout_seconds) from error
    return Connection(opened)


def hide_secrets(text: str) -> str:
    """Return a message without the token in it; safe to log.

    >>> hide_secrets('{"type":"welcome","token":"abc"}')
    '{"type":"welcome","token":"\u2026"}'
    """
    return _SECRET.sub(r"\1…", text)


def _lost(closed: ConnectionClosed) -> ConnectionLost:
    if closed.sent is not None and not closed.rcvd_then_sent and closed.sent.code in _FAULTS:
        return ProtocolBroken(_FAULTS[closed.sent.code])
    if closed.rcvd is None:
        return ConnectionLost("the connection broke")
    code, reason = closed.rcvd.code, clean_text(closed.rcvd.reason)
    if code in _EXPULSIONS:
        name, words = _EXPULSIONS[code]
        return Expelled(name, f"{words}{f': {reason}' if reason not in ('', name) else ''}.", code)
    if code in GOING_DOWN:
        return ConnectionLost("the server is going down", code)
    if code == 1008:
        return ConnectionLost(f"the server closed it ({reason or 'policy'})", code)
    return ConnectionLost(f"the server closed it ({reason or code})", code)
