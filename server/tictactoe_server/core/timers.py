"""Timers for rooms: clocks run out, dropped players' seats are held, and deserted rooms close.

A timer only submits a change. Changes that cannot be stored are retried.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog

from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import Closed
from tictactoe_server.core.change import RoomChange
from tictactoe_server.core.live_room import LiveRoom, closed
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Session
from tictactoe_server.listeners import Listeners
from tictactoe_server.rooms import Dropped, Player, Room, apply, expires_at
from tictactoe_server.scheduler import Scheduler
from tictactoe_server.settings import Limits

RETRY_SECONDS: Final = 1.0  # before a change that could not be stored is retried
COUNT_SECONDS: Final = 0.25  # shortest time between two broadcasts of the number of watchers
EARLY_SECONDS: Final = 0.1  # before a clock is checked again if it has time left, because served time stood still
REPORT_SECONDS: Final = 10.0  # shortest time between two log lines about failures of the same kind

log: Final = structlog.get_logger(__name__)


class Timers:
    """The timers for all rooms. `on_counted` is called with each room when a watcher comes or goes."""

    def __init__(self, scheduler: Scheduler, time: ServedTime, limits: Limits) -> None:
        self.scheduler = scheduler
        self.time = time
        self.limits = limits
        self._put_off: Counter[str] = Counter()
        self._reported_at: dict[str, float] = {}
        self.on_counted = Listeners[[LiveRoom]]()

    # -- clocks -------------------------------------------------------------------------------------------------

    def watch_clock(self, live: LiveRoom, *, at_least: float = 0.0) -> None:
        """Schedule a check when the running clock runs out, but not earlier than in `at_least` seconds."""
        end = expires_at(live.room)
        if end is None:
            return
        moment = _in(max(at_least, (end + 1 - self.time()) / 1000))
        if live.flag_at is None or moment < live.flag_at:
            live.flag_at = moment
            self.scheduler.at(moment, partial(self._ring, live, moment))

    def _ring(self, live: LiveRoom, moment: float) -> None:
        """End the turn if its clock has run out. If served time stood still meanwhile, check the clock again later."""
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

    # -- dropped players ----------------------------------------------------------------------------------------

    def drop(self, live: LiveRoom, player: Player) -> None:
        """Hold the seats of a dropped player, retrying until the change is stored or the player is back."""

        def make(room: Room) -> Room:
            return room if live.session_of(player.id) is not None else apply(room, player, Dropped(), now)

        now = self.time()
        then = self._retrying(live, "a dropped player could not be stored yet", partial(self.drop, live, player))
        RoomChange(live, now, player, then=then, make=make).submit()

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
            self.tell_count(live)
        self.close_later(live)

    # -- watchers -----------------------------------------------------------------------------------------------

    def tell_count(self, live: LiveRoom) -> bool:
        """Send the number of watchers, at most every `COUNT_SECONDS`. Return True if watchers were sent it now."""
        self.on_counted(live)
        if live.is_count_due:
            return False
        due_at = live.counted_at + COUNT_SECONDS
        if due_at <= _in(0):
            return self._show_count(live)
        live.is_count_due = True
        self.scheduler.at(due_at, partial(self._show_count, live))
        return False

    def _show_count(self, live: LiveRoom) -> bool:
        """Send the state if the number of watchers has changed since the last state. Return as `LiveRoom.show` does."""
        live.is_count_due = False
        live.counted_at = _in(0)
        is_news = live.counted != len(live.watchers) and not live.is_gone
        return is_news and live.show()

    # -- deserted rooms -----------------------------------------------------------------------------------------

    def close_later(self, live: LiveRoom) -> None:
        if live.closing_at is None and live.is_abandoned:
            is_playing = live.room.status == "playing"
            seconds = self.limits.deserted_game_seconds if is_playing else self.limits.deserted_seconds
            live.closing_at = _in(self.limits.unwatched_seconds if live.room.is_for_bots else seconds)
            self.scheduler.at(live.closing_at, partial(self._close_if_deserted, live, live.closing_at))

    def close(self, live: LiveRoom, why: Closed) -> None:
        """Close a room that all players have left, before the next change."""
        live.waiting.appendleft(self._closing(live, why))  # right after the change that is being settled

    async def end(self, live: LiveRoom, why: Closed) -> None:
        """Delete a room, then remove all sessions from it. May raise `Refused` or `StoreUnavailable`."""

        def then(error: Exception | None) -> None:
            if error is None:
                live.rooms.remove(live, why)

        await RoomChange(live, self.time(), then=then, make=lambda room: None).until_settled()

    def _close_if_deserted(self, live: LiveRoom, moment: float) -> None:
        if live.closing_at == moment:
            live.closing_at = None
            self._closing(live, closed(live.room.code, "idle")).submit()

    def _closing(self, live: LiveRoom, why: Closed) -> RoomChange:
        """Return a change that deletes the room if it is still abandoned."""

        def make(room: Room) -> Room | None:
            return None if room.is_deserted or live.is_abandoned else room

        def done() -> None:
            if live.is_gone:
                live.rooms.remove(live, why)

        then = self._retrying(live, "a room could not be deleted", partial(self.close_later, live), done)
        return RoomChange(live, self.time(), then=then, make=make)

    # -- retries ------------------------------------------------------------------------------------------------

    def _retrying(
        self, live: LiveRoom, what: str, again: Callable[[], object], done: Callable[[], object] = lambda: None
    ) -> Callable[[Exception | None], None]:
        """Return a callback for a settled change. It calls `done`, or logs the error and calls `again` later."""

        def then(error: Exception | None) -> None:
            if error is None:
                done()
            elif not (live.is_gone or self.scheduler.is_stopped):  # the next server loads the room unchanged
                self._put_off[what] += 1
                now = _in(0)
                if now - self._reported_at.get(what, -math.inf) > REPORT_SECONDS:
                    self._reported_at[what] = now
                    log.warning(what, room=live.room.code, reason=str(error), times=self._put_off.pop(what))
                self.scheduler.at(_in(RETRY_SECONDS), again)

        return then


def _in(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def _moved_in_time(live: LiveRoom, end: int) -> bool:
    """Return True if a message from the player to move arrived before `end` and is still queued."""
    turn = live.room.position.turn
    session = None if turn is None else live.session_of(live.room.seat(turn).player)
    return session is not None and session.waits_since is not None and session.waits_since < end
