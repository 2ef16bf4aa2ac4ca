"""Plain HTTP on the port of the WebSocket: what is answered to those who ask for something else."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tictactoe_protocol import SUBPROTOCOL
from tictactoe_server import SERVER_NAME
from tictactoe_server.transport.door import Door

MAX_REQUEST_BYTES = 16 * 1024
"""How much a request may have, to the end of its headers."""


def answer(protocol: ServerProtocol, request: Request, door: Door) -> Response:
    """Return the response to a whole request: that the protocol changes to WebSocket, or something else."""
    path = request.path.partition("?")[0]
    if path == "/healthz":
        response = _tell_health(protocol, request, None)
    elif path == "/readyz":
        response = _tell_health(protocol, request, door.unready())
    elif path not in ("/", "/ws"):
        response = protocol.reject(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws\n")
    elif not _is_welcome(request, door):
        response = protocol.reject(HTTPStatus.FORBIDDEN, "Pages of this origin may not connect: see --origin.\n")
    else:
        response = protocol.accept(request)
    response.headers["Server"] = SERVER_NAME
    return response


def _is_welcome(request: Request, door: Door) -> bool:
    """Tell whether whoever asks may connect; a header that stands there twice is nobody's."""
    origins, hosts = request.headers.get_all("Origin"), request.headers.get_all("Host")
    if len(origins) > 1 or len(hosts) > 1:
        return False
    return door.welcomes(origins[0] if origins else None, hosts[0] if hosts else None)


def _tell_health(protocol: ServerProtocol, request: Request, why_not: str | None) -> Response:
    """Return that all is well, or why not, to those who only ask."""
    if request.method not in ("GET", "HEAD"):
        response = protocol.reject(HTTPStatus.METHOD_NOT_ALLOWED, "Ask with GET or HEAD.\n")
        response.headers["Allow"] = "GET, HEAD"
        return response
    status = HTTPStatus.OK if why_not is None else HTTPStatus.SERVICE_UNAVAILABLE
    response = protocol.reject(status, f"{why_not or 'ok'}\n")
    if request.method == "HEAD":
        response.body = b""
    return response


def refuse(status: HTTPStatus, words: str) -> bytes:
    """Return the whole response to what is no request that could be answered."""
    body = f"{words}\n".encode()
    return (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\nServer: {SERVER_NAME}\r\n\r\n"
    ).encode() + body


def select_subprotocol(_: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Choose ours where it is offered; a client that offers none speaks it all the same."""
    if not offered:
        return None
    if SUBPROTOCOL in offered:
        return Subprotocol(SUBPROTOCOL)
    raise NegotiationError(f"this server speaks {SUBPROTOCOL}, not {', '.join(offered)}")
