"""Streams of states in plain HTTP, a line each: of rooms and events that somebody reads.

Nothing of it is on the way of a move: what is read is looked at ten times a second, as there is time for it, and at
once where a game ends. Who reads slowly gets the newest state alone, and a connection that takes nothing is cut off.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final

from tictactoe_server.agenda import Agenda
from tictactoe_server.people.limits import Limiting
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.http_messages import JSON_LINES, HttpRequest, HttpResponse, HttpStream, LineReader
from tictactoe_server.transport.rate_limit import Held

LOOK_SECONDS: Final = 0.1
_UNBUFFERED: Final = (("X-Accel-Buffering", "no"),)  # said to nginx, which would gather some lines first
_RETRY_MS: Final = 10_000


class Source:
    """Something whose states are read: `newest` returns the number of the newest one, and whether it is the last.

    `state` returns that one encoded; its `readers` were last sent the one with the number `seq`.
    """

    def __init__(self, newest: Callable[[], tuple[int, bool]], state: Callable[[], bytes]) -> None:
        self.newest = newest
        self.state = state
        self.seq = -1
        self.readers: set[LineReader] = set()


class Streams(Limiting):
    """All sources that are read, by their codes; each address may read so many at a time."""

    def __init__(self, limits: Limits, limited: Counter[str], agenda: Agenda) -> None:
        super().__init__(limits, limited)
        self._sources: dict[str, Source] = {}
        self._agenda = agenda
        self._is_looking = False
        self.of_address = Held(limits, "streams-per-address")

    def of(self, code: str) -> Source | None:
        """Return a source that is read, or None."""
        return self._sources.get(code)

    def answer(self, request: HttpRequest, code: str, unread: Source) -> HttpResponse:
        """Return the stream of a source, of `unread` where nobody reads it yet; raises `Refused` for one too many."""
        if request.method == "HEAD":
            return HttpResponse(HTTPStatus.OK, b"", JSON_LINES)
        key, source = key_of(request.address), self._sources.get(code)
        self.check_held(self.of_address, key, _RETRY_MS)
        is_full = source is not None and 0 < self._limits.watchers_per_room <= len(source.readers)
        self.refuse_for(_RETRY_MS if is_full else 0, "watchers-per-room")
        return HttpStream(HTTPStatus.OK, b"", JSON_LINES, _UNBUFFERED, begin=partial(self._begin, key, code, unread))

    def look_at(self, code: str) -> None:
        """Send the newest state of a source to its readers, if they were not sent it yet."""
        source = self._sources.get(code)
        if source is None:
            return
        seq, is_last = source.newest()
        if seq != source.seq:
            source.seq, line = seq, source.state() + b"\n"
            for reader in source.readers:
                reader.push_line(line)
        if is_last:
            del self._sources[code]
            for reader in [*source.readers]:
                reader.end_lines()

    def _begin(self, key: str, code: str, unread: Source, reader: LineReader) -> Callable[[], None]:
        source = self._sources.get(code) or unread
        self._sources[code] = source
        source.readers.add(reader)
        self.of_address.add(key, reader)
        if source.newest()[0] == source.seq:
            reader.push_line(source.state() + b"\n")
        else:
            self.look_at(code)
        if not self._is_looking:
            self._look_later()
        return partial(self._stop, key, code, source, reader)

    def _stop(self, key: str, code: str, source: Source, reader: LineReader) -> None:
        source.readers.discard(reader)
        self.of_address.discard(key, reader)
        if not source.readers and self._sources.get(code) is source:
            del self._sources[code]

    def _look_later(self) -> None:
        self._is_looking = bool(self._sources)
        if self._is_looking:
            self._agenda.at(asyncio.get_running_loop().time() + LOOK_SECONDS, self._look)

    def _look(self) -> None:
        for code in self._sources:
            self._agenda.soon(partial(self.look_at, code))
        self._agenda.soon(self._look_later)
