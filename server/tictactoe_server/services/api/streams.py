"""Streams of states in plain HTTP, a line each: of rooms and events that somebody reads.

Nothing of it is on the way of a move: what is read is looked at ten times a second, and at once where a game ends.
Whoever reads slowly gets the newest state alone, and a connection that takes nothing is cut off as any other.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final

from tictactoe_protocol import encode
from tictactoe_server.core.live_room import LiveRoom, closed
from tictactoe_server.services.events.kept import KeptEvents
from tictactoe_server.services.events.texts import whole_of
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.http_messages import (
    HttpRequest,
    HttpResponse,
    HttpStream,
    LineReader,
    say_too_many,
)
from tictactoe_server.transport.rate_limit import Held

LINES: Final = "application/x-ndjson"
LOOK_SECONDS: Final = 0.1
_UNBUFFERED: Final = (("X-Accel-Buffering", "no"),)  # said to nginx, which would gather some lines first
_RETRY_MS: Final = 10_000
_LIMIT: Final = "streams-per-address"


class Source(ABC):
    """Something whose states are read; `seq` is that of the one that its `readers` were sent last."""

    seq = -1

    def __init__(self) -> None:
        self.readers: set[LineReader] = set()

    @abstractmethod
    def newest(self) -> int | None:
        """Return the `seq` of its newest state, None once there will be no other."""

    @abstractmethod
    def state(self) -> bytes:
        """Return its newest state, encoded."""

    @abstractmethod
    def end(self) -> bytes:
        """Return what its readers are told at the end."""


class RoomSource(Source):
    """A public room. `now` returns ms of served time."""

    def __init__(self, live: LiveRoom, now: Callable[[], int]) -> None:
        super().__init__()
        self._live = live
        self._now = now
        self.why = b""

    def newest(self) -> int | None:
        return None if self._live.is_gone else self._live.room.seq

    def state(self) -> bytes:
        return encode(self._live.state(self._now()))

    def end(self) -> bytes:
        code, url = self._live.room.code, self._live.moved_to
        return self.why or encode(closed(code, "moved", room=code, at=url))


class EventSource(Source):
    """An event, whole, until it is over."""

    def __init__(self, kept: KeptEvents, code: str) -> None:
        super().__init__()
        self._kept = kept
        self._code = code

    def newest(self) -> int | None:
        event = self._kept.known(self._code)
        return None if event is None or (event.is_over and self.seq == event.seq) else event.seq

    def state(self) -> bytes:
        event = self._kept.known(self._code)
        return b"" if event is None else encode(whole_of(event))

    def end(self) -> bytes:
        return b""


class Streams:
    """All sources that are read, by their codes; each address may read so many at a time."""

    def __init__(self, limits: Limits, limited: Counter[str]) -> None:
        self._limits = limits
        self._limited = limited
        self._sources: dict[str, Source] = {}
        self._due: asyncio.TimerHandle | None = None
        self.of_address = Held()

    def of(self, code: str) -> Source | None:
        """Return a source that is read, or None."""
        return self._sources.get(code)

    def answer(self, request: HttpRequest, code: str, make: Callable[[], Source]) -> HttpResponse:
        """Return the stream of a source, which is made where nobody reads it yet, or that it is one too many."""
        if request.method == "HEAD":
            return HttpResponse(HTTPStatus.OK, b"", LINES)
        key, source = key_of(request.address), self._sources.get(code)
        if 0 < self._limits.streams_per_address <= self.of_address.count(key):
            self._limited[_LIMIT] += 1
            return say_too_many(_RETRY_MS)
        if source is not None and 0 < self._limits.watchers_per_room <= len(source.readers):
            self._limited["watchers-per-room"] += 1
            return say_too_many(_RETRY_MS)
        return HttpStream(HTTPStatus.OK, b"", LINES, _UNBUFFERED, begin=partial(self._begin, key, code, make))

    def look_at(self, code: str) -> None:
        """Send the newest state of a source to its readers, if they were not sent it yet."""
        source = self._sources.get(code)
        if source is None:
            return
        seq = source.newest()
        if seq is None:
            self._end(code, source)
        elif seq != source.seq:
            source.seq = seq
            line = source.state() + b"\n"
            for reader in source.readers:
                reader.push_line(line)

    def close(self) -> None:
        if self._due is not None:
            self._due.cancel()

    def _begin(self, key: str, code: str, make: Callable[[], Source], reader: LineReader) -> Callable[[], None]:
        source = self._sources.get(code) or make()
        self._sources[code] = source
        source.readers.add(reader)
        self.of_address.add(key, reader)
        if source.newest() == source.seq:
            reader.push_line(source.state() + b"\n")
        else:
            self.look_at(code)
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        return partial(self._stop, key, code, source, reader)

    def _stop(self, key: str, code: str, source: Source, reader: LineReader) -> None:
        source.readers.discard(reader)
        self.of_address.discard(key, reader)
        if not source.readers and self._sources.get(code) is source:
            del self._sources[code]

    def _look(self) -> None:
        self._due = None
        for code in [*self._sources]:
            self.look_at(code)
        if self._sources:
            self._due = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def _end(self, code: str, source: Source) -> None:
        del self._sources[code]
        for reader in [*source.readers]:
            reader.end_lines(source.end() + b"\n")
