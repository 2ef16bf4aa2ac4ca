"""One peer's socket: messages in, frames out, from its acceptance to its end. It knows no word of what they mean.

The handshake, the closing and whatever is not one small whole text frame are the business of the Sans-I/O protocol of
the `websockets` library, which is fed with whole frames only; the rest is here. A peer that reads too slowly is sent
the newest state of each room only, and is cut off when it does not catch up.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Protocol, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from tictactoe_protocol import MAX_MESSAGE_BYTES, SUBPROTOCOL, CloseCode
from tictactoe_server.settings import Limits
from tictactoe_server.transport import http, proxy
from tictactoe_server.transport.door import Door, canonical
from tictactoe_server.transport.frames import TOO_LONG, end_of_frame
from tictactoe_server.transport.outbox import Outbox

try:
    from websockets.speedups import apply_mask
except ImportError:  # the library was built without its C extension
    from websockets.utils import apply_mask

MAX_FRAGMENTS: Final = 64
"""Of how many frames one message may consist."""

FRAMES_A_TURN: Final = 16
"""How many frames of one connection are taken in one turn of the event loop."""

MAX_UNSENT_PONGS: Final = 64 * 1024
"""How many bytes of pongs may wait for a peer that sends pings and does not read."""

_PING: Final = b"\x89\x00"
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


class Connection(asyncio.Protocol):
    """A WebSocket from the server's side; `accept` makes its receiver once the handshake is done.

    A peer that does not say who it is (`let_in`) within `hello_seconds` of being accepted is closed, and gone a fifth
    of that later whether it answers or not. One that has not caught up `catch_up_seconds` after `outbox_bytes` were
    waiting for it is cut off, as is one for whom as many bytes wait beside the states of rooms. `on_lost` is called at
    the end. `address` is that of the peer, of its client where it is a trusted proxy; empty until it is known.
    """

    __slots__ = (
        "_accept",
        "_deadline",
        "_door",
        "_fragments",
        "_going_on",
        "_has_come",
        "_has_entered",
        "_is_answered",
        "_is_cut_off",
        "_is_paused",
        "_limits",
        "_loop",
        "_on_lost",
        "_outbox",
        "_protocol",
        "_receiver",
        "_rest",
        "_transport",
        "_unanswered",
        "_unsent_pongs",
        "_was_heard",
        "_write",
        "address",
        "is_open",
    )

    def __init__(
        self,
        accept: Callable[[Connection], Receiver],
        on_lost: Callable[[Connection], None],
        door: Door,
        limits: Limits,
    ) -> None:
        """Begin with a connection that was just accepted; with TLS its handshake is still to come."""
        self.is_open = False
        self.address = ""
        self._door = door
        self._has_come = self._has_entered = self._is_paused = False
        self._going_on: asyncio.Handle | None = None
        self._accept = accept
        self._on_lost: Callable[[Connection], None] | None = on_lost
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._protocol = ServerProtocol(
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            select_subprotocol=http.select_subprotocol,
            max_size=MAX_MESSAGE_BYTES,
            logger=_LOGGER,
        )
        self._receiver: Receiver | None = None
        self._transport: asyncio.Transport | None = None
        self._write: Callable[[bytes], None] = _write_nowhere
        self._is_answered = self._is_cut_off = False
        self._rest = b""
        self._fragments: list[bytes] = []
        self._outbox: Outbox | None = None
        self._unsent_pongs = 0
        self._was_heard = True
        self._unanswered = 0
        self._deadline: asyncio.TimerHandle | None = self._loop.call_later(limits.hello_seconds, self._close_silent)

    def arrive(self, address: str) -> bool:
        """Count a peer that was accepted, and tell whether it may come in; with TLS that is before its handshake."""
        self.address, self._has_come = address, True
        return self._door.come() and (self._door.is_proxy(address) or self._enter())

    # -- for whoever has the connection -------------------------------------------------------------------------

    def let_in(self) -> None:
        """Let the peer stay: it has said who it is."""
        self._set_deadline(None)

    def push_frame(self, frame: bytes) -> None:
        """Send one frame; it is never dropped, except with the connection."""
        if self._outbox is None:
            if self.is_open:
                self._write(frame)
            return
        self._outbox.hold(frame)
        if self._outbox.size > self._limits.outbox_bytes:
            self.abort()

    def push_state(self, room: str, frame: bytes) -> None:
        """Send a room's state, or keep it as that room's newest while the peer lags."""
        if self._outbox is not None:
            self._outbox.hold_newest(room, frame)
        elif self.is_open:
            self._write(frame)

    def forget_state(self, room: str) -> None:
        """Do not send the state of a room that is kept while the peer lags: it is no longer for this peer."""
        if self._outbox is not None:
            self._outbox.forget_newest(room)

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

    def abort(self) -> None:
        """Cut the connection off, as soon as there is one."""
        self.is_open = False
        self._is_cut_off = True
        if self._transport is not None:
            self._transport.abort()
        else:  # its handshake of TLS has failed, or has not come about in time
            self._set_deadline(None)
            self._depart()

    def ping(self) -> None:
        """Ask whether the peer is still there, and cut it off where two such questions went unheard; called evenly."""
        self._unanswered = 0 if self._was_heard or self._is_paused else self._unanswered + 1
        self._was_heard = False
        if self._unanswered > 1:
            self.abort()
        elif self.is_open and self._outbox is None:
            self._write(_PING)

    # -- for the event loop -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to talk."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(self._limits.outbox_bytes)
        self._write = self._transport.write
        peer = transport.get_extra_info("peername")
        address = canonical(str(peer[0])) or "" if isinstance(peer, tuple) and peer else ""
        if self._is_cut_off:  # its handshake of TLS took too long
            self._transport.abort()
        elif not (self._has_come or self.arrive(address)):
            self._turn_away()

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

    def eof_received(self) -> None:
        """Take notice that the peer says nothing any more; the transport closes then."""
        self._protocol.receive_eof()
        self._flush()

    def pause_writing(self) -> None:
        """Begin to hold frames back; called by the transport when its buffer passes its limit."""
        self._outbox = Outbox(self._loop.call_later(self._limits.catch_up_seconds, self.abort))

    def resume_writing(self) -> None:
        """Send what was held back; called by the transport when its buffer has drained."""
        held = self._let_go_of_outbox()
        if held and self.is_open:
            self._write(held)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of everything, so that nothing is left for the garbage collector."""
        self.is_open = False
        self._set_deadline(None)
        self._let_go_of_outbox()
        if self._going_on is not None:
            self._going_on.cancel()
            self._going_on = None
        self._protocol.receive_eof()
        self._protocol.parser.close()
        self._transport, self._write = None, _write_nowhere
        receiver, self._receiver = self._receiver, None
        self._depart()
        if receiver is not None:
            receiver.ended()

    # -- inside -------------------------------------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        """Take whatever the short way does not know: whole frames for the protocol, one after the other."""
        if self._rest:
            data, self._rest = self._rest + data, b""
        if not self._is_answered:
            data = self._shake_hands(data)
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
            self._feed(data[start:end])
            start = end
        if start < len(data) and self._receiver is not None:
            self._feed(data[start:])

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
        if not self._is_paused and self._going_on is None and self.is_open and self._transport is not None:
            self._transport.resume_reading()

    def _enter(self) -> bool:
        """Count among those of the address, and tell whether that is not one too many."""
        self._has_entered = self._door.enter(self.address)
        return self._has_entered

    def _turn_away(self) -> None:
        """Say that there are too many, and let go: at once where many of those are here already."""
        self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "Too many connections: try again later.")
        if self._door.may_linger():
            self._set_deadline(_LINGER_SECONDS)
        elif self._transport is not None:
            self._transport.close()

    def _shake_hands(self, data: bytes) -> bytes:
        """Answer the request, once it is whole, and return what came after it."""
        if self._has_entered and proxy.is_one(data):
            self._door.tell_of_stranger(self.address)
        elif not self._has_entered and proxy.begins_like_one(data):
            try:
                found = proxy.read(data)
            except proxy.BadProxyHeader as bad:
                self._refuse(HTTPStatus.BAD_REQUEST, str(bad))
                return b""
            if found is None:
                self._rest = data
                return b""
            self.address = found[0] or self.address
            data = data[found[1] :]
            if not self._enter():
                self._turn_away()
                return b""
            if not data:
                return b""
        head, end, rest = data.partition(b"\r\n\r\n")
        if len(head) > http.MAX_REQUEST_BYTES:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "This request is too long.")
        elif not data[:1].isalpha():
            self._refuse(HTTPStatus.BAD_REQUEST, "This is no HTTP, nor is TLS spoken here.")
        elif not end:
            self._rest = data
        else:
            self._is_answered = True
            self._protocol.receive_data(head + end)
            for event in self._protocol.events_received():
                request = cast(Request, event)
                if not self._knows_speaker(request):
                    return b""
                self._protocol.send_response(http.answer(self._protocol, request, self._door))
            if self._protocol.eof_sent and not any(self._protocol.writes):
                self._refuse(HTTPStatus.BAD_REQUEST, "This is no request that could be answered here.")
            self._flush()
            if self.is_open:
                self._receiver = self._accept(self)
            return rest
        return b""

    def _knows_speaker(self, request: Request) -> bool:
        """Find out for whom a proxy speaks, and tell whether that one may come in."""
        speaker = self._door.speaker(self.address, request.headers.get_all("X-Forwarded-For"))
        if not self._has_entered:
            self.address = speaker
            if not self._enter():
                self._turn_away()
        return self._has_entered

    def _refuse(self, status: HTTPStatus, words: str) -> None:
        """Answer something that the protocol was not even asked about."""
        self._is_answered = True
        self._write(http.refuse(status, words))
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

    def _hang_up(self) -> None:
        """Say nothing any more, and leave the rest of the closing to the peer for a while."""
        self._set_deadline(self._limits.close_seconds)
        if self._transport is None:
            return
        if self._transport.can_write_eof():
            with contextlib.suppress(OSError, RuntimeError):  # the peer was quicker
                self._transport.write_eof()
        else:
            self._transport.close()

    def _close_silent(self) -> None:
        """Close on a peer that has not said who it is in time."""
        self.close(CloseCode.POLICY_VIOLATION, "no hello", within=self._limits.hello_seconds / 5)

    def _set_deadline(self, seconds: float | None) -> None:
        """Cut the connection off after so many seconds, in place of what was due before."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self._loop.call_later(seconds, self.abort)

    def _depart(self) -> None:
        """Count no more, and say so."""
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is None:
            return
        if self._has_entered:
            self._door.leave(self.address)
        if self._has_come:
            self._door.go()
        on_lost(self)

    def _let_go_of_outbox(self) -> bytes:
        """Return what was held back, which is over."""
        outbox, self._outbox = self._outbox, None
        if outbox is None:
            return b""
        outbox.cutting.cancel()
        return outbox.take()


def _write_nowhere(data: bytes) -> None:
    """Take the place of a transport that is gone."""
