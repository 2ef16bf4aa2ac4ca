"""One peer's end: what it plays and watches, its next message, and an outbox that never waits for it.

Whole frames go straight to the transport, so that one encoded state serves every receiver. A peer that reads too
slowly is sent the newest state of each room only, and is cut off when it does not catch up. What comes in is handed
to the one task that serves the connection, without the layers that the library has for streaming large messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Final

from websockets.asyncio.server import ServerConnection
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import Event, State

from tictactoe_protocol import encode
from tictactoe_protocol.pushes import Push
from tictactoe_server.rate_limit import RateLimit
from tictactoe_server.rooms import Player

try:
    from websockets.speedups import apply_mask
except ImportError:  # the library was built without its C extension
    from websockets.utils import apply_mask

if TYPE_CHECKING:
    from tictactoe_server.live_room import LiveRoom

INBOX_MESSAGES: Final = 8
"""How many messages may wait for their turn before the peer is no longer read from."""

MAX_FRAGMENTS: Final = 64
"""Of how many frames one message may consist."""

CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000
"""How many lines a connection may say in how long."""

ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000
"""How many positions a connection may have analysed in how long."""

_SMALL_HEADER_BYTES: Final = 6
_DATA: Final = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})


def encode_frame(message: Push) -> bytes:
    """Return a message as the bytes of one WebSocket text frame from a server, the same for every receiver.

    Source: RFC 6455, section 5.2: FIN and the opcode for text, then the length in 7, 16 or 64 bits, no mask.
    """
    payload = encode(message)
    length = len(payload)
    if length < 126:
        return b"\x81%c%b" % (length, payload)
    if length < 65536:
        return b"\x81\x7e%b%b" % (length.to_bytes(2), payload)
    return b"\x81\x7f%b%b" % (length.to_bytes(8), payload)


class Connection(ServerConnection):
    """A WebSocket connection of the library's, with the player behind it and the rooms that it is attached to.

    `player` is None until hello; `rooms` maps codes to the live rooms in which this connection plays or watches;
    `closing` keeps the task that closes the connection, if the server itself decided so. One that has not caught up
    `catch_up_seconds` after the write limit was passed is cut off, as is one for whom more than `held_bytes` wait
    beside the states.
    It rests on asyncio's own flow control (the transport calls `pause_writing` past the high-water mark), and on
    `process_event`, with which the library hands over each frame.
    """

    player: Player | None = None
    closing: asyncio.Task[None] | None = None
    _cut: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: object, catch_up_seconds: float, held_bytes: int, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self._catch_up_seconds = catch_up_seconds
        self._held_bytes = held_bytes
        self.rooms: dict[str, LiveRoom] = {}
        self.chat_limit = RateLimit(CHAT_LINES, CHAT_MS)
        self.analysis_limit = RateLimit(ANALYSES, ANALYSES_MS)
        self._newest: dict[str, bytes] = {}
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._inbox: deque[bytes] = deque()
        self._fragments: list[bytes] = []
        self._reader: asyncio.Future[None] | None = None

    async def next_message(self) -> bytes | None:
        """Return the next text message as it came, not yet known to be UTF-8, or None at the end of the connection.

        One task may wait at a time.
        """
        while not self._inbox:
            if self.protocol.state is not State.OPEN:
                return None
            self._reader = self.loop.create_future()
            await self._reader
        message = self._inbox.popleft()
        if len(self._inbox) == INBOX_MESSAGES:
            self.transport.resume_reading()
        return message

    def data_received(self, data: bytes) -> None:
        """Take bytes from the transport; one small whole text frame, the common case, by the shortest way.

        Source: RFC 6455, section 5.2: FIN and the opcode for text, the mask bit and a length below 126, four bytes of
        mask. Everything else, and whatever follows an unfinished frame, is the library's.
        """
        length = len(data) - _SMALL_HEADER_BYTES
        if (
            0 < length < 126
            and data[0] == 0x81
            and data[1] == 0x80 | length
            and self.protocol.state is State.OPEN
            and not self.protocol.reader.buffer
            and not self._fragments
        ):
            self._deliver(apply_mask(data[_SMALL_HEADER_BYTES:], data[2:_SMALL_HEADER_BYTES]))
        else:
            super().data_received(data)

    def process_event(self, event: Event) -> None:
        """Take one frame from the library: data goes to the inbox, the rest is the library's."""
        if not isinstance(event, Frame) or event.opcode not in _DATA:
            super().process_event(event)
            return
        if event.opcode is Opcode.BINARY:
            self._fail(CloseCode.UNSUPPORTED_DATA, "text frames only")
        elif event.fin and not self._fragments:
            self._deliver(bytes(event.data))
        elif len(self._fragments) >= MAX_FRAGMENTS:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "too many fragments")
        else:
            self._fragments.append(bytes(event.data))
            if event.fin:
                self._deliver(b"".join(self._fragments))
                self._fragments.clear()

    def push(self, message: Push) -> None:
        """Send one message; it is never dropped, except with the connection."""
        self.push_frame(encode_frame(message))

    def push_frame(self, frame: bytes) -> None:
        """Send one message that is encoded already; it is never dropped, except with the connection."""
        if self._cut is not None:
            self._waiting.append(frame)
            self._waiting_bytes += len(frame)
            if self._waiting_bytes > self._held_bytes:
                self._cut_off()
        elif self.protocol.state is State.OPEN:
            self.transport.write(frame)

    def push_state(self, room: str, frame: bytes) -> None:
        """Send a room's state, or keep it as that room's newest while the peer lags."""
        if self._cut is not None:
            self._newest[room] = frame
        elif self.protocol.state is State.OPEN:
            self.transport.write(frame)

    def pause_writing(self) -> None:
        """Begin to hold frames back; called by the transport when its buffer passes its limit."""
        super().pause_writing()
        self._cut = self.loop.call_later(self._catch_up_seconds, self._cut_off)

    def resume_writing(self) -> None:
        """Send what was held back; called by the transport when its buffer has drained."""
        super().resume_writing()
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        held = [*self._waiting, *self._newest.values()]
        self._waiting.clear()
        self._waiting_bytes = 0
        self._newest.clear()
        if held and self.protocol.state is State.OPEN:
            self.transport.write(b"".join(held))

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of what was held back for the peer."""
        super().connection_lost(exc)
        if self._cut is not None:
            self._cut.cancel()
        self._waiting.clear()
        self._newest.clear()
        self._wake()

    def _deliver(self, message: bytes) -> None:
        self._inbox.append(message)
        if len(self._inbox) == INBOX_MESSAGES + 1:
            self.transport.pause_reading()
        self._wake()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _fail(self, code: CloseCode, reason: str) -> None:
        """Close at once for what the protocol does not know."""
        self.protocol.fail(code, reason)
        self.send_data()

    def _cut_off(self) -> None:
        self.logger.info("cut off: the peer does not read")
        self.transport.abort()
