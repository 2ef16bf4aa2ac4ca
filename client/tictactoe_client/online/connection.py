"""One WebSocket, from the handshake and hello to its end; after hello, messages are only passed on as text.

Also chooses among the addresses of a cluster, and describes failures and closed connections in words.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

from msgspec import UNSET, DecodeError, Struct, json
from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import ConnectionClosed, InvalidStatus, ProxyError, WebSocketException
from websockets.frames import CloseCode
from websockets.http11 import Response
from websockets.typing import Origin, Subprotocol
from websockets.uri import WebSocketURI, parse_uri

from tictactoe_client.online import errors
from tictactoe_client.online.address import Address, Cluster, parse_servers
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_client.online.messages import Message
from tictactoe_client.version import client_version, describe_mismatch
from tictactoe_protocol import PROTOCOL_VERSION, clean_text, encode, escape_text
from tictactoe_protocol.codes import SUBPROTOCOL, may_reconnect
from tictactoe_protocol.codes import CloseCode as Code
from tictactoe_protocol.pushes import Error, Notice, Ok, Welcome
from tictactoe_protocol.requests import Hello
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_refusal

MAX_RECEIVED_BYTES: Final = 4 * 1024 * 1024
MAX_RECEIVED_MESSAGES: Final = 4
"""The number of messages to read ahead; TCP holds back the rest."""

PING_INTERVAL_SECONDS: Final = 4
PING_TIMEOUT_SECONDS: Final = 10
CLOSE_TIMEOUT_SECONDS: Final = 1
"""A server that stops answering is detected within the sum of these three, at most 15 seconds."""
CLUSTER_PING_INTERVAL_SECONDS: Final = 1.5
CLUSTER_PING_TIMEOUT_SECONDS: Final = 2.5
"""The ping interval and timeout in a cluster: a server that stops answering is detected within 5 seconds."""

_SECRETS: Final = re.compile(
    r"""("(?:token|ticket|link|link_code|rescue|cards)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\])""", re.VERBOSE
)
GOING_DOWN: Final = frozenset({Code.GOING_AWAY, Code.SERVICE_RESTART})
_FAULTS: Final = (CloseCode.PROTOCOL_ERROR, CloseCode.INVALID_DATA, CloseCode.MESSAGE_TOO_BIG)
"""Our close codes after the server has violated the protocol."""
_OFFERED: Final = re.compile(r"tictactoe\.v(\d{1,4})")
_CERTIFICATE_FAULTS: Final = {
    9: "certificate early",
    10: "certificate late",
    **dict.fromkeys((62, 64), "certificate not for"),
    **dict.fromkeys((2, 18, 19, 20, 21), "certificate untrusted"),
}
"""The ids of the sentences for OpenSSL's X509_V_ERR codes."""
_GATEWAY_FAULTS: Final = (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT)
_LONGEST_NAME: Final = 80
_MAX_EARLIER_MESSAGES: Final = 100

Reach = Callable[[Address], Awaitable["Connection"]]
"""A function that connects to an address and says hello; raises `ClientError`."""
_TEMPORARY: Final = frozenset({"rate_limited", "busy", "server_full", "unavailable", "internal"})

log = logging.getLogger("tictactoe_client")


class _WelcomeVersion(Struct, tag="welcome", tag_field="type"):
    """The protocol version in a welcome, which can be decoded even if the rest of the message is unknown."""

    protocol: int


class Connection(ClientConnection):
    """A WebSocket after hello; made by `greet`.

    Attributes:
        message: The message with the `welcome`, received at `began_at`.
        servers: The cluster's servers that the server reported and that we may move to.
        is_bot: Whether hello said that we are a program.
        notice: The server's latest notice that it is going down, or None.
        farewell: The error that says why the operator ended the connection, or None.
    """

    address: Address
    message: Message
    welcome: Welcome
    servers: tuple[Address, ...]
    began_at: float
    hello_seconds: float
    notice: Notice | None = None
    farewell: Error | None = None
    is_bot = False
    _greetings: list[str]

    @property
    def latency_seconds(self) -> float:
        """The round-trip time of the latest ping; before the first ping, that of hello."""
        return self.latency or self.hello_seconds

    async def say(self, text: str) -> None:
        """Send one message; raises `ConnectionLost`."""
        _log("sent", text)
        try:
            await self.send(text)
        except ConnectionClosed as closed:
            raise explain_end(closed) from None

    async def ask(self, text: str, request: str) -> Message:
        """Send a request and return its answer; raises `ConnectionLost`.

        `hear` then returns the messages up to the answer, which is the last of them.
        """
        await self.say(text)
        heard: list[str] = []
        while len(heard) < _MAX_EARLIER_MESSAGES:
            heard.append(await self.hear())
            message = read_message(heard[-1])
            if isinstance(message.push, Ok | Error) and message.push.id == request:
                self._heard = heard
                return message
        raise errors.ConnectionLost(say("lost broken"))

    async def hear(self) -> str:
        """Return the next message as text; raises `ConnectionLost`, and `ProtocolBroken` for a binary message."""
        if self._heard:
            return self._heard.pop(0)
        try:
            message = await self.recv()
        except ConnectionClosed as closed:
            raise explain_end(closed) from None
        if isinstance(message, bytes):
            raise errors.ProtocolBroken(say("broken value", field="frame"))
        _log("received", message)
        return message

    async def say_hello(self, name: str | None, token: str | None, **codes: str) -> None:
        """Say hello and wait for the welcome; raises `VersionRefused`, `Refused` or `ConnectionLost`.

        Args:
            codes: A `link` or a `rescue` code, instead of a token.
        """
        clock = asyncio.get_running_loop().time
        started = clock()
        program = f"tictactoe-client/{client_version()}"
        hello = Hello(name=name or UNSET, token=token or UNSET, client=program, bot=self.is_bot, **codes)
        await self.say(encode(hello).decode())
        while not isinstance(welcome := (message := await self._hear_answer()).push, Welcome):
            if isinstance(welcome, Error):
                raise refusal_of(welcome, server=self.address.url)
        self.message, self.welcome = message, welcome
        self.servers = parse_servers(welcome.servers or (), self.address)
        self.began_at = clock()
        self.hello_seconds = self.began_at - started

    async def _hear_answer(self) -> Message:
        text = await self.hear()
        with contextlib.suppress(DecodeError):
            version = json.decode(text, type=_WelcomeVersion).protocol
            if version != PROTOCOL_VERSION:
                raise errors.VersionRefused(describe_mismatch(version), version)
        return read_message(text)

    def begin_pings(self) -> None:
        """Start to ping the server; the connection ends if a ping is not answered, sooner in a cluster."""
        self.ping_interval, self.ping_timeout = PING_INTERVAL_SECONDS, PING_TIMEOUT_SECONDS
        if len(self.servers) > 1:
            self.ping_interval, self.ping_timeout = CLUSTER_PING_INTERVAL_SECONDS, CLUSTER_PING_TIMEOUT_SECONDS
        self.start_keepalive()


class _OpenSocket(open_socket):
    """The connector of `websockets`, but redirects to other origins are refused, so that no token leaks."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        if isinstance(exc, InvalidStatus) and (place := exc.response.headers.get("Location", "")).startswith("http"):
            del exc.response.headers["Location"]  # for example from a proxy that wants a slash after its path
            exc.response.headers["Location"] = place.replace("http", "ws", 1)
        redirect = super().process_redirect(exc)
        is_allowed = isinstance(redirect, str) and _origin_of(parse_uri(redirect)) == _origin_of(self.ws_uri)
        return redirect if is_allowed else exc


def _origin_of(uri: WebSocketURI) -> tuple[bool, str, int]:
    return uri.secure, uri.host, uri.port


async def open_connection(
    address: Address, timeout_seconds: float, ca: str | Path | None = None, *, origin: str | None = None
) -> Connection:
    """Open a WebSocket; raises `Unreachable` or `VersionRefused`.

    Args:
        origin: The value of the header `Origin`, which browsers send; None sends none.
    """
    try:
        connection = await _OpenSocket(
            address.socket_url,
            create_connection=Connection,
            origin=None if origin is None else Origin(origin),
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
        raise explain_failure(address, error, timeout_seconds) from error
    assert isinstance(connection, Connection)
    return connection


async def greet(
    address: Address,
    name: str | None,
    token: str | None,
    timeout_seconds: float,
    ca: str | Path | None = None,
    *,
    bot: bool = False,
    **codes: str,
) -> Connection:
    """Connect and say hello; raises `Unreachable`, `VersionRefused`, `Refused` or `ConnectionLost`."""
    connection = await open_connection(address, timeout_seconds, ca)
    connection.address, connection._heard, connection.is_bot = address, [], bot
    try:
        async with asyncio.timeout(timeout_seconds):
            await connection.say_hello(name, token, **codes)
    except BaseException as error:
        connection.transport.abort()
        if isinstance(error, TimeoutError):
            why = say("failure no answer within", request="hello", seconds=f"{timeout_seconds:g}")
            raise errors.Unreachable(address.url, why) from None
        raise
    connection.begin_pings()
    return connection


async def arrive(cluster: Cluster, reach: Reach) -> Connection:
    """Connect to the first address of a cluster that accepts us; permanent errors are raised at once.

    If no address accepts us, raises the first temporary refusal, or else `Unreachable` for all addresses.
    """
    silent: list[errors.Unreachable] = []
    put_off: list[errors.ClientError] = []
    for address in cluster.addresses:
        try:
            return await reach(address)
        except errors.Unreachable as error:
            silent.append(error)
        except errors.ClientError as error:
            if not is_passing(error):
                raise
            put_off.append(error)
    if put_off:
        raise put_off[0]
    first, *others = silent
    raise errors.Unreachable(first.url, first.reason, others=others, is_answered=first.is_answered)


def is_passing(error: errors.ClientError) -> bool:
    """Return True if the error is temporary, so that another attempt may succeed."""
    if isinstance(error, errors.ProtocolBroken):
        return False
    if isinstance(error, errors.ConnectionLost):
        return may_reconnect(error.close_code)
    return isinstance(error, errors.Unreachable) or (isinstance(error, errors.Refused) and error.code in _TEMPORARY)


def context_for(address: Address, ca: str | Path | None) -> ssl.SSLContext | bool | None:
    """Return the argument `ssl` for `websockets`: None without TLS, True to trust only the system's authorities."""
    if address.scheme != "wss" or ca is None:
        return True if address.scheme == "wss" else None
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(Path(ca).expanduser())
    except ssl.SSLError:
        raise errors.Unreachable(address.url, say("failure no pem", file=ca)) from None
    except OSError as error:
        raise errors.Unreachable(address.url, f"TLS: {ca}: {errors.describe_cause(error)}") from None
    # Private certificates often lack fields that Python requires since 3.13.
    context.verify_flags = context.verify_flags & ~ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def hide_secrets(text: str) -> str:
    """Replace the tokens and codes in a message by "…", so that it is safe to log."""
    return _SECRETS.sub(r'\1"…"', text)


def _log(what: str, text: str) -> None:
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s %s", what, escape_text(hide_secrets(text)))


def explain_end(closed: ConnectionClosed) -> errors.ConnectionLost:
    """Return the error for a closed connection: who closed it, and why."""
    if closed.sent is not None and not closed.rcvd_then_sent and closed.sent.code in _FAULTS:
        return errors.ProtocolBroken(closed.sent.reason or CloseCode(closed.sent.code).name)
    if closed.rcvd is None:
        return errors.ConnectionLost(say("lost broken"))
    code, reason = closed.rcvd.code, clean_text(closed.rcvd.reason)
    if name := next((name for name, closed_with in errors.EXPULSIONS.items() if code == closed_with), None):
        placeholders = {"why": "reason", "reason": reason} if reason not in ("", name) else {}
        return errors.Expelled(name, describe_refusal(name, placeholders) or name, code)
    if code in GOING_DOWN:
        return errors.ConnectionLost(say("lost going down"), code)
    unsaid = "policy" if code == CloseCode.POLICY_VIOLATION else code
    return errors.ConnectionLost(say("lost closed", why=reason or unsaid), code)


def explain_failure(address: Address, error: Exception, timeout_seconds: float) -> errors.ClientError:
    """Return the error for a failed attempt: `VersionRefused` or `Unreachable`."""
    if isinstance(error, InvalidStatus):
        return _explain_answer(address, error.response)
    # After trying several addresses, asyncio raises one error with all their numbers in its text.
    own = error.errno if isinstance(error, OSError) else None
    numbers = [own] if own else [int(number) for number in re.findall(r"\[Errno (\d+)\]", str(error))]
    reason = str(error)
    match error:
        case ProxyError():
            reason = say("failure proxy", why=clean_text(str(error)))
        case WebSocketException():
            reason = say(f"failure no websocket {address.scheme}")
        case ImportError():
            reason = say("failure no socks")
        case ssl.SSLCertVerificationError():
            doubt = _CERTIFICATE_FAULTS.get(error.verify_code)
            reason = f"TLS: {say(doubt, host=address.host) if doubt else error.verify_message}"
        case _ if address.scheme == "wss" and _found_no_tls(error):
            reason = say("failure no tls")
        case socket.gaierror():
            reason = say("failure no host")
        case ssl.SSLError():
            reason = f"TLS: {(error.reason or say('failure handshake')).lower()}"
        case TimeoutError():
            reason = say("failure no answer", seconds=f"{timeout_seconds:g}")
        case _ if errno.ECONNREFUSED in numbers:
            reason = say("failure refused")
        case _ if numbers:
            reason = errors.describe_system_error(numbers[0])
        case OSError():
            reason = say("lost broken")
    return errors.Unreachable(address.url, reason, is_answered=isinstance(error, ssl.SSLError))


def _explain_answer(address: Address, response: Response) -> errors.ClientError:
    body = (response.body or b"").decode("utf-8", "replace")
    offered = next((version for version in map(int, _OFFERED.findall(body)) if version != PROTOCOL_VERSION), None)
    if response.status_code in (400, 426) and offered is not None:
        return errors.VersionRefused(describe_mismatch(offered), offered)
    status, proxy = response.status_code, _proxy_of(response)
    reason = say("failure http by", proxy=proxy or say("failure the server"), status=status)
    if place := response.headers.get("Location"):
        reason = say("failure elsewhere", place=clean_text(place)[:200])
    elif address.scheme == "ws" and "HTTPS" in body:
        reason = say("failure wants tls")
    elif status == HTTPStatus.UPGRADE_REQUIRED:
        reason = say("failure no upgrade", proxy=proxy or say("failure some proxy"))
    elif status == HTTPStatus.FORBIDDEN and "--origin" in body:
        reason = say("failure origin", origin=address.origin)
    elif status in _GATEWAY_FAULTS:
        reason = say("failure gateway", proxy=proxy or say("failure some proxy"), status=status)
    return errors.Unreachable(address.url, reason, is_answered=True)


def _proxy_of(response: Response) -> str:
    """Return the name of the proxy that passed a response on, or "" if it comes from the server itself."""
    via, server = (", ".join(response.headers.get_all(name)) for name in ("Via", "Server"))
    name = via.rpartition(" ")[2] or ("" if server.startswith("tictactoe-server") else server)
    return clean_text(name)[:_LONGEST_NAME]


def _found_no_tls(error: Exception) -> bool:
    if isinstance(error, ssl.SSLError):
        return error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
    return isinstance(error, ConnectionError) and error.errno is None
