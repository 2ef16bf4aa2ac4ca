"""The public API: rooms and games as JSON, once or as a stream; see `docs/reference/http.md`.

The reply for a private room is the same as for a room that does not exist. Streams are JSON lines, one for each state
of a room, a tournament or the list of rooms. They never delay a move: changes are polled ten times a second, and sent
at once only if a room's seats or its result change. A slow reader gets only the newest state, and a reader that stops
reading is disconnected.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from tictactoe_engine.records import format_record
from tictactoe_protocol import MAX_LISTED_ROOMS, ErrorCode, encode
from tictactoe_protocol.pushes import Closed, ListedRoom, RoomSummary
from tictactoe_server import clock
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.indexes import LIST_SECONDS
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.features.feature import Feature
from tictactoe_server.play.checks import find_public
from tictactoe_server.play.history import find_by_id
from tictactoe_server.rooms.finished import played_game, record_of
from tictactoe_server.rooms.room import Refused
from tictactoe_server.transport import http_messages
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.http_connection import HttpConnection
from tictactoe_server.transport.rate_limit import Quota

LOOK_SECONDS: Final = 0.1
_UNBUFFERED: Final = (("X-Accel-Buffering", "no"),)  # disables the buffering of nginx
_RETRY_MS: Final = 10_000


class Stream(Struct, eq=False):
    """A stream of the states of a room, a tournament or the list of rooms, and its readers.

    Attributes:
        newest: Returns the number of the newest state, and whether this state is the last one.
        state: Returns the newest state, encoded.
        seq: The number of the state that was sent last, or -1.
    """

    newest: Callable[[], tuple[int, bool]]
    state: Callable[[], bytes]
    seq: int = -1
    readers: set[HttpConnection] = set()


class Streams(Service):
    """All streams that have readers, by code. Every address can read only a limited number of streams at once."""

    def __init__(self, core: Core) -> None:
        self.by_code: dict[str, Stream] = {}
        self._is_sending = False
        self._on_change = core.rooms.on_change
        self._scheduler = core.scheduler
        self._allowances = core.allowances
        self._most_readers = core.limits.watchers_per_room
        self.of_address = Quota(core.limits, "streams-per-address")
        core.hooks.streams.append(lambda request, code, *source: self.answer(request, code, Stream(*source)))

    def answer(self, request: http_messages.HttpRequest, code: str, unread: Stream) -> http_messages.HttpResponse:
        """Return a response that adds the connection to the readers of the stream with this code; may raise `Refused`.

        `unread` is a new stream, which is used if the code has no stream with readers yet.
        """
        if request.method == "HEAD":
            return http_messages.HttpResponse(HTTPStatus.OK, b"", http_messages.JSON_LINES)
        key, stream = key_of(request.address), self.by_code.get(code)
        self._allowances.check_held((self.of_address, key), retry_ms=_RETRY_MS)
        is_full = stream is not None and 0 < self._most_readers <= len(stream.readers)
        self._allowances.refuse_for(_RETRY_MS if is_full else 0, "watchers-per-room")
        return http_messages.HttpStream(
            HTTPStatus.OK, b"", http_messages.JSON_LINES, _UNBUFFERED, begin=partial(self._begin, key, code, unread)
        )

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
            self._on_change.add(self._send_changed)
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
        else:
            self._on_change.remove(self._send_changed)

    def _send_changed(self, live: LiveRoom) -> None:
        self.send_newest(live.room.code)

    def _send_all(self) -> None:
        for code in self.by_code:
            self._scheduler.soon(partial(self.send_newest, code))
        self._scheduler.soon(self._send_later)


MAX_ID: Final = 40  # how many characters of an unknown id the refusal repeats
_ROOMS_SECONDS: Final = 1.0  # between updates in the stream of rooms
_CLOCK_MS: Final = 1_000  # the largest drift of the machine's clock that is ignored


class PublicRoom(ListedRoom, frozen=True, omit_defaults=True):
    """A public room in a `RoomList`; `opened` is the time of its creation (ms since 1970), which never changes."""

    opened: int
    analysis: str | UnsetType = UNSET


class RoomList(Struct, frozen=True):
    """The newest public rooms, newest first."""

    rooms: tuple[PublicRoom, ...]


class Api(Service):
    """Serves public rooms and finished games as JSON, and streams of rooms."""

    def __init__(self, core: Core, streams: Streams) -> None:
        self._streams = streams
        self.routes = {
            r"/api/openapi\.json": lambda request: http_messages.HttpResponse(
                HTTPStatus.OK, self._document, http_messages.JSON
            ),
            "/api/rooms": lambda request: http_messages.HttpResponse(HTTPStatus.OK, self._rooms(), http_messages.JSON),
            "/api/lobby/stream": self.stream_rooms,
            "/api/rooms/([^/]+)": self.show_room,
            "/api/rooms/([^/]+)/stream": self.stream_room,
            r"/api/games/([\w-]+)(\.txt)?": self.show_game,
        }
        self._core = core
        self._document = Path(__file__).with_name("openapi.json").read_bytes()
        self._made, self._began = (b"", -1, 0.0), 0
        core.rooms.on_close.add(self._on_gone)

    def stream_rooms(self, request: http_messages.HttpRequest) -> http_messages.Reply:
        """Stream the list of public rooms, with an update after changes, at most once a second."""
        newest_seen = (self._core.lobby.changes, clock.monotonic())

        def newest() -> tuple[int, bool]:
            nonlocal newest_seen
            if newest_seen[1] + _ROOMS_SECONDS < (now := clock.monotonic()):
                newest_seen = self._core.lobby.changes, now
            return newest_seen[0], False

        return self._streams.answer(request, "rooms", Stream(newest, self._rooms))

    async def show_room(self, request: http_messages.HttpRequest, text: str) -> http_messages.Reply:
        state = await find_public(self._core, request, text)
        return http_messages.answer_json(self._core.names.public(state), f"{state.room}-{state.seq}")

    async def stream_room(self, request: http_messages.HttpRequest, text: str) -> http_messages.Reply:
        """Stream the states of a public room, or redirect to the server that has the room."""
        code = (await find_public(self._core, request, text)).room
        try:
            live = await self._core.rooms.find(code)
        except Refused as refused:
            if refused.url is None:
                raise
            return http_messages.lead_to(refused.url, f"/api/rooms/{code}/stream")

        def state() -> bytes:
            if live.is_gone:
                return encode(closing_notice(code, "moved", room=code, at=live.moved_to))
            return encode(self._core.names.public(live.state(self._core.time())))

        stream = Stream(lambda: (live.room.seq + live.is_gone, live.is_gone), state)
        return self._streams.answer(request, code, stream)

    async def show_game(self, request: http_messages.HttpRequest, id: str, form: str | None) -> http_messages.Reply:
        self._core.allowances.check_page_misses(request.address)
        game = await find_by_id(self._core.store.games, id)
        if game is None or not game.public:
            raise Refused(ErrorCode.NOT_ALLOWED, "public game", game=id[:MAX_ID])
        game = self._core.names.public(game)
        return format_record(record_of(game)).splitlines() if form else http_messages.answer_json(played_game(game), id)

    def _rooms(self) -> bytes:
        """Return the encoded `RoomList`.

        It comes from a cache if it is not older than `LIST_SECONDS` and the lobby has not changed since.
        """
        lobby, now = self._core.lobby, clock.monotonic()
        body, changes, made_at = self._made
        if changes != lobby.changes or made_at + LIST_SECONDS < now:
            served, moment = self._core.time(), clock.wall_ms()
            if abs(moment - served - self._began) > _CLOCK_MS:
                self._began = moment - served
            rows = (self._core.names.public(live.summary(served)) for live in lobby.newest()[:MAX_LISTED_ROOMS])
            body = encode(RoomList(tuple(_public_room(row, self._began + served) for row in rows)))
            self._made = body, lobby.changes, now
        return body

    def _on_gone(self, live: LiveRoom, why: Closed) -> None:
        stream = self._streams.by_code.get(live.room.code)
        if stream is not None:
            stream.state = lambda: encode(why)
            self._streams.send_newest(live.room.code)


def _public_room(row: RoomSummary, now: int) -> PublicRoom:
    shared = {name: getattr(row, name) for name in PublicRoom.__struct_fields__ if name != "opened"}
    return PublicRoom(**shared, opened=now - row.age_ms)


FEATURE: Final = Feature(make=lambda parts: [streams := Streams(parts.core), Api(parts.core, streams)])
