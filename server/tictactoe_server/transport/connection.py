"""A connection with its WebSocket, and the encoding of its frames. Messages are delivered without interpreting them.

Complete text frames take a fast path. All other frames are passed, one complete frame at a time, to the Sans-I/O
protocol of the `websockets` library.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from struct import Struct
from typing import Any, Final

from websockets.datastructures import Headers
from websockets.exceptions import NegotiationError
from websockets.frames import Frame, Opcode
from websockets.http11 import Request as Handshake
from websockets.http11 import Response as HandshakeResponse
from websockets.protocol import Protocol as WebSocket
from websockets.protocol import Side, State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tictactoe_protocol import MAX_MESSAGE_BYTES, SUBPROTOCOL, CloseCode, encode
from tictactoe_server import SERVER_NAME
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import Admission, RemotePeer
from tictactoe_server.transport.http_connection import HttpConnection, Phase
from tictactoe_server.transport.http_messages import HttpRequest, say

try:
    from websockets.speedups import apply_mask
except ImportError:  # the library was built without its C extension
    from websockets.utils import apply_mask

MAX_FRAGMENTS: Final = 64  # frames in one message
FRAMES_A_TURN: Final = 16  # frames processed for one connection in one turn of the event loop
MAX_UNSENT_PONGS: Final = 64 * 1024  # bytes of pongs that are queued for a peer that sends pings but does not read
LOOKS_A_PING: Final = 8  # checks for silence between two pings
SILENT_LOOKS: Final = 3 * LOOKS_A_PING  # checks after which a silent peer's connection is aborted

_LOGGER: Final = logging.getLogger("websockets.server")
_PING: Final = b"\x89\x00"
_SMALL_HEADER_BYTES: Final = 6
TOO_LONG: Final = -1

_HEADERS: Final = tuple(bytes((0x81, length)) for length in range(126))
_pack: Final = Struct(">BBH").pack


class Receiver:
    """Receives the messages on a connection. This base class ignores them."""

    @property
    def waits_since(self) -> int | None:
        """When the oldest queued message arrived (ms of the servers' total run time), or None for an empty queue."""
        return None

    def received(self, message: bytes) -> None:
        """Called with each message, a text in valid UTF-8."""

    def ended(self) -> None:
        """Called when the connection is lost."""


_NOBODY: Final = Receiver()


class Connection(HttpConnection):
    """The server's end of a connection.

    If the client does not say hello within `hello_seconds` after it connected, the connection is closed, and aborted
    a fifth of `hello_seconds` later. The time starts again if the event loop is late, and if a WebSocket opens after
    plain HTTP requests, because proxies reuse connections.

    Attributes:
        origin: The server's URL as the client used it, such as ``http://host:8765``.
        signed_on: The user name that a trusted proxy has authenticated, or None.
        _accept: Returns the receiver for a WebSocket that has just opened.
        _websocket: The Sans-I/O protocol; unset until the WebSocket is open.
    """

    _websocket: WebSocket

    def __init__(
        self,
        accept: Callable[[Connection], Receiver],
        on_lost: Callable[[Connection], None],
        peer: RemotePeer,
        limits: Limits,
    ) -> None:
        super().__init__(on_lost, peer, limits)
        self.origin = ""
        self.signed_on: str | None = None
        self._accept = accept
        self._receiver = _NOBODY
        self._is_paused = self._is_going_on = False
        self._fragments: list[bytes] = []
        self._unsent_pongs = 0
        self._silent_looks = 0

    def let_in(self) -> None:
        """Cancel the deadline for the client's hello, unless the connection is closing."""
        if self.is_open:
            self._set_deadline(None)

    def pause_reading(self) -> None:
        self._is_paused = True
        if self.is_open:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        self._go_on_soon()

    def close(self, code: int, reason: str, *, within: float | None = None) -> None:
        """Send a close frame, and abort after `within` seconds, by default `close_seconds`.

        A stream is ended instead. A connection without an open WebSocket is aborted.
        """
        if self.is_open:
            self._websocket.send_close(code, reason)
            self._flush()
            if within is not None:
                self._set_deadline(within)
        elif self._phase is Phase.STREAMING:
            self.end_lines()
        elif self._phase in (Phase.ACCEPTED, Phase.WAITING, Phase.QUEUED, Phase.ANSWERING):
            self.abort()

    def ping(self) -> None:
        """Send a ping, or an empty line in a stream."""
        if self.is_open and self._outbox is None:
            self._write(_PING)
        elif self._phase is Phase.STREAMING and self._outbox is None:
            self._write(b"\n")

    @property
    def is_silent(self) -> bool:
        return self._silent_looks >= LOOKS_A_PING

    def end_if_silent(self) -> None:
        """Abort the connection if nothing was received during more than `SILENT_LOOKS` calls of this method."""
        self._silent_looks = 0 if self._is_paused else self._silent_looks + 1
        if self._silent_looks > SILENT_LOOKS and self.is_open:  # the other phases have deadlines
            self.abort()

    def data_received(self, data: bytes) -> None:
        """Process received bytes, with a fast path for one small, complete text frame (RFC 6455, 5.2)."""
        self._silent_looks = 0
        length = len(data) - _SMALL_HEADER_BYTES
        if (
            0 < length < 126
            and data[0] == 0x81
            and data[1] == 0x80 | length
            and self.is_open
            and not self._rest
            and not self._fragments
            and not self._is_paused
        ):
            message = apply_mask(data[_SMALL_HEADER_BYTES:], data[2:_SMALL_HEADER_BYTES])
            if message.isascii():
                self._receiver.received(message)
            else:
                self._deliver(message)
        elif self._phase in (Phase.OPEN, Phase.CLOSING):
            self._receive_frames(data)
        else:
            self._receive_request(data)

    def eof_received(self) -> bool:
        if self._phase not in (Phase.OPEN, Phase.CLOSING):
            return super().eof_received()
        self._websocket.receive_eof()
        self._flush()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        receiver, self._receiver = self._receiver, _NOBODY
        super().connection_lost(exc)
        if receiver is not _NOBODY:
            self._websocket.parser.close()
            receiver.ended()

    def _upgrade(self, request: HttpRequest) -> None:
        if request.has_body:
            self._end(say(HTTPStatus.BAD_REQUEST, "A WebSocket handshake must not have a body."))
            return
        response = _answer_handshake(request, self._peer.admission)
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            self._peer.admission.warn_of_refusal(request, response.status_code)
            self._end(response.serialize())
            return
        self._write(response.serialize())
        self._websocket = WebSocket(Side.SERVER, max_size=MAX_MESSAGE_BYTES, logger=_LOGGER)
        self._enter(Phase.OPEN)
        self.origin, self.signed_on = request.origin, self._peer.signed_on(request)
        if self._requests:
            self._set_deadline(self._limits.hello_seconds, self._close_silent)
        self._receiver = self._accept(self)
        self._go_on()

    def _is_kept_waiting(self) -> bool:
        return self._receiver.waits_since is not None or super()._is_kept_waiting()

    def _close_silent(self) -> None:
        if self.is_open and not self._is_kept_waiting():
            self.close(CloseCode.POLICY_VIOLATION, "no hello", within=self._limits.hello_seconds / 5)
        else:
            super()._close_silent()

    def _receive_frames(self, data: bytes) -> bool:
        """Process complete frames, buffer the rest, and return True if more data may be read now.

        While the connection is closing, all frames except close frames are ignored. After `FRAMES_A_TURN` frames,
        reading pauses until the next turn of the event loop.
        """
        data, self._rest = self._rest + data, b""
        start = 0
        for _ in range(FRAMES_A_TURN):
            if self._is_paused and self.is_open:
                break
            found = end_of_frame(data, start, MAX_MESSAGE_BYTES)
            if found == 0:
                self._rest = data[start:]
                return not self._is_paused
            end = len(data) if found == TOO_LONG else found
            if self.is_open and data[start] == 0x81 and 0x80 <= data[start + 1] < 0xFE and not self._fragments:
                payload = start + _SMALL_HEADER_BYTES
                self._deliver(apply_mask(data[payload:end], data[start + 2 : payload]))
            elif self.is_open or found == TOO_LONG or data[start] & 0x0F == Opcode.CLOSE:
                self._feed(data[start:end])
            start = end
        self._rest = data[start:]
        if self._rest:
            self._transport.pause_reading()
            if self.is_open and not self._is_paused:
                self._go_on_soon()
        return not (self._rest or self._is_paused)

    def _go_on_soon(self) -> None:
        if not self._is_going_on:
            self._is_going_on = True
            self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._is_going_on = False
        if self._phase in (Phase.OPEN, Phase.CLOSING) and not self._is_paused and self._receive_frames(b""):
            self._transport.resume_reading()

    def _feed(self, data: bytes) -> None:
        self._websocket.receive_data(data)
        for event in self._websocket.events_received():
            if isinstance(event, Frame):
                self._process(event)
        self._flush()

    def _process(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PING:
            if not self._transport.get_write_buffer_size():
                self._unsent_pongs = 0
            self._unsent_pongs += len(frame.data) + 2
            if self._unsent_pongs > MAX_UNSENT_PONGS:
                self.abort()
        elif frame.opcode in (Opcode.CLOSE, Opcode.PONG):
            return
        elif frame.opcode is Opcode.BINARY:
            self._fail(CloseCode.UNSUPPORTED_DATA, "text frames only")
        elif len(self._fragments) >= MAX_FRAGMENTS:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
        else:
            self._fragments.append(bytes(frame.data))
            if frame.fin:
                message = b"".join(self._fragments)
                self._fragments.clear()
                self._deliver(message)

    def _deliver(self, message: bytes) -> None:
        if not message.isascii():
            try:
                message.decode()
            except UnicodeDecodeError:
                self._fail(CloseCode.INVALID_DATA, "text frames are UTF-8")
                return
        self._receiver.received(message)

    def _fail(self, code: CloseCode, reason: str) -> None:
        self._websocket.fail(code, reason)
        self._flush()

    def _flush(self) -> None:
        is_closing = self.is_open and self._websocket.state is not State.OPEN
        if is_closing:
            self._enter(Phase.CLOSING)
        for data in self._websocket.data_to_send():
            if data:
                self._write(data)
            elif self._phase is Phase.CLOSING:
                self._hang_up()
        if is_closing:
            self._set_deadline(self._limits.close_seconds)


def _answer_handshake(request: HttpRequest, admission: Admission) -> HandshakeResponse:
    if request.path not in ("/", "/ws"):
        response = _HANDSHAKES.reject(HTTPStatus.NOT_FOUND, "There is nothing here. WebSocket: / or /ws\n")
    elif not admission.allows_origin(request):
        response = _HANDSHAKES.reject(HTTPStatus.FORBIDDEN, "Pages of this origin may not connect: see --origin.\n")
    else:
        headers = Headers((name, value) for name, values in request.fields.items() for value in values)
        handshake = Handshake(request.path, headers, request.method, f"HTTP/{request.version}")
        response = _HANDSHAKES.accept(handshake)
        _HANDSHAKES.handshake_exc = None  # its traceback would keep the connection in memory
    response.headers["Server"] = SERVER_NAME
    return response


def _select_subprotocol(_: ServerProtocol, offered: Sequence[Subprotocol]) -> Subprotocol | None:
    if not offered:
        return None
    if SUBPROTOCOL not in offered:
        raise NegotiationError(f"this server speaks {SUBPROTOCOL}, not {', '.join(offered)}")
    return Subprotocol(SUBPROTOCOL)


_HANDSHAKES: Final = ServerProtocol(select_subprotocol=_select_subprotocol, logger=_LOGGER)
"""Creates the responses to the handshakes of all connections."""


def encode_frame(payload: bytes) -> bytes:
    """Encode a text frame without a mask, as servers must send it."""
    length = len(payload)
    if length < 126:
        return _HEADERS[length] + payload
    if length < 65536:
        return _pack(0x81, 126, length) + payload
    return b"\x81\x7f" + length.to_bytes(8) + payload


def encode_push(message: Any) -> bytes:
    return encode_frame(encode(message))


def with_fields(encoded: bytes, fields: Mapping[str, Any]) -> bytes:
    """Return an encoded JSON object with `fields` appended.

    >>> with_fields(b'{"a":1}', {"b": [2]}), with_fields(b'{"a":1}', {})
    (b'{"a":1,"b":[2]}', b'{"a":1}')
    """
    return encoded[:-1] + b"," + encode(fields)[1:] if fields else encoded


def end_of_frame(data: bytes, start: int, limit: int) -> int:
    """Return the end of the frame that begins at `start`, or 0 while the frame is incomplete.

    Return `TOO_LONG` as soon as the frame's header announces more than `limit` bytes.
    """
    if len(data) < start + 2:
        return 0
    second = data[start + 1]
    length, header = second & 0x7F, 2
    if length >= 126:
        header = 4 if length == 126 else 10
        if len(data) < start + header:
            return 0
        length = int.from_bytes(data[start + 2 : start + header])
    if length > limit:
        return TOO_LONG
    end = start + header + (4 if second & 0x80 else 0) + length
    return end if end <= len(data) else 0
