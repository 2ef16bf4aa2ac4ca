"""What is answered on the port: to those who ask for a WebSocket, and to those who ask for something else."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from http import HTTPStatus

from websockets.exceptions import NegotiationError
from websockets.http11 import Request as Handshake
from websockets.http11 import Response as HandshakeResponse
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tictactoe_protocol import SUBPROTOCOL
from tictactoe_server import SERVER_NAME
from tictactoe_server.transport.door import Door
from tictactoe_server.transport.plain import Request, Response, encode, say


def answer(protocol: ServerProtocol, handshake: Handshake, request: Request, door: Door) -> HandshakeResponse:
    """Return the response to a request for a WebSocket, which is read twice: that the protocol changes, or why not."""
    if request.path not in ("/", "/ws"):
        response = protocol.reject(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws\n")
    elif not door.welcomes(request):
        response = protocol.reject(HTTPStatus.FORBIDDEN, "Pages of this origin may not connect: see --origin.\n")
    else:
        response = protocol.accept(handshake)
    response.headers["Server"] = SERVER_NAME
    return response


def answer_plain(request: Request, door: Door) -> Response | Awaitable[Response]:
    """Return the response to any other request."""
    if request.method not in ("GET", "HEAD"):
        return say(HTTPStatus.METHOD_NOT_ALLOWED, "Ask with GET or HEAD.", ("Allow", "GET, HEAD"))
    if request.has_body:
        return say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A request has no body here.")
    if request.path == "/healthz":
        return say(HTTPStatus.OK, "ok")
    if request.path == "/readyz":
        why_not = door.unready()
        return say(HTTPStatus.OK if why_not is None else HTTPStatus.SERVICE_UNAVAILABLE, why_not or "ok")
    banned = door.describe_ban(request.address)
    if banned is not None:
        return say(HTTPStatus.FORBIDDEN, banned)
    is_stripped = "sec-websocket-key" in request.fields
    if request.path == "/ws" or (request.path == "/" and (door.pages is None or is_stripped)):
        words = "This is where a WebSocket opens: ask for one."
        if is_stripped:
            words = "A proxy on the way here has not passed on that a WebSocket is to open: it has to send Upgrade."
        return say(HTTPStatus.UPGRADE_REQUIRED, words, ("Upgrade", "websocket"))
    if door.pages is None:
        return say(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws")
    return door.pages(request)


def refuse(status: HTTPStatus, words: str, *fields: tuple[str, str]) -> bytes:
    """Return the whole response to what is no request that could be answered."""
    return encode(say(status, words, *fields), with_body=True, keeps_alive=False)


def too_many(wait_ms: int) -> tuple[str, tuple[str, str]]:
    """Return the words that too much is asked for, and the header that says after how long it will do again."""
    seconds = str(wait_ms // 1000 + 1)
    return f"Too many requests from your address. Try again in {seconds} s.", ("Retry-After", seconds)


def select_subprotocol(_: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Choose ours where it is offered; a client that offers none speaks it all the same."""
    if not offered:
        return None
    if SUBPROTOCOL in offered:
        return Subprotocol(SUBPROTOCOL)
    raise NegotiationError(f"this server speaks {SUBPROTOCOL}, not {', '.join(offered)}")
