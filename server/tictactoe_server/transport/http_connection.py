"""An accepted connection before a WebSocket opens: phases, deadlines, plain HTTP, and output for slow peers.

Two invariants hold: a connection changes its phase only as `FOLLOWING` allows, and it has a deadline in every phase in
which the server waits for the peer. The module `connection` adds the WebSocket.
"""

from __future__ import annotations

import asyncio
import contextlib
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import partial
from http import HTTPStatus
from typing import Any, Final, cast

from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import RemotePeer
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

LINGER_SECONDS: Final = 1.0  # for a refused peer to read the reason
MAX_REQUESTS: Final = 100  # plain HTTP requests on one connection; the last response has ``Connection: close``


class Phase(Enum):
    """The phases of a connection."""

    ACCEPTED = auto()  # the TLS handshake, if any, is under way
    WAITING = auto()  # the next request has not arrived completely
    QUEUED = auto()  # a request waits for its turn
    ANSWERING = auto()  # the response is being prepared
    STREAMING = auto()  # the response is a stream of lines
    OPEN = auto()  # a WebSocket is open
    CLOSING = auto()  # one end has begun to close the WebSocket
    ENDING = auto()  # all output is sent, input is ignored, and the peer has some time to disconnect
    GONE = auto()  # lost or aborted


FOLLOWING: Final[dict[Phase, set[Phase]]] = {
    Phase.ACCEPTED: {Phase.WAITING},
    Phase.WAITING: {Phase.QUEUED, Phase.ENDING},
    Phase.QUEUED: {Phase.WAITING, Phase.ANSWERING, Phase.OPEN, Phase.ENDING},
    Phase.ANSWERING: {Phase.WAITING, Phase.STREAMING, Phase.ENDING},
    Phase.STREAMING: {Phase.ENDING},
    Phase.OPEN: {Phase.CLOSING},
    Phase.CLOSING: {Phase.ENDING},
}
"""The phases that may follow each phase. GONE may follow any phase."""


@dataclass(slots=True)
class Outbox:
    """Output queued for a slow peer: frames in order, and the newest state of each room."""

    abort_timer: asyncio.TimerHandle
    size: int = 0  # bytes in `frames`
    frames: list[bytes] = field(default_factory=list)
    states: dict[str, bytes] = field(default_factory=dict)


class HttpConnection(asyncio.Protocol):
    """Answers one request after another until a WebSocket opens.

    Each request must arrive within `hello_seconds` after the peer has read the previous response. When more than
    `outbox_bytes` wait in the transport, further output is queued in an `Outbox`. The connection is aborted if the
    queued frames exceed `outbox_bytes`, or if the transport does not drain within `catch_up_seconds`.
    """

    _transport: asyncio.Transport  # like `_write`, exists only between `connection_made` and `connection_lost`
    _write: Callable[[bytes], None]

    def __init__(self, on_lost: Callable[[Any], None], peer: RemotePeer, limits: Limits) -> None:
        self._phase = Phase.ACCEPTED
        self.is_open = False
        self._on_lost = on_lost
        self._peer = peer
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._outbox: Outbox | None = None
        self._unsent = self._requests = 0
        self._answering: asyncio.Future[HttpResponse] | None = None
        self._stop_lines: Callable[[], None] | None = None  # called when a stream has ended
        self._has_ended = False  # whether the peer has finished sending
        self._rest = b""  # received bytes that are not processed yet
        self._deadline: asyncio.TimerHandle | None = None
        self._set_deadline(limits.hello_seconds, self._close_silent)

    @property
    def address(self) -> str:
        """The client's address, which a trusted proxy may have forwarded; "" until it is known."""
        return self._peer.address

    @abstractmethod
    def _upgrade(self, request: HttpRequest) -> None:
        """Open a WebSocket, or send the reason why it is refused."""

    def push_frame(self, frame: bytes) -> None:
        """Send a frame, or queue it for a slow peer. Queued frames are never dropped."""
        if self._outbox is None:
            if self.is_open:
                self._write(frame)
            return
        self._outbox.frames.append(frame)
        self._outbox.size += len(frame)
        if self._outbox.size > self._limits.outbox_bytes:
            self.abort()

    def push_state(self, room: str, frame: bytes) -> None:
        """Send a room's state; for a slow peer, queue only the newest state of each room."""
        if self._outbox is not None:
            self._outbox.states[room] = frame
        elif self.is_open:
            self._write(frame)

    def push_answer_and_state(self, room: str, answer: bytes, state: bytes) -> None:
        """Send an answer and a room's state in one write, or queue both if the peer is slow."""
        if self._outbox is not None:
            self.push_frame(answer)
            self.push_state(room, state)
        elif self.is_open:
            self._write(answer + state)

    def forget_state(self, room: str) -> None:
        """Remove a room's state from a slow peer's queue."""
        if self._outbox is not None:
            self._outbox.states.pop(room, None)

    def push_line(self, line: bytes) -> None:
        """Send a line in a stream; for a slow peer, queue only the newest line."""
        if self._outbox is not None:
            self._outbox.states[""] = line
        elif self._phase is Phase.STREAMING:
            self._write(line)

    def end_lines(self) -> None:
        """End a stream after sending its queued line, if any."""
        outbox = self._end_outbox()
        if self._phase is Phase.STREAMING:
            self._end(b"".join(outbox.states.values()) if outbox else b"")
            self._release_stream()

    def abort(self) -> None:
        before = self._phase
        self._enter(Phase.GONE)
        self._set_deadline(None)
        if before is Phase.ACCEPTED:  # the TLS handshake has failed or timed out
            self._depart()
        elif before is not Phase.GONE:
            self._transport.abort()

    def _depart(self) -> None:
        self._peer.close()
        self._on_lost(self)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._write = self._transport.write
        if self._phase is Phase.GONE:  # the TLS handshake took too long
            self._transport.abort()
        else:
            self._transport.set_write_buffer_limits(self._limits.outbox_bytes)
            self._enter(Phase.WAITING)

    def eof_received(self) -> bool:
        """Return True to keep the transport open for pending responses, which is impossible with TLS."""
        is_held_back = self._phase is Phase.WAITING and self._outbox is not None
        is_asking = is_held_back or self._phase in (Phase.QUEUED, Phase.ANSWERING)
        self._has_ended = is_asking and self._transport.can_write_eof()
        return self._has_ended

    def pause_writing(self) -> None:
        """Start queueing output. Called when the transport's write buffer is full."""
        self._outbox = Outbox(self._loop.call_later(self._limits.catch_up_seconds, self.abort))

    def resume_writing(self) -> None:
        """Send the queued frames, then the queued states. Called when the transport's write buffer has drained."""
        outbox = self._end_outbox()
        if outbox is not None and self._phase in (Phase.OPEN, Phase.STREAMING):
            self._write(b"".join((*outbox.frames, *outbox.states.values())))
        if self._phase is Phase.WAITING:
            self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop all references, so that no reference cycles are left for the garbage collector."""
        if self._answering is not None:
            self._answering.cancel()
        self._enter(Phase.GONE)
        self._set_deadline(None)
        self._end_outbox()
        del self._transport, self._write
        self._depart()
        self._release_stream()

    def _receive_request(self, data: bytes) -> None:
        """Buffer the bytes of requests; pause reading when they are more than a request can have."""
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
        if self._phase is not Phase.QUEUED:
            return
        try:
            data = self._peer.read_proxy_header(self._rest)
            self._rest = self._rest if data is None else data
            found = None if data is None else read_request(data)
            if found is None:
                self._enter(Phase.WAITING)
                self._read_on()
                return
            is_tls = self._transport.get_extra_info("ssl_object") is not None
            request = self._peer.sign(found[0], is_tls=is_tls)
            self._rest = found[1]
        except BadRequest as bad:
            self._end(say(bad.status, str(bad)))
            if bad.status is HTTPStatus.SERVICE_UNAVAILABLE:
                self._set_deadline(LINGER_SECONDS)
            return
        if request.asks_for_websocket:
            self._upgrade(request)
        else:
            self._peer.admission.plain_queue.put(self.address, partial(self._answer, request))

    def _answer(self, request: HttpRequest) -> None:
        if self._phase is not Phase.QUEUED:
            return
        wait = self._peer.count_request(request.path)
        if wait:
            self._end(say_too_many(request, wait))
            return
        self._requests += 1
        self._enter(Phase.ANSWERING)
        found = self._peer.admission.answer(request)
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
        has_body = request.method != "HEAD"
        if isinstance(response, HttpStream) and has_body:
            self._write(encode_response(response))
            self._rest = b""
            self._set_deadline(None)
            self._enter(Phase.STREAMING)
            self._transport.resume_reading()  # to notice when the peer disconnects
            self._stop_lines = response.begin(self)
            return
        keeps_alive = request.keeps_alive and self._requests < MAX_REQUESTS
        data = encode_response(response, with_body=has_body, keeps_alive=keeps_alive)
        self._peer.count_answer(request.path, len(data))
        if not keeps_alive:
            self._end(data)
            return
        self._write(data)
        self._set_deadline(self._limits.hello_seconds, self._close_silent)
        self._enter(Phase.WAITING)
        self._wait_for_request()

    def _wait_for_request(self) -> None:
        """Process the next request, once the peer has read enough of the last response."""
        if not self._rest and not self._has_ended:
            self._peer.idle(partial(self._end, b""))
        if self._outbox is None and self._rest:
            self._queue_request()
        elif self._outbox is None:
            self._read_on()

    def _read_on(self) -> None:
        if self._has_ended:
            self._hang_up()
        else:
            self._transport.resume_reading()

    def _release_stream(self) -> None:
        stop, self._stop_lines = self._stop_lines, None
        if stop is not None:
            stop()

    def _end(self, last: HttpResponse | bytes) -> None:
        """Send the last response, then ignore input until the peer disconnects."""
        self._rest = b""
        self._write(encode_response(last) if isinstance(last, HttpResponse) else last)
        self._transport.resume_reading()
        self._hang_up()

    def _enter(self, phase: Phase) -> None:
        """Enter the next phase. Raise RuntimeError for a transition that is not in `FOLLOWING`."""
        if phase is not Phase.GONE and phase not in FOLLOWING.get(self._phase, ()):
            raise RuntimeError(f"{phase} does not follow {self._phase}.")
        self._phase, self.is_open = phase, phase is Phase.OPEN

    def _hang_up(self) -> None:
        self._enter(Phase.ENDING)
        self._set_deadline(self._limits.close_seconds, self._give_up)
        if self._transport.can_write_eof():
            with contextlib.suppress(OSError, RuntimeError):  # the peer has already disconnected
                self._transport.write_eof()
        else:
            self._transport.close()

    def _give_up(self) -> None:
        """Abort the connection after its last response, unless the peer is still reading."""
        if self._is_taking():
            self._set_deadline(self._limits.close_seconds, self._give_up)
        else:
            self.abort()

    def _is_taking(self) -> bool:
        """Return True if the peer has read some of the output since the last call."""
        if self._phase in (Phase.ACCEPTED, Phase.OPEN):
            return False
        before, self._unsent = self._unsent, self._transport.get_write_buffer_size()
        return 0 < self._unsent != before

    def _set_deadline(self, seconds: float | None, then: Callable[[], None] | None = None) -> None:
        """Replace the deadline: after `seconds`, call `then`, by default `abort`. None removes the deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self._loop.call_later(seconds, then or self.abort)

    def _end_outbox(self) -> Outbox | None:
        outbox, self._outbox = self._outbox, None
        if outbox is not None:
            outbox.abort_timer.cancel()
        return outbox

    def _close_silent(self) -> None:
        """Close the connection because a request did not arrive in time, unless the event loop may be late."""
        if self._is_taking() or self._is_kept_waiting():
            self._set_deadline(self._limits.hello_seconds, self._close_silent)
        elif self._rest:
            self._end(say(HTTPStatus.REQUEST_TIMEOUT, "Timed out waiting for the rest of the request."))
        else:
            self.abort()

    def _is_kept_waiting(self) -> bool:
        """Return True if there may be received bytes that the server has not processed yet."""
        return self._phase is Phase.QUEUED or self._peer.admission.is_late()
