"""What is answered on the port: to those who ask for a WebSocket, and to those who ask for something else."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Sequence
from http import HTTPStatus
from typing import Final

from websockets.datastructures import Headers
from websockets.exceptions import NegotiationError
from websockets.http11 import Request as Handshake
from websockets.http11 import Response as HandshakeResponse
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tictactoe_protocol import SUBPROTOCOL
from tictactoe_server import SERVER_NAME
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, say

LOGGER: Final = logging.getLogger("websockets.server")


def answer_handshake(request: HttpRequest, admission: Admission) -> HandshakeResponse:
    """Return the response to a request for a WebSocket: that the protocol changes, or why not."""
    if request.path not in ("/", "/ws"):
        response = _HANDSHAKES.reject(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws\n")
    elif not admission.allows_origin(request):
        response = _HANDSHAKES.reject(HTTPStatus.FORBIDDEN, "Pages of this origin may not connect: see --origin.\n")
    else:
        headers = Headers((name, value) for name, values in request.fields.items() for value in values)
        handshake = Handshake(request.path, headers, request.method, f"HTTP/{request.version}")
        response = _HANDSHAKES.accept(handshake)
        _HANDSHAKES.handshake_exc = None  # its traceback holds the connection
    response.headers["Server"] = SERVER_NAME
    return response


def answer_plain(request: HttpRequest, admission: Admission) -> HttpResponse | Awaitable[HttpResponse]:
    """Return the response to any other request."""
    if request.method not in ("GET", "HEAD"):
        return say(HTTPStatus.METHOD_NOT_ALLOWED, "Ask with GET or HEAD.", ("Allow", "GET, HEAD"))
    if request.has_body:
        return say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A request has no body here.")
    if request.path == "/healthz":
        return say(HTTPStatus.OK, "ok")
    if request.path == "/readyz":
        why_not = admission.unready()
        return say(HTTPStatus.OK if why_not is None else HTTPStatus.SERVICE_UNAVAILABLE, why_not or "ok")
    banned = admission.describe_ban(request.address)
    if banned is not None:
        return say(HTTPStatus.FORBIDDEN, banned)
    is_stripped = "sec-websocket-key" in request.fields
    if request.path == "/ws" or (request.path == "/" and (admission.pages is None or is_stripped)):
        words = "This is where a WebSocket opens: ask for one."
        if is_stripped:
            words = "A proxy on the way here has not passed on that a WebSocket is to open: it has to send Upgrade."
        return say(HTTPStatus.UPGRADE_REQUIRED, words, ("Upgrade", "websocket"))
    if admission.pages is None:
        return say(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws")
    return admission.pages(request)


def _select_subprotocol(_: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    """Choose ours where it is offered; a client that offers none speaks it all the same."""
    if not offered:
        return None
    if SUBPROTOCOL in offered:
        return Subprotocol(SUBPROTOCOL)
    raise NegotiationError(f"this server speaks {SUBPROTOCOL}, not {', '.join(offered)}")


_HANDSHAKES: Final = ServerProtocol(select_subprotocol=_select_subprotocol, logger=LOGGER)
"""Makes the responses to all handshakes; it never sees a connection."""
