"""How a room changes: each change is applied and stored, then its request is answered and the new state is sent.

Theory of operation. The invariant: no state of a room is sent or acknowledged before it is stored.

At any time a `RoomChange` is in one of these states:

- waiting, in order of arrival, while an earlier change of the room is not settled;
- current: it is applied to the cached room, and the result is saved by compare-and-set. If another server was faster,
  or an earlier write is unsettled, the room is loaded and the change is applied again, so `apply` must be idempotent;
- settled, exactly once, with an error or with the stored room. Then the request is answered, and the room's sessions
  are sent the new state. Indexes that later requests depend on are updated before the reply is sent; other listeners
  are notified after it.

If a change arrives after the time for the turn has expired, a separate change ends the turn and is stored first.

No other code may replace the room in a stored `LiveRoom`, save or delete a room, answer a command, or send a state
before its change is settled. Features and timers submit a `RoomChange`, as requests do.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

import structlog
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import Closed, Ok
from tictactoe_protocol.requests import Move
from tictactoe_server import clock
from tictactoe_server.core.live_room import LiveRoom, closing_notice
from tictactoe_server.core.pressure import PLAYING_SECONDS
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Session
from tictactoe_server.records.changes import GONE, Change, Phase
from tictactoe_server.rooms.finished import FinishedGame, finished_game
from tictactoe_server.rooms.play import apply, expire
from tictactoe_server.rooms.room import NOBODY, Player, Refused, Room, expires_at, is_expired, start_shown_turn
from tictactoe_server.rooms.seating import drop
from tictactoe_server.scheduler import Listeners, Scheduler
from tictactoe_server.settings import Limits
from tictactoe_server.storage.store import MISSING, StoreBusy, StoreUnavailable, Unreadable
from tictactoe_server.transport.connection import encode_frame
from tictactoe_server.transport.rate_limit import RateLimits

RELOAD_SECONDS: Final = 5.0  # before a room that may have changed in the store is reloaded; up to twice as long
RETRY_SECONDS: Final = 1.0  # before a change that could not be stored is retried
COUNT_SECONDS: Final = 0.25  # before a broadcast of the number of watchers, to include further changes
EARLY_SECONDS: Final = 0.1  # before a clock is checked again if it has time left, because served time stood still
REPORT_MS: Final = 10_000  # shortest time between two log lines about failures of the same kind

log: Final = structlog.get_logger(__name__)


class Call(Struct, eq=False):
    """A request from a session, with the context that its handler needs.

    Attributes:
        live: The room in the request, if any.
        now: When the request arrived (ms of served time).
        player: The acting player: the session's player, or a guest of that player.
    """

    live: LiveRoom
    now: int
    player: Player
    request: Any
    session: Session

    def answer(self, **content: Any) -> None:
        """Send an `Ok` reply with `content`, if the request has an id."""
        if self.request.id is not UNSET:
            self.session.push(Ok(id=self.request.id, **content))

    def answer_with_room(self, live: LiveRoom, **content: Any) -> None:
        """Send an `Ok` reply with the code of the room `live` and the player's seats."""
        marks = live.room.marks_of(self.player.id) if live.is_played_by(self.session) else []
        seat = live.room.mark_of(self.player.id) if marks else None
        seats = tuple(marks) if len(marks) > 1 else UNSET
        self.answer(room=live.room.code, seat=seat, seats=seats, **content)

    def submit(self) -> None:
        """Submit the request as a command in its room. The reply is sent when the change is settled."""
        change = RoomChange(self.live, self.now, self.player, self.request, self.session)
        if self.live.room.clock_started_at is None:
            Change.submit(change)  # without a clock, no turn can have expired; this saves a call for each move
        else:
            change.submit()
        if not change.is_settled:
            self.session.is_busy = True

    def change_room(self, make: Callable[[Room], Room | None], answer: Callable[[], None]) -> None:
        """Replace the room with the result of `make`. Call `answer` once it is stored, or refuse the request."""

        def on_settled(error: Exception | None) -> None:
            self.session.go_on()
            if error is None:
                answer()
            else:
                refuse(self.session, self.request, error)

        self.session.is_busy = True
        RoomChange(self.live, self.now, self.player, self.request, make=make, on_settled=on_settled).submit()


Handler = Callable[[Call], Coroutine[Any, Any, None] | None]
"""Carries out a request; may raise `Refused`. A coroutine function is called once the request has a place (`Places`),
and the session carries out no other request until the coroutine has finished."""


class RoomChange(Change[Room], eq=False):
    """A change of a room.

    Attributes:
        now: When the change was requested (ms of served time).
        command: The command to apply, or the request to answer if `make` returns the next room.
        session: The session that is to get the reply, if the command is its request.
        over: The game that the change ends, if any. `finished` is the same game if the game is kept.
        before: The room before the stored change, if the listeners are notified of it after the sessions.
    """

    live: LiveRoom
    now: int
    player: Player = NOBODY
    command: Any = None
    session: Session | None = None
    over: FinishedGame | None = None
    before: Room | None = None

    def is_late(self, room: Room) -> bool:
        return room.clock_started_at is not None and self.player is not NOBODY and is_expired(room, self.now)

    def submit(self) -> None:
        if self.is_late(self.live.room):
            RoomChange(self.live, self.now, make=partial(expire, now=self.now)).submit()
        Change.submit(self)

    def apply(self, room: Room) -> Room | None:
        """Return the room after the command. Raise `Refused` if the session does not control the player's seat."""
        if self.asked_at and self.is_late(room):  # the end of the turn is not stored yet
            raise Refused(ErrorCode.UNAVAILABLE, retry_ms=1000)
        if self.make is not None:
            after = self.make(room)
        else:
            live, session = self.live, self.session
            if session is not None and live.players.get(self.player.id) is not session:
                live.check_player(session)
            after = apply(room, self.player, self.command, self.now)
            if session is not None and session.source.playing_seconds < PLAYING_SECONDS:  # most moves need no call
                session.source.note_play()
        if after is None or after.result is None or room.result is not None:
            return after
        self.over = game = finished_game(after, clock.wall_ms())
        is_kept = not after.was_aborted
        for keeps in self.live.rooms.keeping:
            is_kept = is_kept and keeps(self.live, game)
        self.finished = game if is_kept else None
        return replace(after, kept_at=game.at if is_kept else 0)

    def failed(self, error: Exception) -> None:
        self.over = self.finished = None  # a retry starts from the reloaded room
        super().failed(error)

    def stored(self, revision: int) -> None:
        """Adopt the stored room, notify listeners of a new room or changed seats, then settle the change."""
        live, before, after, rooms = self.live, self.live.room, self.after, self.live.rooms
        if live.change is not self:  # this change has timed out
            live.doubt()
            return
        if after is None:
            live.enter(Phase.GONE)
        else:
            if type(self.command) is Move:
                rooms.moves += 1
            is_new = live.revision == MISSING
            live.revision = revision
            live.is_unshown = True
            if after.clock is not None:
                after = start_shown_turn(after, before, rooms.now())
            live.room = after
            live.before = before
            if is_new:
                live.enter(Phase.STORED)
            if is_new or (after.seats is not before.seats and after.game == before.game):
                rooms.notify(live, None if is_new else before, self.over)
            elif after.result is not before.result or after.clock is not None:
                self.before = before
        live.settle(self, None)

    def settled(self, error: Exception | None) -> None:
        """Answer the request, and send the state if the room changed. The requester gets both in one write."""
        live, session, asker, answer = self.live, self.session, None, b""
        if session is None:
            super().settled(error)
        else:
            if error is not None:
                refuse(session, self.command, error)
            elif self.command.id is not UNSET:
                asker, answer = session, encode_frame(b'{"type":"ok","id":%b}' % encode(self.command.id))
            if session.is_busy:
                session.go_on()
        try:
            if live.is_unshown and live.phase is not GONE:
                live.show(asker, answer)
            elif asker is not None:
                asker.connection.push_frame(answer)
        finally:  # the change is stored
            if self.before is not None:
                live.rooms.notify(live, self.before, self.over)
        if error is not None and isinstance(error, StoreUnavailable) and live.phase is Phase.UNCERTAIN:
            asyncio.get_running_loop().call_later(RELOAD_SECONDS * random.uniform(1, 2), reload, live)


def reload(live: LiveRoom) -> None:
    """Reload a room whose stored value may be newer: at once if the room is idle, else before its next change."""
    live.doubt()
    if live.phase is Phase.UNCERTAIN and live.change is None:
        RoomChange(live, live.rooms.now(), make=lambda room: room).submit()


def refuse(session: Session, request: Any, error: Exception) -> None:
    """Send the reason why a request was not carried out. Failures of the server are logged."""
    kind = type(request).__name__
    match error:
        case Refused():
            refused = error
        case StoreBusy():
            refused = Refused(ErrorCode.BUSY, "store", retry_ms=500)
        case StoreUnavailable() if not isinstance(error, Unreadable):
            log.warning("store unavailable", request=kind)
            refused = Refused(ErrorCode.UNAVAILABLE, retry_ms=1000)
        case _:
            log.error("request failed", request=kind, exc_info=error)
            refused = Refused(ErrorCode.INTERNAL)
    id = None if request.id is UNSET else request.id
    session.refuse(refused, id=id, room=getattr(request, "room", None))


class Timers:
    """The timers for all rooms. `on_counted` is called with a room when a watcher joins or leaves it."""

    def __init__(self, scheduler: Scheduler, time: ServedTime, limits: Limits, monotonic_ns: Callable[[], int]) -> None:
        self.scheduler = scheduler
        self.time = time
        self.limits = limits
        self._reports = RateLimits(1, REPORT_MS, monotonic_ns)
        self.on_counted = Listeners[[LiveRoom]]()

    # -- clocks -------------------------------------------------------------------------------------------------

    def watch_clock(self, live: LiveRoom, *, at_least: float = 0.0) -> None:
        """Schedule a check when the clock runs out or a hold ends, but not earlier than in `at_least` seconds."""
        room, now, end = live.room, self.time(), expires_at(live.room)
        if room.gone_at:
            holds = [until for until in map(room.held_until, room.seats) if until is not None and until > now]
            end = min(holds if end is None else (end, *holds), default=None)
        if end is None:
            return
        moment = _in(max(at_least, (end + 1 - now) / 1000))
        if live.flag_at is None or moment < live.flag_at:
            live.flag_at = moment
            self.scheduler.at(moment, partial(self._ring, live, moment))

    def _ring(self, live: LiveRoom, moment: float) -> None:
        """End the turn if its clock has run out, or send a state if a hold has ended, because the game can be claimed.

        If served time stood still meanwhile, check again later.
        """
        if live.flag_at != moment or live.is_gone:
            return
        live.flag_at = None
        room, now = live.room, self.time()
        end = expires_at(room)
        if end is None or now < end or _moved_in_time(live, end):
            if room.gone_at and any(room.hold_left(mark, now) == 0 for mark in room.seats):
                live.show()
            self.watch_clock(live, at_least=EARLY_SECONDS)
        else:
            look = partial(self.watch_clock, live)
            on_settled = self._retry_callback(live, "a clock that ran out could not be stored", look, look)
            RoomChange(live, now, on_settled=on_settled, make=partial(expire, now=now)).submit()

    # -- dropped players ----------------------------------------------------------------------------------------

    def drop(self, live: LiveRoom, player: Player) -> None:
        """Hold the seats of a dropped player, retrying until the change is stored or the player is back."""

        def make(room: Room) -> Room:
            return room if live.session_of(player.id) is not None else drop(room, player, now)

        now = self.time()
        drop_again = partial(self.drop, live, player)
        on_settled = self._retry_callback(live, "a dropped player could not be stored yet", drop_again)
        RoomChange(live, now, player, on_settled=on_settled, make=make).submit()

    def drop_missing(self, live: LiveRoom) -> None:
        """Hold the seats of players who have not connected since the room was taken over from another server."""
        for seat in () if live.is_gone else live.room.held_seats:
            if seat.online and not seat.is_server_bot and live.session_of(seat.player) is None:
                self.drop(live, Player(owner_of(seat.player), seat.name))  # together with guests

    def part(self, live: LiveRoom, session: Session) -> None:
        """Remove an ended session from a room, and hold its player's seats."""
        if live.room.code not in session.rooms:
            return
        is_player = live.is_played_by(session)
        live.part(session)
        if is_player and session.player is not None:
            self.drop(live, session.player)
        else:
            self.broadcast_count(live)
        self.close_later(live)

    # -- watchers -----------------------------------------------------------------------------------------------

    def broadcast_count(self, live: LiveRoom) -> None:
        """Send the number of watchers in `COUNT_SECONDS`, unless a state with this number is sent before."""
        self.on_counted(live)
        if not live.is_count_due:
            live.is_count_due = True
            self.scheduler.after(COUNT_SECONDS, partial(self._show_count, live))

    def _show_count(self, live: LiveRoom) -> None:
        live.is_count_due = False
        if live.counted != len(live.watchers) and not live.is_gone:
            live.show()

    # -- deserted rooms -----------------------------------------------------------------------------------------

    def close_later(self, live: LiveRoom) -> None:
        if live.closing_at is None and live.is_abandoned:
            is_playing = live.room.status == "playing"
            seconds = self.limits.deserted_game_seconds if is_playing else self.limits.deserted_seconds
            live.closing_at = _in(self.limits.unwatched_seconds if live.is_for_bots else seconds)
            self.scheduler.at(live.closing_at, partial(self._close_if_deserted, live, live.closing_at))

    def close(self, live: LiveRoom, why: Closed) -> None:
        """Close a room that all players have left, before the next change."""
        live.waiting.insert(0, self._closing_change(live, why))  # right after the change that is being settled

    async def end(self, live: LiveRoom, why: Closed) -> None:
        """Delete a room, then remove all sessions from it. May raise `Refused` or `StoreUnavailable`."""

        def on_settled(error: Exception | None) -> None:
            if error is None:
                live.rooms.remove(live, why)

        await RoomChange(live, self.time(), on_settled=on_settled, make=lambda room: None).until_settled()

    def _close_if_deserted(self, live: LiveRoom, moment: float) -> None:
        if live.closing_at == moment:
            live.closing_at = None
            self._closing_change(live, closing_notice(live.room.code, "idle")).submit()

    def _closing_change(self, live: LiveRoom, why: Closed) -> RoomChange:
        """Return a change that deletes the room if it is still abandoned."""

        def make(room: Room) -> Room | None:
            return None if room.is_deserted or live.is_abandoned else room

        def done() -> None:
            if live.is_gone:
                live.rooms.remove(live, why)

        on_settled = self._retry_callback(live, "room not deleted; retrying", partial(self.close_later, live), done)
        return RoomChange(live, self.time(), on_settled=on_settled, make=make)

    def _retry_callback(
        self, live: LiveRoom, what: str, again: Callable[[], object], done: Callable[[], object] = lambda: None
    ) -> Callable[[Exception | None], None]:
        """Return a callback for a settled change. It calls `done`, or logs the error and calls `again` later."""

        def on_settled(error: Exception | None) -> None:
            if error is None:
                done()
            elif not (live.is_gone or self.scheduler.is_stopped):  # the next server loads the room unchanged
                if not self._reports[what].consume():
                    log.warning(what, room=live.room.code, reason=str(error))
                self.scheduler.after(RETRY_SECONDS, again)

        return on_settled


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def _moved_in_time(live: LiveRoom, end: int) -> bool:
    """Return True if a message from the player to move arrived before `end` and is still queued."""
    turn = live.room.position.turn
    session = None if turn is None else live.session_of(live.room.seat(turn).player)
    return session is not None and session.waits_since is not None and session.waits_since < end
