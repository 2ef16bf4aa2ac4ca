"""Routes the requests of sessions to the services that handle them, and answers every failure."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping, Set
from functools import partial
from inspect import iscoroutinefunction
from types import coroutine
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_protocol import BadMessage, ErrorCode, parse_room_code
from tictactoe_protocol.codec import RequestDecoder
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.requests import Hello, Join, Leave
from tictactoe_server.clock import monotonic
from tictactoe_server.core.change import Call, Handler, refuse
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.pressure import MANY_BAD, Pressure, Source
from tictactoe_server.core.rooms import Rooms
from tictactoe_server.core.session import Presence, Session
from tictactoe_server.people.allowances import Allowances
from tictactoe_server.rooms.room import Player, Refused
from tictactoe_server.scheduler import Tasks
from tictactoe_server.transport.connection import encode_push

_MISSES: Final = (ErrorCode.NO_SUCH_ROOM, ErrorCode.NOT_IN_ROOM)  # refusals that count as guesses of a room code
BUSY_MS: Final = 500  # the time that clients are asked to wait before they repeat a shed request
_BUSY: Final = Refused(ErrorCode.BUSY, "server", retry_ms=BUSY_MS)
_BUSY_FRAME: Final = encode_push(_BUSY.answer())


class Dispatcher:
    """Routes requests to services. A bad message is answered with an error and does not end the connection."""

    def __init__(
        self,
        rooms: Rooms,
        presence: Presence,
        allowances: Allowances,
        pressure: Pressure,
        handlers: Mapping[type, Handler],
        admitting: Set[type],  # see `Service.admits`
    ) -> None:
        self._rooms = rooms
        self._presence = presence
        self._allowances = allowances
        self._pressure = pressure
        self._handlers = {
            kind: partial(self._handle_later, handler) if iscoroutinefunction(handler) else handler
            for kind, handler in handlers.items()
        }
        self._admitting = admitting
        self._decode = RequestDecoder(self._handlers).decode
        self.tasks = Tasks()
        self._is_stopped = False

    async def stop(self) -> None:
        """Cancel the requests that are being carried out, and drop later requests."""
        self._is_stopped = True
        await self.tasks.stop()

    def receive(self, session: Session, message: Any, now: int, *, is_late: bool = False) -> None:
        """Carry out a message that arrived at `now` (ms of served time), or a request that `shed` has returned."""
        pressure, source = self._pressure, session.source
        if source.bad:
            source.asked += 1
        pressure.requests += 1
        begun = pressure.measure_turn() if pressure.requests > pressure.looked_at else monotonic()
        if (source.bad > MANY_BAD and source.is_mostly_bad and not session.rooms) or (
            (is_late or pressure.excess > 1)
            and pressure.is_heavy(source, is_late=is_late, has_priority=bool(session.rooms))
        ):
            message = self.shed(session, message)
        if message is not None:
            try:
                request = self._decode(message) if type(message) is bytes else message
            except BadMessage as bad:
                session.refuse_bad(bad)
            else:
                self.carry_out(session, request, now)
        pressure.charge(source, monotonic() - begun)

    def shed(self, session: Session, message: Any) -> Any:
        """Answer a message with `busy` and return None, or return a request that must not be shed.

        Requests to leave a room, or to return to the player's own seat, must not be shed. If most messages from an
        address are unreadable, its messages are shed without being decoded.
        """
        if session.source.is_mostly_bad:
            self._pressure.shed += 1
            session.counters.refusals[ErrorCode.BUSY] += 1
            session.connection.push_frame(_BUSY_FRAME)
            return None
        try:
            request = self._decode(message) if type(message) is bytes else message
        except BadMessage as bad:
            session.refuse_bad(bad)
            return None
        if isinstance(request, Leave) or self._leads_to_own_seat(session, request):
            return request
        self._pressure.shed += 1
        if isinstance(request, Hello):
            session.language = request.language or ""
        refuse(session, request, _BUSY)
        return None

    def carry_out(self, session: Session, request: Any, now: int) -> None:
        if self._is_stopped:
            return
        kind = type(request)
        try:
            player = session.player
            if player is None:
                if kind is not Hello:
                    raise Refused(ErrorCode.HELLO_REQUIRED)
            elif kind is Hello:
                raise Refused(ErrorCode.ALREADY_HELLO, name=player.name)
            live: Any = None
            if (text := getattr(request, "room", None)) is not None:
                live = session.rooms.get(text) or self._look_for_room(session, request, now)
                if live is None:
                    return
                if (acting := getattr(request, "player", UNSET)) is not UNSET:
                    player = _acting_player(player, acting)
            self._handlers[kind](Call(live, now, player, request, session))  # type: ignore[arg-type]
        except Exception as error:
            self.fail(session, request, error)

    def _look_for_room(self, session: Session, request: Any, now: int) -> LiveRoom | None:
        """Return the request's room, or None if the request is carried out later, once other servers were asked.

        Raise `Refused` if the room does not admit the request.
        """
        live = self._rooms.find_here(request.room)
        if live is None or live.room.code not in session.rooms:  # otherwise the code is in another spelling
            self._check_misses(live, session, request.room)
            if live is not None and type(request) not in self._admitting:
                raise Refused(ErrorCode.NOT_IN_ROOM, room=live.room.code)
        if live is None and getattr(request, "unreachable", UNSET) is not UNSET:
            self.tasks.start(self._ask_for(session, request))
        elif live is None:
            self._rooms.check_here(request.room)
            self._start(session, partial(self._find, session, request, now))
        return live

    def fail(self, session: Session, request: Any, error: Exception) -> None:
        """Refuse a request, and count a wrong room code towards the limit."""
        if isinstance(error, Refused) and error.code in _MISSES and session.player is not None:
            try:
                self._allowances.count_miss(session.player, session.address)
            except Refused as refused:
                error = refused
        refuse(session, request, error)

    def dismiss(self, session: Session) -> None:
        for topic in tuple(session.topics):
            topic.unsubscribe(session)
        self._presence.remove(session)
        timers = self._rooms.timers
        for live in session.rooms.values():
            timers.scheduler.soon(partial(timers.part, live, session))

    def _leads_to_own_seat(self, session: Session, request: Any) -> bool:
        player = session.player
        if isinstance(request, Hello):
            return player is None and request.token is not UNSET
        live = self._rooms.find_here(request.room) if isinstance(request, Join) else None
        return live is not None and player is not None and live.room.mark_of(player.id) is not None

    def _check_misses(self, live: LiveRoom | None, session: Session, code: str) -> None:
        rooms, player = self._rooms, session.player
        if player is None:
            return
        if live is not None:
            has_seat = live.room.mark_of(player.id) is not None
        else:
            has_seat = not rooms.knows_all or rooms.indexes.seats.has(player.id, parse_room_code(code))
        if not has_seat:
            self._allowances.check_misses(player, session.address)

    async def _find(self, session: Session, request: Any, now: int) -> None:
        try:
            await self._rooms.find(request.room)
        except Exception as error:
            self.fail(session, request, error)
            session.go_on()
        else:
            session.go_on()
            self.carry_out(session, request, now)  # before the queued messages

    async def _ask_for(self, session: Session, request: Any) -> None:
        """Take over a room if its players cannot reach its server, then queue the request again."""
        code, player = parse_room_code(request.room), session.player
        try:
            await self._rooms.elsewhere.ask_for(code, player.id if player else "", request.unreachable)
        except Exception as error:
            self.fail(session, request, error)
        else:
            if session.connection.is_open:
                session.received(replace(request, unreachable=UNSET))

    def _handle_later(self, handle: Callable[[Call], Any], call: Call) -> None:
        """Start a coroutine handler, and go on to the session's next request when the handler has finished."""

        async def work() -> None:
            try:
                await handle(call)
            except Exception as error:
                refuse(call.session, call.request, error)
            call.session.go_on()

        self._start(call.session, work)

    def _start(self, session: Session, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        session.is_busy = True
        self.tasks.start(self._in_place(session, work))

    async def _in_place(self, session: Session, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Wait for a place, then carry out the work. The session leaves the place when the request has ended."""
        session.place = await session.source.places.enter(session.address)
        await _charge_steps(work(), session.source)


@coroutine
def _charge_steps(work: Coroutine[Any, Any, None], source: Source) -> Generator[Any, None, None]:
    """Carry out the work, and charge the time for each step to the source."""
    step: Callable[[], Any] = partial(work.send, None)
    while True:
        begun = monotonic()
        try:
            awaited = step()
        except StopIteration:
            return
        finally:
            source.pressure.charge(source, monotonic() - begun)
        try:
            yield awaited
        except BaseException as error:
            step = partial(work.throw, error)
        else:
            step = partial(work.send, None)


def _acting_player(player: Player | None, id: str) -> Player | None:
    if player is None or owner_of(id) != player.id:
        raise Refused(ErrorCode.NOT_SEATED, "guest", path="player", player=id)
    return player if id == player.id else replace(player, id=id)
