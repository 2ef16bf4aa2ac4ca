"""One peer's WebSocket, and what it asks in plain HTTP before: messages in, with no word of what they mean.

The handshake, the closing and whatever is not one small whole text frame are the business of the Sans-I/O protocol of
the `websockets` library, which is fed with whole frames only; the rest is here. What goes out is `line`'s.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request as Handshake
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tictactoe_protocol import MAX_MESSAGE_BYTES, SUBPROTOCOL, CloseCode
from tictactoe_server.settings import Limits
from tictactoe_server.transport import http, plain
from tictactoe_server.transport.caller import TOO_MANY_WORDS, Caller, TurnedAway
from tictactoe_server.transport.frames import TOO_LONG, end_of_frame
from tictactoe_server.transport.line import Line

try:
    from websockets.speedups import apply_mask
except ImportError:  # the library was built without its C extension
    from websockets.utils import apply_mask

MAX_FRAGMENTS: Final = 64
"""Of how many frames one message may consist."""

FRAMES_A_TURN: Final = 16
"""How many frames of one connection are taken in one turn of the event loop."""

MAX_REQUESTS: Final = 100
"""How many requests of plain HTTP one connection may bring; the last is answered with ``Connection: close``."""

MAX_UNSENT_PONGS: Final = 64 * 1024
"""How many bytes of pongs may wait for a peer that sends pings and does not read."""

_PING: Final = b"\x89\x00"

LOOKS_A_PING: Final = 8
SILENT_LOOKS: Final = 3 * LOOKS_A_PING
"""A peer is looked at so often between two pings, and gone when nothing came for the time of three."""
_SMALL_HEADER_BYTES: Final = 6
_LINGER_SECONDS: Final = 1.0
_DATA: Final = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})
_LOGGER: Final = logging.getLogger("websockets.server")


class Receiver(Protocol):
    """Who is told what a connection brings."""

    def received(self, message: bytes) -> None:
        """Take one message: UTF-8, and not yet known to be anything more."""
        ...

    def ended(self) -> None:
        """Take notice that the connection is gone."""
        ...


class Connection(Line):
    """A WebSocket from the server's side; `accept` makes its receiver once the handshake is done.

    A peer that does not say who it is (`let_in`) within `hello_seconds` of being accepted is closed, and gone a fifth
    of that later whether it answers or not. `on_lost` is called at the end. `origin` is how the peer calls this server,
    as in ``http://host:8765``.

    Before the handshake, or instead of one, plain HTTP is answered, one request after the other and each within
    `hello_seconds` of the one before; whoever takes what is answered has the time for it. A WebSocket that follows has
    all of `hello_seconds` for its hello: a proxy hands connections on that others have used.
    """

    __slots__ = (
        "_accept",
        "_answering",
        "_asked",
        "_caller",
        "_door",
        "_fragments",
        "_going_on",
        "_is_answered",
        "_is_due",
        "_is_last",
        "_is_paused",
        "_on_lost",
        "_protocol",
        "_receiver",
        "_rest",
        "_silent_looks",
        "_unsent_pongs",
        "_was_heard",
        "origin",
    )

    def __init__(
        self,
        accept: Callable[[Connection], Receiver],
        on_lost: Callable[[Connection], None],
        caller: Caller,
        limits: Limits,
    ) -> None:
        super().__init__(limits)
        self.origin = ""
        self._accept = accept
        self._on_lost: Callable[[Connection], None] | None = on_lost
        self._door = caller.door
        self._caller = caller
        self._protocol = ServerProtocol(
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            select_subprotocol=http.select_subprotocol,
            max_size=MAX_MESSAGE_BYTES,
            logger=_LOGGER,
        )
        self._receiver: Receiver | None = None
        self._is_answered = self._is_due = self._is_last = self._is_paused = False
        self._asked = 0
        self._answering: asyncio.Task[None] | None = None
        self._going_on: asyncio.Handle | None = None
        self._rest = b""
        self._fragments: list[bytes] = []
        self._unsent_pongs = 0
        self._was_heard = True
        self._silent_looks = 0
        self._set_deadline(limits.hello_seconds, self._close_silent)

    @property
    def address(self) -> str:
        """That of the peer, of its client where it is a trusted proxy; empty until it is known."""
        return self._caller.address

    # -- for whoever has the connection -------------------------------------------------------------------------

    def let_in(self) -> None:
        """Let the peer stay: it has said who it is."""
        self._set_deadline(None)

    def pause_reading(self) -> None:
        """Let what the peer sends wait, here what was read already and in the network the rest."""
        self._is_paused = True
        if self.is_open and self._transport is not None:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Deliver what waits, and read again."""
        self._is_paused = False
        if self._rest and self._going_on is None:
            self._going_on = self._loop.call_soon(self._go_on)
        else:
            self._read_again()

    def close(self, code: int, reason: str, *, within: float | None = None) -> None:
        """Close politely, and in any case within so many seconds, `close_seconds` where None."""
        if self.is_open:
            self._protocol.send_close(code, reason)
            self._flush()
            if within is not None:
                self._set_deadline(within)
        elif not self._is_answered:
            self.abort()

    def ping(self) -> None:
        """Ask whether the peer is still there."""
        if self.is_open and self._outbox is None:
            self._write(_PING)

    def look(self) -> None:
        """Cut the peer off from which nothing has come since so many looks; called evenly."""
        self._silent_looks = 0 if self._was_heard or self._is_paused else self._silent_looks + 1
        self._was_heard = False
        if self._silent_looks >= SILENT_LOOKS and self.is_open:  # one that is not has a deadline
            self.abort()

    # -- for the event loop -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to talk."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(self._limits.outbox_bytes)
        self._write = self._transport.write
        if self._is_cut_off:  # its handshake of TLS took too long
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport; one small whole text frame, the common case, by the shortest way.

        Source: RFC 6455, section 5.2: FIN and the opcode for text, the mask bit and a length below 126, four bytes of
        mask.
        """
        self._was_heard = True
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
            if self._receiver is not None and message.isascii():
                self._receiver.received(message)
            else:
                self._deliver(message)
        else:
            self._receive(data)

    def eof_received(self) -> bool:
        """Take notice that the peer says nothing any more; the transport closes then, or once all is answered.

        TLS knows no such half of an end: nothing could be sent any more.
        """
        is_half = self._transport is not None and self._transport.can_write_eof()
        is_asking = not self._is_answered and (self._is_due or self._going_on is not None)
        if is_half and (self._is_busy or is_asking):
            self._is_last = True
            return True
        self._protocol.receive_eof()
        self._flush()
        return False

    def resume_writing(self) -> None:
        """Send what was held back, and take what was asked meanwhile."""
        super().resume_writing()
        if not self._is_answered:
            self._go_on_asking()

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything, so that nothing is left for the garbage collector."""
        for coming in (self._going_on, self._answering):
            if coming is not None:
                coming.cancel()
        self._going_on = self._answering = None
        self._protocol.receive_eof()
        self._protocol.parser.close()
        receiver, self._receiver = self._receiver, None
        super().connection_lost(exc)
        if receiver is not None:
            receiver.ended()

    def depart(self) -> None:
        """Count no more, and say so."""
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            self._caller.depart()
            on_lost(self)

    # -- inside -------------------------------------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        """Take whatever the short way does not know: whole frames for the protocol, one after the other."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        if self._is_busy:
            self._rest = data
            if self._transport is not None:
                self._transport.pause_reading()
            return
        if not self._is_answered:
            self._rest = data
            self._hear_soon()
            return
        start = taken = 0
        while self.is_open:
            if self._is_paused or taken == FRAMES_A_TURN:
                self._keep(data[start:])
                return
            taken += 1
            end = end_of_frame(data, start, MAX_MESSAGE_BYTES)
            if end == 0:
                self._rest = data[start:]
                return
            if end == TOO_LONG:
                end = len(data)
            if data[start] == 0x81 and 0x80 <= data[start + 1] < 0xFE and not self._fragments:
                mask = start + 2
                self._deliver(apply_mask(data[mask + 4 : end], data[mask : mask + 4]))
            else:
                self._feed(data[start:end])
            start = end
        if start < len(data) and self._receiver is not None:
            self._look_for_end(data[start:])

    def _look_for_end(self, data: bytes) -> None:
        """Pass over what a peer says that is being closed, until it agrees; whoever says much is read no more."""
        start = 0
        for _ in range(FRAMES_A_TURN):
            end = end_of_frame(data, start, MAX_MESSAGE_BYTES)
            if end == 0:
                self._rest = data[start:]
                return
            if end == TOO_LONG or data[start] & 0x0F == Opcode.CLOSE:
                self._feed(data[start:])
                return
            start = end
        if self._transport is not None:
            self._transport.pause_reading()

    def _hear_soon(self) -> None:
        """Let the request have its turn; what is longer than one may be is not read meanwhile."""
        if not self._is_due:
            self._is_due = True
            self._caller.wake()
            self._door.turns.put(self.address, self._hear)
        elif len(self._rest) > plain.MAX_HEAD_BYTES and self._transport is not None:
            self._transport.pause_reading()

    def _hear(self) -> None:
        """Answer what has been asked for, unless the peer is gone."""
        self._is_due = False
        if self._transport is None or self._is_answered:
            return
        data, self._rest = self._rest, b""
        rest = self._hear_request(data)
        if rest and self.is_open:
            self._receive(rest)
        self._read_again()

    def _keep(self, rest: bytes) -> None:
        """Keep what is not delivered in this turn of the event loop, and read no more until it is."""
        self._rest = rest
        if rest and self._transport is not None:
            self._transport.pause_reading()
            if not self._is_paused and self._going_on is None:
                self._going_on = self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Deliver what was kept, and read again once all of it is."""
        self._going_on = None
        if not self._is_paused:
            self._receive(b"")
            self._read_again()

    def _read_again(self) -> None:
        """Read from the transport, unless something is still to be delivered."""
        is_due = self.is_open or (self._receiver is None and not self._is_busy)
        if is_due and not self._is_paused and self._going_on is None and self._transport is not None:
            self._transport.resume_reading()

    @property
    def _is_busy(self) -> bool:
        """Whether what is asked in plain HTTP waits: for an answer that is still to come, or for the peer to read."""
        return not self._is_answered and (self._answering is not None or self._outbox is not None)

    def _turn_away(self) -> None:
        """Say that there are too many, and let go: at once where many of those are here already."""
        self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, TOO_MANY_WORDS)
        if self._door.may_linger():
            self._set_deadline(_LINGER_SECONDS)
        elif self._transport is not None:
            self._transport.close()

    def _hear_request(self, data: bytes) -> bytes:
        """Answer the request, once it is whole; return what came after it where that is for the WebSocket."""
        try:
            named = self._caller.introduce(data)
            found = None if named is None else plain.read_request(named)
            if named is None or found is None:
                self._rest = data if named is None else named
                self._wait_for_more()
                return b""
            is_tls = self._transport is not None and self._transport.get_extra_info("ssl_object") is not None
            request, end = self._caller.sign(found[0], is_tls=is_tls), found[1]
            if request.asks_for_websocket:
                self._caller.ask_for_websocket()
        except TurnedAway:
            self._turn_away()
        except plain.BadRequest as bad:
            self._refuse(bad.status, bad.words)
        else:
            if request.asks_for_websocket:
                self._upgrade(request, named[:end])
                return named[end:]
            self._answer_plain(request, named[end:])
        return b""

    def _upgrade(self, request: plain.Request, head: bytes) -> None:
        """Let the WebSocket begin, or say why not."""
        self._is_answered = True
        self.origin = request.origin
        self._protocol.receive_data(head)
        for event in self._protocol.events_received():
            handshake = cast(Handshake, event)
            self._protocol.send_response(http.answer(self._protocol, handshake, request, self._door))
        if self._protocol.eof_sent and not any(self._protocol.writes):
            self._refuse(HTTPStatus.BAD_REQUEST, "This is no request that could be answered here.")
        self._flush()
        if self.is_open:
            if self._asked:
                self._set_deadline(self._limits.hello_seconds, self._close_silent)
            self._receiver = self._accept(self)

    # -- plain HTTP ---------------------------------------------------------------------------------------------

    def _answer_plain(self, request: plain.Request, rest: bytes) -> None:
        """Answer what asks for no WebSocket, at once or later; what came after it waits meanwhile."""
        wait = self._caller.ask()
        if wait:
            self._refuse(HTTPStatus.TOO_MANY_REQUESTS, *http.too_many(wait))
            return
        self._asked += 1
        self._keep(rest)
        found = http.answer_plain(request, self._door)
        if isinstance(found, plain.Response):
            self._respond(request, found)
        else:
            self._set_deadline(None)
            self._answering = self._loop.create_task(self._respond_later(request, found))

    async def _respond_later(self, request: plain.Request, coming: Awaitable[plain.Response]) -> None:
        response = await coming
        self._answering = None
        self._respond(request, response)

    def _respond(self, request: plain.Request, response: plain.Response) -> None:
        """Send a response, and go on with what comes next or hang up."""
        keeps_alive = request.keeps_alive and not request.has_body and self._asked < MAX_REQUESTS
        self._write(plain.encode(response, with_body=request.method != "HEAD", keeps_alive=keeps_alive))
        if not keeps_alive:
            self._is_answered = True
            self._rest = b""
            self._hang_up()
            self._read_again()
            return
        self._set_deadline(self._limits.hello_seconds, self._close_silent)
        self._go_on_asking()

    def _go_on_asking(self) -> None:
        """Take the next request, which has come or comes yet."""
        self._keep(self._rest)
        if not self._rest:
            self._caller.rest(self._make_room)
        self._read_again()
        self._wait_for_more()

    def _make_room(self) -> None:
        """Hang up, so that another one of the same address may come: nothing is being asked for here."""
        self._caller.leave()
        self._is_answered = True
        self._hang_up()

    def _wait_for_more(self) -> None:
        """Hang up where nothing more comes that could be answered."""
        if self._is_last and self._going_on is None and not (self._is_busy or self._is_due):
            self._is_answered = True
            self._hang_up()

    def _refuse(self, status: HTTPStatus, words: str, *fields: tuple[str, str]) -> None:
        """Answer something that the protocol was not even asked about."""
        self._is_answered = True
        self._write(http.refuse(status, words, *fields))
        self._hang_up()

    def _feed(self, data: bytes) -> None:
        """Let the protocol have a whole frame, or whatever comes once the connection is closing."""
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._process(event)
        self._flush()

    def _process(self, frame: Frame) -> None:
        """Take one frame that the protocol has checked."""
        if frame.opcode is Opcode.PING:
            self._count_pong(len(frame.data))
        elif frame.opcode not in _DATA:
            return
        elif frame.opcode is Opcode.BINARY:
            self._fail(CloseCode.UNSUPPORTED_DATA, "text frames only")
        elif frame.fin and not self._fragments:
            self._deliver(bytes(frame.data))
        elif len(self._fragments) >= MAX_FRAGMENTS:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
        else:
            self._fragments.append(bytes(frame.data))
            if frame.fin:
                message = b"".join(self._fragments)
                self._fragments.clear()
                self._deliver(message)

    def _deliver(self, message: bytes) -> None:
        """Hand a message on, if it is a text."""
        if not message.isascii():
            try:
                message.decode()
            except UnicodeDecodeError:
                self._fail(CloseCode.INVALID_DATA, "text frames are UTF-8")
                return
        if self._receiver is not None:
            self._receiver.received(message)

    def _count_pong(self, size: int) -> None:
        """Cut off one who lets too many answers to its pings wait."""
        if self._transport is None or not self._transport.get_write_buffer_size():
            self._unsent_pongs = 0
        self._unsent_pongs += size + 2
        if self._unsent_pongs > MAX_UNSENT_PONGS:
            self.abort()

    def _fail(self, code: CloseCode, reason: str) -> None:
        """Close at once for what the protocol does not know."""
        self._protocol.fail(code, reason)
        self._flush()

    def _flush(self) -> None:
        """Write what the protocol has to say, and take note of where that leaves the connection."""
        for data in self._protocol.data_to_send():
            if data:
                self._write(data)
            else:
                self._hang_up()
        was_open, self.is_open = self.is_open, self._protocol.state is State.OPEN
        if was_open and not self.is_open:
            self._set_deadline(self._limits.close_seconds)

    def _close_silent(self) -> None:
        """Close on a peer that has not said who it is in time, or whose request has not come."""
        if self._is_taking():
            self._set_deadline(self._limits.hello_seconds, self._close_silent)
        elif self._rest and not self._is_answered:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "This request did not come in time.")
        else:
            self.close(CloseCode.POLICY_VIOLATION, "no hello", within=self._limits.hello_seconds / 5)
