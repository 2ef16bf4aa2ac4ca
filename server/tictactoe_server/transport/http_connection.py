"""Plain HTTP on a connection, before a WebSocket opens or instead of one, and what every server answers there."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Final, cast

from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.http_messages import (
    MAX_HEAD_BYTES,
    BadRequest,
    HttpRequest,
    HttpResponse,
    HttpStream,
    encode_response,
    read_request,
    say,
    say_too_many,
)
from tictactoe_server.transport.outgoing import Outgoing, Phase
from tictactoe_server.transport.remote_peer import RemotePeer

LINGER_SECONDS: Final = 1.0  # how long one who is turned away may stay, so that the reason surely arrives
MAX_REQUESTS: Final = 100
"""How many requests of plain HTTP one connection may bring; the last is answered with ``Connection: close``."""


class HttpConnection(Outgoing):
    """Answers one request after the other, each within `hello_seconds` of the one before, until a WebSocket opens.

    Whoever takes what is answered has the time for it. `_rest` is what has come and is not read yet, `_has_ended`
    whether nothing more comes; `_stop_reading` is called when somebody who reads a stream is gone.
    """

    __slots__ = ("_answering", "_has_ended", "_peer", "_requests", "_rest", "_stop_reading")

    def __init__(self, peer: RemotePeer, limits: Limits) -> None:
        super().__init__(limits)
        self._peer = peer
        self._requests = 0
        self._answering: asyncio.Future[HttpResponse] | None = None
        self._stop_reading: Callable[[], None] | None = None
        self._has_ended = False
        self._rest = b""
        self._set_deadline(limits.hello_seconds, self._close_silent)

    @property
    def address(self) -> str:
        """That of the peer, of its client where it is a trusted proxy; empty until it is known."""
        return self._peer.address

    @abstractmethod
    def _upgrade(self, request: HttpRequest) -> None:
        """Open a WebSocket, or say why not."""

    def _close_silent(self) -> None:
        """Let go of a peer whose request has not come in time, unless it is we who were late."""
        if self._is_taking() or self._is_kept_waiting():
            self._set_deadline(self._limits.hello_seconds, self._close_silent)
        elif self._rest:
            self._end(say(HTTPStatus.REQUEST_TIMEOUT, "This request did not come in time."))
        else:
            self.abort()

    def _is_kept_waiting(self) -> bool:
        """Tell whether what has come may not have been looked at yet."""
        return self._phase is Phase.QUEUED or self._peer.admission.is_late()

    # -- for the event loop -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._write = self._transport.write
        if self._phase is Phase.GONE:  # its handshake of TLS took too long
            self._transport.abort()
        else:
            self._transport.set_write_buffer_limits(self._limits.outbox_bytes)
            self._enter(Phase.WAITING)

    def eof_received(self) -> bool:
        """Let the transport close where nothing is left to be answered.

        TLS knows no such half of an end: nothing could be sent any more.
        """
        is_held_back = self._phase is Phase.WAITING and self._outbox is not None
        is_asking = is_held_back or self._phase in (Phase.QUEUED, Phase.ANSWERING)
        self._has_ended = is_asking and self._transport.can_write_eof()
        return self._has_ended

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._phase is Phase.WAITING:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answering is not None:
            self._answering.cancel()
        super().connection_lost(exc)
        self._stop_lines()

    # -- requests -----------------------------------------------------------------------------------------------

    def _receive_request(self, data: bytes) -> None:
        """Take a request or a part of one; what is more than that waits in the network."""
        if self._phase in (Phase.STREAMING, Phase.ENDING, Phase.GONE):
            return
        self._rest += data
        if self._phase is Phase.WAITING and self._outbox is None:
            self._queue_request()
        elif self._phase is not Phase.QUEUED or len(self._rest) > MAX_HEAD_BYTES:
            self._transport.pause_reading()

    def _queue_request(self) -> None:
        self._enter(Phase.QUEUED)
        self._peer.busy()
        self._peer.admission.queue.put(self.address, self._take_request)

    def _take_request(self) -> None:
        """Carry out what is queued, unless the peer is gone or was given up."""
        if self._phase is not Phase.QUEUED:
            return
        try:
            request = self._read_request()
        except BadRequest as bad:
            self._end(say(bad.status, str(bad)))
            if bad.status is HTTPStatus.SERVICE_UNAVAILABLE:
                self._set_deadline(LINGER_SECONDS)
        else:
            if request is None:
                self._enter(Phase.WAITING)
                self._read_on()
            elif request.asks_for_websocket:
                self._upgrade(request)
            else:
                self._answer(request)

    def _read_request(self) -> HttpRequest | None:
        """Return the next request, or None while it is incomplete; raises `BadRequest`."""
        data = self._peer.read_proxy_header(self._rest)
        self._rest = self._rest if data is None else data
        found = None if data is None else read_request(data)
        if found is None:
            return None
        is_tls = self._transport.get_extra_info("ssl_object") is not None
        request = self._peer.sign(found[0], is_tls=is_tls)
        if request.asks_for_websocket:
            self._peer.count_websocket()
        self._rest = found[1]
        return request

    # -- responses ----------------------------------------------------------------------------------------------

    def _answer(self, request: HttpRequest) -> None:
        """Answer what asks for no WebSocket, at once or later; what came after it waits meanwhile."""
        wait = self._peer.count_request(request.path)
        if wait:
            self._end(say_too_many(request, wait))
            return
        self._requests += 1
        self._enter(Phase.ANSWERING)
        found = answer_plain(request, self._peer.admission)
        if isinstance(found, HttpResponse):
            self._respond(request, found)
        else:
            self._set_deadline(None)
            self._answering = asyncio.ensure_future(found)
            self._answering.add_done_callback(partial(self._respond_later, request))

    def _respond_later(self, request: HttpRequest, answering: asyncio.Future[HttpResponse]) -> None:
        self._answering = None
        if self._phase is Phase.ANSWERING and not answering.cancelled():
            self._respond(request, answering.result())

    def _respond(self, request: HttpRequest, response: HttpResponse) -> None:
        if isinstance(response, HttpStream) and request.method != "HEAD":
            self._begin_lines(response)
            return
        keeps_alive = request.keeps_alive and self._requests < MAX_REQUESTS
        data = encode_response(response, with_body=request.method != "HEAD", keeps_alive=keeps_alive)
        self._peer.count_answer(request.path, len(data))
        if not keeps_alive:
            self._end(data)
            return
        self._write(data)
        self._set_deadline(self._limits.hello_seconds, self._close_silent)
        self._enter(Phase.WAITING)
        self._wait_for_request()

    def _wait_for_request(self) -> None:
        """Go on with what has come already, or wait for more, once the peer has read enough of what was answered."""
        if not self._rest and not self._has_ended:
            self._peer.idle(self._make_room)
        if self._outbox is None and self._rest:
            self._queue_request()
        elif self._outbox is None:
            self._read_on()

    def _read_on(self) -> None:
        """Wait for what is missing; hang up where nothing more comes."""
        if self._has_ended:
            self._hang_up()
        else:
            self._transport.resume_reading()

    def _make_room(self) -> None:
        """Hang up, so that another one of the same address may come: nothing is being asked for here."""
        self._peer.release()
        self._end(b"")

    # -- streams ------------------------------------------------------------------------------------------------

    def push_line(self, line: bytes) -> None:
        """Send a line of a stream, or keep it as the newest while the peer lags."""
        if self._outbox is not None:
            self._outbox.states[""] = line
        elif self._phase is Phase.STREAMING:
            self._write(line)

    def end_lines(self) -> None:
        """End a stream, after the line that was held back."""
        outbox = self._end_outbox()
        if self._phase is Phase.STREAMING:
            self._end(b"".join(outbox.states.values()) if outbox else b"")
            self._stop_lines()

    def _begin_lines(self, response: HttpStream) -> None:
        self._write(encode_response(response))
        self._rest = b""
        self._set_deadline(None)
        self._enter(Phase.STREAMING)
        self._transport.resume_reading()  # so that the peer's end is noticed
        self._stop_reading = response.begin(self)

    def _stop_lines(self) -> None:
        stop, self._stop_reading = self._stop_reading, None
        if stop is not None:
            stop()

    def _end(self, last: HttpResponse | bytes) -> None:
        """Send a last response, and pass over what still comes until the peer hangs up, too."""
        self._rest = b""
        self._write(encode_response(last) if isinstance(last, HttpResponse) else last)
        self._transport.resume_reading()
        self._hang_up()


def answer_plain(request: HttpRequest, admission: Admission) -> HttpResponse | Awaitable[HttpResponse]:
    """Return the response to any other request."""
    if request.method not in ("GET", "HEAD") and not (request.method == "OPTIONS" and request.is_open_to_all):
        return say(HTTPStatus.METHOD_NOT_ALLOWED, "Ask with GET or HEAD.", ("Allow", "GET, HEAD"))
    if request.has_body:
        return say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A request has no body here.")
    if request.names_host and not admission.knows(request.host):
        return say(HTTPStatus.BAD_REQUEST, "This server is no proxy, and does not know itself by this name.")
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
