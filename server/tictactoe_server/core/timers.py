"""What time does to rooms: clocks run out, seats are held for those who are gone, deserted rooms end.

It only says when; what then happens are changes like all others. What the store refuses is tried until it is done.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from tictactoe_protocol.pushes import Closed
from tictactoe_server.agenda import Agenda
from tictactoe_server.core.live_room import Changes, LiveRoom, RoomChange, closed
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.rooms import Dropped, Player, Room, apply, expires_at
from tictactoe_server.sessions.session import Session
from tictactoe_server.settings import Limits
from tictactoe_server.watching.topics import Listeners

RETRY_SECONDS: Final = 1.0  # when what the store refused is tried again
COUNT_SECONDS: Final = 0.25  # how often at most everybody in a room is shown that watchers come and go
EARLY_SECONDS: Final = 0.1
"""When a clock is looked at again that had time left although its alarm rang, because time stood still."""

REPORT_SECONDS: Final = 10.0  # how often at most the log says that something of a kind could not be done yet

log: Final = structlog.get_logger(__name__)


class Timers:
    """The timers of all rooms.

    Listeners of `on_counted` hear of each room in which watchers came or went.
    """

    def __init__(self, agenda: Agenda, changes: Changes, time: ServedTime, limits: Limits) -> None:
        self.agenda = agenda
        self.changes = changes
        self.time = time
        self.limits = limits
        self._put_off: Counter[str] = Counter()
        self._reported_at: dict[str, float] = {}
        self.on_counted = Listeners[[LiveRoom]]()

    # -- clocks -------------------------------------------------------------------------------------------------

    def watch_clock(self, live: LiveRoom, *, at_least: float = 0.0) -> None:
        """See to it that the end of the running clock is noticed, in `at_least` so many seconds."""
        end = expires_at(live.room)
        if end is None:
            return
        moment = _in(max(at_least, (end + 1 - self.time()) / 1000))
        if live.flag_at is None or moment < live.flag_at:
            live.flag_at = moment
            self.agenda.at(moment, partial(self._ring, live, moment))

    def _ring(self, live: LiveRoom, moment: float) -> None:
        """Look whether the running clock has run out: time may have stood still meanwhile."""
        if live.flag_at != moment or live.is_gone:
            return
        live.flag_at = None
        end = expires_at(live.room)
        if end is None:
            return
        if self.time() < end or _moved_in_time(live, end):
            self.watch_clock(live, at_least=EARLY_SECONDS)
        else:
            look = partial(self.watch_clock, live)
            then = self._retrying(live, "a clock that ran out could not be stored", look, look)
            RoomChange(live, self.time(), then=then).submit()

    # -- those who are gone -------------------------------------------------------------------------------------

    def drop(self, live: LiveRoom, player: Player) -> None:
        """Hold the seats of a player whose connection is gone, as soon as the store can take it, unless it is back."""

        def make(room: Room) -> Room:
            return room if live.session_of(player.id) is not None else apply(room, player, Dropped(), now)

        now = self.time()
        then = self._retrying(live, "a dropped player could not be stored yet", partial(self.drop, live, player))
        RoomChange(live, now, player, then=then, make=make).submit()

    def drop_missing(self, live: LiveRoom) -> None:
        """Hold the seats of those who were here when the room came from another server, and did not come since."""
        for seat in () if live.is_gone else live.room.held_seats:
            if seat.online and not seat.is_server_bot and live.session_of(seat.player) is None:
                self.drop(live, Player(seat.player, seat.name))

    def part(self, live: LiveRoom, session: Session) -> None:
        """Let a session go that is over, unless it has gone: its seat is held, its watching ends."""
        if not live.has(session):
            return
        is_player = live.is_played_by(session)
        live.part(session)
        if is_player and session.player is not None:
            self.drop(live, session.player)
        else:
            self.tell_count(live)
        self.close_later(live)

    # -- watchers -----------------------------------------------------------------------------------------------

    def tell_count(self, live: LiveRoom) -> bool:
        """Show everybody how many watch, four times a second at most: now and return True, or a little later."""
        self.on_counted(live)
        if live.is_count_due:
            return False
        due_at = live.counted_at + COUNT_SECONDS
        if due_at <= _in(0):
            return self._show_count(live)
        live.is_count_due = True
        self.agenda.at(due_at, partial(self._show_count, live))
        return False

    def _show_count(self, live: LiveRoom) -> bool:
        """Show everybody the room where that count has changed since they were last shown it."""
        live.is_count_due = False
        live.counted_at = _in(0)
        is_news = live.counted != len(live.watchers) and not live.is_gone
        return is_news and live.show()

    # -- deserted rooms -----------------------------------------------------------------------------------------

    def close_later(self, live: LiveRoom) -> None:
        """Let a room end after a while if nobody is there any more for whom it goes on."""
        if live.closing_at is None and live.is_abandoned:
            limits = self.limits
            if live.room.is_for_bots:
                seconds = limits.unwatched_seconds
            elif live.room.status == "playing":
                seconds = limits.deserted_game_seconds
            else:
                seconds = limits.deserted_seconds
            live.closing_at = _in(seconds)
            self.agenda.at(live.closing_at, partial(self._close_if_deserted, live, live.closing_at))

    def close(self, live: LiveRoom, why: Closed) -> None:
        """Let a room end that all have left, before anybody else comes."""
        live.waiting.appendleft(self._closing(live, why))  # it follows from the change that is being settled

    async def end(self, live: LiveRoom, why: Closed) -> None:
        """End a room, whoever is there, and return when it is gone; raises `Refused` and `StoreUnavailable`."""

        def then(error: Exception | None) -> None:
            if error is None:
                self.changes.on_gone(live, why)

        await RoomChange(live, self.time(), then=then, make=lambda room: None).until_settled()

    def _close_if_deserted(self, live: LiveRoom, moment: float) -> None:
        if live.closing_at == moment:
            live.closing_at = None
            self._closing(live, closed(live.room.code, "idle")).submit()

    def _closing(self, live: LiveRoom, why: Closed) -> RoomChange:
        """Return the end of a room that nobody is left to play in by then."""

        def make(room: Room) -> Room | None:
            return None if room.is_deserted or live.is_abandoned else room

        def done() -> None:
            if live.is_gone:
                self.changes.on_gone(live, why)

        then = self._retrying(live, "a room could not be deleted", partial(self.close_later, live), done)
        return RoomChange(live, self.time(), then=then, make=make)

    # -- what the store refused ---------------------------------------------------------------------------------

    def _retrying(
        self, live: LiveRoom, what: str, again: Callable[[], object], done: Callable[[], object] = lambda: None
    ) -> Callable[[Exception | None], None]:
        """Return what is called at the end of a change: it does what follows, or the same again after a while.

        The log says then why, of much of the same once in a while.
        """

        def then(error: Exception | None) -> None:
            if error is None:
                done()
            elif not (live.is_gone or self.agenda.is_stopped):  # what a server leaves, the next one finds
                self._put_off[what] += 1
                now = _in(0)
                if now - self._reported_at.get(what, -math.inf) > REPORT_SECONDS:
                    self._reported_at[what] = now
                    log.warning(what, room=live.room.code, reason=str(error), times=self._put_off.pop(what))
                self.agenda.at(_in(RETRY_SECONDS), again)

        return then


def _in(seconds: float) -> float:
    """Return the moment in so many seconds, by the loop's time."""
    return asyncio.get_running_loop().time() + seconds


def _moved_in_time(live: LiveRoom, end: int) -> bool:
    """Tell whether something that the player to move sent before the end still waits for its turn."""
    turn = live.room.position.turn
    session = None if turn is None else live.session_of(live.room.seat(turn).player)
    return session is not None and session.waits_since is not None and session.waits_since < end
