"""One WebSocket from its handshake over hello to its end: text in, text out, on which the server knows who we are.

What is said over it afterwards is the conversation's."""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from pathlib import Path
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.typing import Subprotocol
from websockets.uri import WebSocketURI, parse_uri

from tictactoe_client.online.address import Address
from tictactoe_client.online.cluster import parse_servers
from tictactoe_client.online.errors import ProtocolBroken, Unreachable, VersionRefused, describe_cause
from tictactoe_client.online.failures import MAX_RECEIVED_BYTES, explain_end, explain_failure
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Message
from tictactoe_client.online.version import PROTOCOL_VERSIONS, client_version, describe_mismatch
from tictactoe_protocol import encode, escape_text
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.codes import SUBPROTOCOL
from tictactoe_protocol.pushes import UNDERSTOOD, Error, Notice, Welcome
from tictactoe_protocol.requests import Hello

MAX_RECEIVED_MESSAGES: Final = 4
"""How many messages are read ahead, before the rest waits in the network."""

PING_INTERVAL_SECONDS: Final = 4
PING_TIMEOUT_SECONDS: Final = 10
CLOSE_TIMEOUT_SECONDS: Final = 1
"""A server that stops is found out within the sum of these three, at most 15 seconds."""
CLUSTER_PING_INTERVAL_SECONDS: Final = 1.5
CLUSTER_PING_TIMEOUT_SECONDS: Final = 2.5
"""The first two where there are other servers to go to: then it is found out within 5 seconds."""

_SECRETS: Final = re.compile(
    r"""("(?:token|ticket|link|link_code|rescue|cards)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])""", re.VERBOSE
)
"""Fields of messages that prove who one is, with their values: texts, and lists of them."""

log = logging.getLogger("tictactoe_client")


class Connection(ClientConnection):
    """A WebSocket on which a server knows us; made by `greet`. Its `welcome` came as a `message` at `began_at`.

    `servers` are those of its cluster that may be gone to from here. `notice` is what the server said last about its
    going down, and `farewell` why its operator sent us away.
    """

    address: Address
    message: Message
    welcome: Welcome
    servers: tuple[Address, ...]
    began_at: float
    hello_seconds: float
    notice: Notice | None = None
    farewell: Error | None = None

    @property
    def latency_seconds(self) -> float:
        """How long the server took to answer our last ping, one every few seconds, and before that our hello."""
        return self.latency or self.hello_seconds

    async def say(self, text: str) -> None:
        """Send one message; raises `ConnectionLost`."""
        _log("sent", text)
        try:
            await self.send(text)
        except ConnectionClosed as closed:
            raise explain_end(closed) from None

    async def hear(self) -> str:
        """Return the next message as it came; raises `ConnectionLost`, and `ProtocolBroken` for what is no text."""
        try:
            message = await self.recv()
        except ConnectionClosed as closed:
            raise explain_end(closed) from None
        if isinstance(message, bytes):
            raise ProtocolBroken(say("broken binary"))
        _log("received", message)
        return message

    async def say_hello(self, name: str | None, token: str | None, **codes: str) -> None:
        """Tell the server who we are and what we understand; raises `VersionRefused`, `Refused`, `ConnectionLost`.

        `codes` are a `link` or a `rescue`, which take the place of a token.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        program = f"tictactoe-client/{client_version()}"
        hello = Hello(name=name or UNSET, token=token or UNSET, client=program, features=UNDERSTOOD, **codes)
        await self.say(encode(hello).decode())
        while not isinstance(welcome := (message := read_message(await self.hear())).push, Welcome):
            if isinstance(welcome, Error) and welcome.path == "features" and hello.features:
                hello = replace(hello, features=())  # a server up to 1.2, which does not know the field
                await self.say(encode(hello).decode())
            elif isinstance(welcome, Error):
                raise refusal_of(welcome, server=self.address.url)
        if welcome.protocol not in PROTOCOL_VERSIONS:
            raise VersionRefused(describe_mismatch((welcome.protocol,)), (welcome.protocol,))
        self.message, self.welcome = message, welcome
        self.servers = parse_servers(welcome.servers or (), self.address)
        self.began_at = clock()
        self.hello_seconds = self.began_at - started

    def begin_pings(self) -> None:
        """Ping from now on, and end the connection where no answer comes: soon where there are other servers."""
        self.ping_interval, self.ping_timeout = PING_INTERVAL_SECONDS, PING_TIMEOUT_SECONDS
        if len(self.servers) > 1:
            self.ping_interval, self.ping_timeout = CLUSTER_PING_INTERVAL_SECONDS, CLUSTER_PING_TIMEOUT_SECONDS
        self.start_keepalive()


class _OpenSocket(open_socket):
    """The library's way to a connection, but that no token is taken to another origin, whatever a server answers."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        found = super().process_redirect(exc)
        return found if isinstance(found, str) and _origin_of(parse_uri(found)) == _origin_of(self.ws_uri) else exc


def _origin_of(uri: WebSocketURI) -> tuple[bool, str, int]:
    return uri.secure, uri.host, uri.port


async def greet(
    address: Address,
    name: str | None,
    token: str | None,
    timeout_seconds: float,
    ca: str | Path | None = None,
    **codes: str,
) -> Connection:
    """Connect and say hello; raises `Unreachable`, `VersionRefused`, `Refused` or `ConnectionLost`."""
    try:
        connection = await _OpenSocket(
            address.url,
            create_connection=Connection,
            ssl=context_for(address, ca),
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            compression=None,
            open_timeout=timeout_seconds,
            ping_interval=None,  # see `begin_pings`
            close_timeout=CLOSE_TIMEOUT_SECONDS,
            max_size=MAX_RECEIVED_BYTES,
            max_queue=MAX_RECEIVED_MESSAGES,
            proxy=None if address.is_loopback else True,
        )
    except (OSError, WebSocketException, ImportError, ValueError) as error:
        raise await explain_failure(address, error, timeout_seconds) from error
    assert isinstance(connection, Connection)
    connection.address = address
    try:
        async with asyncio.timeout(timeout_seconds):
            await connection.say_hello(name, token, **codes)
    except BaseException as error:
        connection.transport.abort()
        if isinstance(error, TimeoutError):
            raise Unreachable(address.url, say("failure no answer to hello", seconds=f"{timeout_seconds:g}")) from None
        raise
    connection.begin_pings()
    return connection


def context_for(address: Address, ca: str | Path | None) -> ssl.SSLContext | bool | None:
    """Return what the library takes for TLS: None for none, True where the machine's own authorities are enough."""
    if address.scheme != "wss" or ca is None:
        return True if address.scheme == "wss" else None
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(Path(ca).expanduser())
    except ssl.SSLError:
        raise Unreachable(address.url, say("failure no pem", file=ca)) from None
    except OSError as error:
        raise Unreachable(address.url, f"TLS: {ca}: {describe_cause(error)}") from None
    # What was made by hand often lacks what Python asks of public authorities since 3.13.
    context.verify_flags = context.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def hide_secrets(text: str) -> str:
    """Return a message without tokens and codes in it; safe to log."""
    return _SECRETS.sub(r'\1"…"', text)


def _log(what: str, text: str) -> None:
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s %s", what, escape_text(hide_secrets(text)))
