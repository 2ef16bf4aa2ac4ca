"""One WebSocket from its handshake to its end: text in, text out, and clear words when it cannot be had or breaks.

It speaks no word of the game beyond the version of the protocol; what is said over it is the conversation's."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import re
import socket
import ssl
import time
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus, ProxyError, WebSocketException
from websockets.frames import CloseCode
from websockets.typing import Subprotocol

from tictactoe_client.online.address import Address
from tictactoe_client.online.errors import (
    ClientError,
    ConnectionLost,
    Expelled,
    ProtocolBroken,
    Unreachable,
    VersionRefused,
)
from tictactoe_client.online.version import PROTOCOL_VERSIONS, describe_mismatch
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

_OFFERED: Final = re.compile(r"tictactoe\.v(\d{1,4})")

_NOT_YET, _EXPIRED = 9, 10
_OTHER_NAME: Final = frozenset({62, 64})
_UNTRUSTED: Final = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's X509_V_ERR codes."""

_ANY_TIME: Final = 0x200000
"""OpenSSL's X509_V_FLAG_NO_CHECK_TIME."""

_MOST_NAMES: Final = 3
_LONGEST_NAME: Final = 80


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
        """Return the next message as it came; raises `ConnectionLost`, and `ProtocolBroken` for what is no text."""
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


def context_for(address: Address, ca: str | Path | None) -> ssl.SSLContext | bool | None:
    """Return what the library takes for TLS: None for none, True where the machine's own authorities are enough."""
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
    """Return a connection to the server; `ca` as for `connect`. Raises `Unreachable` or `VersionRefused`."""
    try:
        opened = await _OpenSocket(
            address.url,
            ssl=context_for(address, ca),
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
        raise await _explain(address, error, timeout_seconds) from error
    return Connection(opened)


def hide_secrets(text: str) -> str:
    """Return a message without the token in it; safe to log."""
    return _SECRET.sub(r"\1…", text)


def _lost(closed: ConnectionClosed) -> ConnectionLost:
    """Return the error that says who closed it, and why."""
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
    unsaid = "policy" if code == CloseCode.POLICY_VIOLATION else code
    return ConnectionLost(f"the server closed it ({reason or unsaid})", code)


async def _explain(address: Address, error: Exception, timeout_seconds: float) -> ClientError:
    """Return the error that says why the handshake failed."""
    if isinstance(error, InvalidStatus):
        body = (error.response.body or b"").decode("utf-8", "replace")
        versions = tuple(sorted({int(version) for version in _OFFERED.findall(body)} - set(PROTOCOL_VERSIONS)))
        if error.response.status_code in (400, 426) and versions:
            return VersionRefused(describe_mismatch(versions), versions)
        if place := error.response.headers.get("Location"):
            reason = f"the server sends you elsewhere, to {clean_text(place)[:200]}"
        elif address.scheme == "ws" and "HTTPS" in body:
            reason = "the server wants TLS; with it, it is wss://"
        else:
            reason = f"the server answered HTTP {error.response.status_code}"
    elif isinstance(error, ssl.SSLCertVerificationError):
        reason = f"TLS: {await _describe_doubt(address, error, timeout_seconds)}"
    else:
        reason = _describe_failure(address, error, timeout_seconds)
    return Unreachable(address.url, reason)


def _describe_failure(address: Address, error: Exception, timeout_seconds: float) -> str:
    # Having tried several addresses, asyncio writes their error numbers into one sentence.
    own = error.errno if isinstance(error, OSError) else None
    numbers = [own] if own else [int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))]
    match error:
        case ProxyError():
            return f"the proxy refused: {clean_text(str(error))}"
        case WebSocketException():
            perhaps = "; if it wants TLS, it is wss://" if address.scheme == "ws" else ""
            return f"what answers there is no WebSocket server{perhaps}"
        case ImportError():
            return "a SOCKS proxy needs the package python-socks"
        case _ if address.scheme == "wss" and _found_no_tls(error):
            return "TLS: the server seems to have none; without it, it is ws://"
        case socket.gaierror():
            return "no such host"
        case ssl.SSLError():
            return f"TLS: {error.reason or 'handshake failed'}".lower().replace("tls", "TLS", 1)
        case TimeoutError():
            return f"no answer within {timeout_seconds:g} s"
        case _ if errno.ECONNREFUSED in numbers:
            return "connection refused"
        case _ if numbers:
            return os.strerror(numbers[0]).lower()
        case OSError():
            return "the connection broke in the handshake"
    return str(error)


def _found_no_tls(error: Exception) -> bool:
    """Tell whether a handshake for TLS met something else: other bytes, or an end without a word."""
    if isinstance(error, ssl.SSLError):
        return error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
    return isinstance(error, ConnectionError) and error.errno is None


async def _describe_doubt(address: Address, error: ssl.SSLCertVerificationError, timeout_seconds: float) -> str:
    """Return what is wrong with the certificate, with what stands in it where that can be read."""
    try:
        async with asyncio.timeout(timeout_seconds):
            shown = await _read_certificate(address)
    except (OSError, ValueError):
        shown = {}
    code, host = error.verify_code, address.host
    if code in _OTHER_NAME:
        names = [clean_text(name)[:_LONGEST_NAME] for _, name in shown.get("subjectAltName", ())][:_MOST_NAMES]
        whose = f"for {', '.join(names)}, " if names else ""
        return f"its certificate is {whose}not for {host}"
    if code == _EXPIRED:
        return f"its certificate has expired{_day(' on', shown.get('notAfter'))}"
    if code == _NOT_YET:
        begins = _day(" before", shown.get("notBefore")) or " yet"
        return f"its certificate does not count{begins}; is this machine's clock right?"
    if code in _UNTRUSTED:
        issuer = {key: value for part in shown.get("issuer", ()) for key, value in part}
        name = issuer.get("commonName") or issuer.get("organizationName")
        who = f"{clean_text(name)[:_LONGEST_NAME]}, " if name else "somebody "
        return f"its certificate is from {who}whom this machine does not trust; --ca FILE names an authority to trust"
    return error.verify_message


async def _read_certificate(address: Address) -> dict[str, Any]:
    """Return what a server shows as its certificate, whatever that is worth; nothing is sent to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    whole = (await _shake_hands(address, context)).getpeercert(binary_form=True)
    # The `ssl` module reads only certificates that it was told to trust.
    context.verify_mode, context.verify_flags = ssl.CERT_REQUIRED, ssl.VERIFY_X509_PARTIAL_CHAIN | _ANY_TIME
    context.load_verify_locations(cadata=whole or b"")
    return (await _shake_hands(address, context)).getpeercert() or {}


async def _shake_hands(address: Address, context: ssl.SSLContext) -> ssl.SSLObject:
    _, writer = await asyncio.open_connection(address.host, address.port or 443, ssl=context)
    shown: ssl.SSLObject = writer.get_extra_info("ssl_object")
    writer.transport.abort()
    return shown


def _day(word: str, when: str | None) -> str:
    return f"{word} {time.strftime('%Y-%m-%d', time.gmtime(ssl.cert_time_to_seconds(when)))}" if when else ""
