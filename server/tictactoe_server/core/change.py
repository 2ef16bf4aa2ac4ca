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
from collections.abc import Callable
from typing import Any, Final

import structlog
from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode, encode
from tictactoe_protocol.pushes import Ok
from tictactoe_protocol.requests import Move
from tictactoe_server import clock
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.pressure import PLAYING_SECONDS
from tictactoe_server.core.session import Session
from tictactoe_server.records.changes import GONE, Change, Phase, Preceded
from tictactoe_server.rooms import (
    NOBODY,
    Expire,
    FinishedGame,
    Player,
    Refused,
    Room,
    apply,
    finished_game,
    is_expired,
    seen_at,
)
from tictactoe_server.storage.store import MISSING, StoreBusy, StoreUnavailable, Unreadable
from tictactoe_server.transport.frames import encode_frame

RELOAD_SECONDS: Final = 5.0  # before a room that may have changed in the store is reloaded; up to twice as long

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
        """Send an `Ok` reply with the code and the moves of the room `live`, and with the player's seats."""
        marks = live.room.marks_of(self.player.id) if live.is_played_by(self.session) else []
        seat = live.room.mark_of(self.player.id) if marks else None
        seats = tuple(marks) if len(marks) > 1 else UNSET
        self.answer(room=live.room.code, seat=seat, seats=seats, moves=live.room.position.moves, **content)

    def submit(self) -> None:
        """Submit the request as a command in its room. The reply is sent when the change is settled."""
        change = RoomChange(self.live, self.now, self.player, self.request, self)
        change.submit()
        if not change.is_settled:
            self.session.is_busy = True

    def change_room(self, make: Callable[[Room], Room | None], answer: Callable[[], None]) -> None:
        """Replace the room with the result of `make`. Call `answer` once it is stored, or refuse the request."""

        def then(error: Exception | None) -> None:
            self.session.go_on()
            if error is None:
                answer()
            else:
                refuse(self.session, self.request, error)

        self.session.is_busy = True
        RoomChange(self.live, self.now, self.player, self.request, make=make, then=then).submit()


class RoomChange(Change[Room], eq=False):
    """A change of a room.

    Attributes:
        now: When the change was requested (ms of served time).
        command: The command to apply, unless `make` returns the next room.
        call: The request for the change, if a session sent it.
        over: The game that the change ends, if any. `finished` is the same game if the game is kept.
    """

    live: LiveRoom
    now: int
    player: Player = NOBODY
    command: Any = Expire()
    call: Call | None = None
    over: FinishedGame | None = None

    def apply(self, room: Room) -> Room | None:
        """Return the room after the command. Raise `Refused` if the session does not control the player's seat."""
        if room.clock_started_at is not None and self.player is not NOBODY and is_expired(room, self.now):
            raise Preceded(RoomChange(self.live, self.now, asked_at=self.asked_at, then=self._follow))
        if self.make is not None:
            after = self.make(room)
        else:
            live, call = self.live, self.call
            if call is not None and live.players.get(self.player.id) is not call.session:
                live.check_player(call.session)
            after = apply(room, self.player, self.command, self.now)
            if call is not None and call.session.source.playing_seconds < PLAYING_SECONDS:  # most moves need no call
                call.session.source.note_play()
        if after is None or after.result is None or room.result is not None:
            return after
        self.over = game = finished_game(after, clock.wall_ms())
        is_kept = not after.was_aborted
        for keeps in self.live.rooms.keeping:
            is_kept = is_kept and keeps(self.live, game)
        self.finished = game if is_kept else None
        return replace(after, kept_at=game.at if is_kept else 0)

    def _follow(self, error: Exception | None) -> None:
        """Put this change next in line after the change that ended the expired turn, or fail with the same error."""
        if error is None:
            self.live.waiting.appendleft(self)
        else:
            self.is_settled = True
            self.settled(error)

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
                after = seen_at(after, before, rooms.now())
            live.room = after
            if is_new or (after.seats is not before.seats and after.game == before.game):
                rooms.notify(live, None if is_new else before, self.over)
            elif after.result is not before.result or after.clock is not None:
                rooms.notify_soon(live, before, self.over)
        live.settle(self, None)

    def settled(self, error: Exception | None) -> None:
        """Answer the request, and send the state if the room changed. The requester gets both in one write."""
        live, call, answer = self.live, self.call, b""
        if call is None:
            super().settled(error)
        elif error is not None:
            refuse(call.session, call.request, error)
        elif call.request.id is not UNSET:
            answer = encode_frame(b'{"type":"ok","id":%b}' % encode(call.request.id))
        if call is not None and call.session.is_busy:
            call.session.go_on()
        if live.is_unshown and live.phase is not GONE:
            live.show(call.session if call is not None and answer else None, answer)
        elif call is not None and answer:
            call.session.connection.push_frame(answer)
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
            log.error("a request failed", request=kind, exc_info=error)
            refused = Refused(ErrorCode.INTERNAL)
    id = None if request.id is UNSET else request.id
    session.refuse(refused.answer(id=id, room=getattr(request, "room", None)))
