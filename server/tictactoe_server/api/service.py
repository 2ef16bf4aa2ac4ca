"""The public API: rooms, games and events as JSON, once or as a stream; see `docs/api.md`.

A private room is answered like a missing one. Streams delay no move: changes are polled ten times a second, and sent
at once when a game ends. A slow reader gets only the newest state, and one that stops reading is disconnected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from tictactoe_engine.records import format_record
from tictactoe_protocol import MAX_LISTED_ROOMS, ErrorCode, encode
from tictactoe_protocol.events import EventSummary
from tictactoe_protocol.pushes import Closed, ListedRoom, RoomSummary
from tictactoe_server import clock
from tictactoe_server.agenda import Agenda
from tictactoe_server.core.core import Core, Reply, Service
from tictactoe_server.core.live_room import LiveRoom, closed
from tictactoe_server.events.event import Event
from tictactoe_server.events.service import Tournaments
from tictactoe_server.listings.lobby import LIST_SECONDS
from tictactoe_server.people.limits import Limiting
from tictactoe_server.rooms import Refused
from tictactoe_server.rooms.finished import played_game, record_of
from tictactoe_server.services.checks import find_public
from tictactoe_server.services.history import find_by_id
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import key_of
from tictactoe_server.transport.http_connection import HttpConnection
from tictactoe_server.transport.http_messages import (
    JSON,
    JSON_LINES,
    HttpRequest,
    HttpResponse,
    HttpStream,
    answer_json,
    lead_to,
)
from tictactoe_server.transport.rate_limit import Held

MAX_ID: Final = 40  # characters of an unknown id that are repeated in the refusal
LOOK_SECONDS: Final = 0.1
_UNBUFFERED: Final = (("X-Accel-Buffering", "no"),)  # disables the buffering of nginx
_RETRY_MS: Final = 10_000
_ROOMS_SECONDS: Final = 1.0  # between updates of the stream of rooms
_CLOCK_MS: Final = 1_000  # drift of the machine's clock that is ignored


class PublicRoom(ListedRoom, frozen=True, omit_defaults=True):
    """A public room as in `rooms`; `opened` is the time of its creation (ms since 1970), and never changes."""

    opened: int
    analysis: str | UnsetType = UNSET


class RoomList(Struct, frozen=True):
    """The public rooms, newest first."""

    rooms: tuple[PublicRoom, ...]


class EventList(Struct, frozen=True):
    """The unfinished events that are open to all, newest first."""

    events: tuple[EventSummary, ...]


class Stream(Struct, eq=False):
    """A stream with readers.

    Attributes:
        newest: Returns the number of the newest state, and whether it is the last one.
        state: Returns the newest state, encoded.
        seq: Number of the state that was last sent.
    """

    newest: Callable[[], tuple[int, bool]]
    state: Callable[[], bytes]
    seq: int = -1
    readers: set[HttpConnection] = set()


class Streams(Limiting):
    """The streams with readers, by code; the number of streams of one address is limited."""

    def __init__(self, limits: Limits, limited: Counter[str], agenda: Agenda) -> None:
        super().__init__(limits, limited)
        self.by_code: dict[str, Stream] = {}
        self._agenda = agenda
        self._is_sending = False
        self.of_address = Held(limits, "streams-per-address")

    def answer(self, request: HttpRequest, code: str, unread: Stream) -> HttpResponse:
        """Return the stream of a code, or the new stream `unread` if it has no readers yet; raises `Refused`."""
        if request.method == "HEAD":
            return HttpResponse(HTTPStatus.OK, b"", JSON_LINES)
        key, stream = key_of(request.address), self.by_code.get(code)
        self.check_held(self.of_address, key, _RETRY_MS)
        is_full = stream is not None and 0 < self._limits.watchers_per_room <= len(stream.readers)
        self.refuse_for(_RETRY_MS if is_full else 0, "watchers-per-room")
        return HttpStream(HTTPStatus.OK, b"", JSON_LINES, _UNBUFFERED, begin=partial(self._begin, key, code, unread))

    def send_newest(self, code: str) -> None:
        """Send the newest state to a stream's readers, unless they have it."""
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
            self._agenda.after(LOOK_SECONDS, self._send_all)

    def _send_all(self) -> None:
        for code in self.by_code:
            self._agenda.soon(partial(self.send_newest, code))
        self._agenda.soon(self._send_later)


class Api(Service):
    """Serves public rooms, finished games and events, and streams of their states."""

    def __init__(self, tournaments: Tournaments) -> None:
        self._tournaments = tournaments
        self.routes = {
            r"/api/openapi\.json": lambda request: HttpResponse(HTTPStatus.OK, self._document, JSON),
            "/api/rooms": lambda request: HttpResponse(HTTPStatus.OK, self._rooms(), JSON),
            "/api/lobby/stream": self.stream_rooms,
            "/api/rooms/([^/]+)": self.show_room,
            "/api/rooms/([^/]+)/stream": self.stream_room,
            "/api/events": self.list_events,
            "/api/events/([^/]+)": lambda request, text: tournaments.texts.export(request, text, "json"),
            "/api/events/([^/]+)/stream": self.stream_event,
            "/api/events/([^/]+)/games": lambda request, text: tournaments.texts.export(request, text, "games"),
            r"/api/games/([\w-]+)(\.txt)?": self.show_game,
        }

    def start(self, core: Core) -> None:
        self._core = core
        self._document = Path(__file__).with_name("openapi.json").read_bytes()
        self._made, self._began = (b"", -1, 0.0), 0
        self.streams = Streams(core.limits, core.tally.limited, core.agenda)
        core.on_room(lambda live, before: self.streams.send_newest(live.room.code))
        core.changes.on_gone.add(self._hear_end)

    def stream_rooms(self, request: HttpRequest) -> Reply:
        """Stream the public rooms, at most once a second, when they have changed."""
        told = (self._core.lobby.changes, clock.monotonic())

        def newest() -> tuple[int, bool]:
            nonlocal told
            if told[1] + _ROOMS_SECONDS < (now := clock.monotonic()):
                told = self._core.lobby.changes, now
            return told[0], False

        return self.streams.answer(request, "rooms", Stream(newest, self._rooms))

    async def show_room(self, request: HttpRequest, text: str) -> Reply:
        state = await find_public(self._core, request, text)
        return answer_json(self._core.additions.public(state), f"{state.room}-{state.seq}")

    async def stream_room(self, request: HttpRequest, text: str) -> Reply:
        """Stream a public room's states, or redirect to the server that has the room."""
        code = (await find_public(self._core, request, text)).room
        try:
            live = await self._core.registry.find(code)
        except Refused as refused:
            if refused.url is None:
                raise
            return lead_to(refused.url, f"/api/rooms/{code}/stream")

        def state() -> bytes:
            if live.is_gone:
                return encode(closed(code, "moved", room=code, at=live.moved_to))
            return encode(self._core.additions.public(live.state(self._core.time())))

        return self.streams.answer(request, code, Stream(lambda: (live.room.seq + live.is_gone, live.is_gone), state))

    async def show_game(self, request: HttpRequest, id: str, form: str | None) -> Reply:
        self._core.allowances.check_page_misses(request.address)
        game = await find_by_id(self._core.store.games, id)
        if game is None or not game.public:
            raise Refused(ErrorCode.NOT_ALLOWED, "public game", game=id[:MAX_ID])
        game = self._core.additions.public(game)
        return format_record(record_of(game)).splitlines() if form else answer_json(played_game(game), id)

    async def list_events(self, request: HttpRequest) -> Reply:
        await self._tournaments.kept.restored.wait()
        return answer_json(EventList(self._tournaments.listed()))

    async def stream_event(self, request: HttpRequest, text: str) -> Reply:
        texts, known = self._tournaments.texts, self._tournaments.kept.known
        found = await texts.find(request, text)

        def newest() -> Event:
            return texts.shown_to(request, texts.settle(known(found.code) or found))

        stream = Stream(
            lambda: (newest().seq, newest().is_over),
            lambda: texts.with_attendance(newest(), texts.make(newest(), "json")[1]),
        )
        sight = "outside" if found.is_for_outsiders else "inside"
        return self.streams.answer(request, f"event {found.code} {sight}", stream)

    def _rooms(self) -> bytes:
        """Return the encoded public rooms, cached for a tenth of a second unless players joined or left."""
        lobby, now = self._core.lobby, clock.monotonic()
        body, changes, made_at = self._made
        if changes != lobby.changes or made_at + LIST_SECONDS < now:
            served, moment = self._core.time(), clock.wall_ms()
            if abs(moment - served - self._began) > _CLOCK_MS:
                self._began = moment - served
            rows = (self._core.additions.public(live.summary(served)) for live in lobby.newest()[:MAX_LISTED_ROOMS])
            body = encode(RoomList(tuple(_public_room(row, self._began + served) for row in rows)))
            self._made = body, lobby.changes, now
        return body

    def _hear_end(self, live: LiveRoom, why: Closed) -> None:
        stream = self.streams.by_code.get(live.room.code)
        if stream is not None:
            stream.state = lambda: encode(why)
            self.streams.send_newest(live.room.code)


def _public_room(row: RoomSummary, now: int) -> PublicRoom:
    shared = {name: getattr(row, name) for name in PublicRoom.__struct_fields__ if name != "opened"}
    return PublicRoom(**shared, opened=now - row.age_ms)
