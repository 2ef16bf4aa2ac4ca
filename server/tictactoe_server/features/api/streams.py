"""Streams over plain HTTP: JSON lines, one for each state of a room, a tournament or the list of rooms.

Streams never delay a move: changes are polled ten times a second, and sent at once only if a room's seats or its result
change. A slow reader gets only the newest state, and a reader that stops reading is disconnected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final

from msgspec import Struct

from tictactoe_server.core.core import Core, Service
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.http_connection import HttpConnection
from tictactoe_server.transport.http_messages import JSON_LINES, HttpRequest, HttpResponse, HttpStream
from tictactoe_server.transport.rate_limit import Held

LOOK_SECONDS: Final = 0.1
_UNBUFFERED: Final = (("X-Accel-Buffering", "no"),)  # disables the buffering of nginx
_RETRY_MS: Final = 10_000


class Stream(Struct, eq=False):
    """A stream of the states of a room, a tournament or the list of rooms, and its readers.

    Attributes:
        newest: Returns the number of the newest state, and whether this state is the last one.
        state: Returns the newest state, encoded.
        seq: The number of the state that was sent last, or -1.
        readers: The connections that receive the stream.
    """

    newest: Callable[[], tuple[int, bool]]
    state: Callable[[], bytes]
    seq: int = -1
    readers: set[HttpConnection] = set()


class Streams(Service):
    """All streams that have readers, by code. Every address can read only a limited number of streams at once."""

    def __init__(self) -> None:
        self.by_code: dict[str, Stream] = {}
        self._is_sending = False

    def start(self, core: Core) -> None:
        self._scheduler = core.scheduler
        self._allowances = core.allowances
        self._most_readers = core.limits.watchers_per_room
        self.of_address = Held(core.limits, "streams-per-address")
        core.hooks.streams.append(lambda request, code, *source: self.answer(request, code, Stream(*source)))

    def answer(self, request: HttpRequest, code: str, unread: Stream) -> HttpResponse:
        """Return a response that adds the connection to the readers of the stream with this code; may raise `Refused`.

        `unread` is a new stream, which is used if the code has no stream with readers yet.
        """
        if request.method == "HEAD":
            return HttpResponse(HTTPStatus.OK, b"", JSON_LINES)
        key, stream = key_of(request.address), self.by_code.get(code)
        self._allowances.check_held(self.of_address, key, _RETRY_MS)
        is_full = stream is not None and 0 < self._most_readers <= len(stream.readers)
        self._allowances.refuse_for(_RETRY_MS if is_full else 0, "watchers-per-room")
        return HttpStream(HTTPStatus.OK, b"", JSON_LINES, _UNBUFFERED, begin=partial(self._begin, key, code, unread))

    def send_newest(self, code: str) -> None:
        """Send the newest state to all readers of a stream unless they have it. End the stream after the last state."""
        stream = self.by_code.get(code)
        if stream is None:
            return
        seq, is_last = stream.newest()
        if seq != stream.seq:
            stream.seq, line = seq, stream.state() + b"\n"
            for reader in stream.readers:
                reader.push_line(line)
        if is_last:
            del self.by_code[code]
            for reader in [*stream.readers]:
                reader.end_lines()

    def _begin(self, key: str, code: str, unread: Stream, reader: HttpConnection) -> Callable[[], None]:
        stream = self.by_code.setdefault(code, unread)
        stream.readers.add(reader)
        self.of_address.add(key, reader)
        if stream.newest()[0] == stream.seq:
            reader.push_line(stream.state() + b"\n")
        else:
            self.send_newest(code)
        if not self._is_sending:
            self._send_later()

        def stop() -> None:
            stream.readers.discard(reader)
            self.of_address.discard(key, reader)
            if not stream.readers and self.by_code.get(code) is stream:
                del self.by_code[code]

        return stop

    def _send_later(self) -> None:
        self._is_sending = bool(self.by_code)
        if self._is_sending:
            self._scheduler.after(LOOK_SECONDS, self._send_all)

    def _send_all(self) -> None:
        for code in self.by_code:
            self._scheduler.soon(partial(self.send_newest, code))
        self._scheduler.soon(self._send_later)
