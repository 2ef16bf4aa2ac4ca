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

from tictactoe_server.core.agenda import Agenda
from tictactoe_server.core.changes import Changes
from tictactoe_server.core.live_room import Change, LiveRoom
from tictactoe_server.rooms import NOBODY, Dropped, Expire, Player, Room, expires_at
from tictactoe_server.settings import Limits

RETRY_SECONDS: Final = 1.0
"""When what the store refused is tried again."""

COUNT_SECONDS: Final = 0.25
"""How often at most everybody in a room is shown that watchers come and go."""

EARLY_SECONDS: Final = 0.1
"""When a clock is looked at again that had time left although its alarm rang, because time stood still."""

REPORT_SECONDS: Final = 10.0
"""How often at most the log says that something of a kind could not be done yet."""

log: Final = structlog.get_logger(__name__)


class Timers:
    """The timers of all rooms. `now` returns ms of served time.

    `on_closed` is called with each room that has ended, `on_counted` with each in which watchers came or went.
    """

    def __init__(self, agenda: Agenda, changes: Changes, now: Callable[[], int], limits: Limits) -> None:
        self._agenda = agenda
        self._changes = changes
        self._now = now
        self._limits = limits
        self._put_off: Counter[str] = Counter()
        self._reported_at: dict[str, float] = {}
        self.on_closed: Callable[[LiveRoom, str], None] = lambda live, reason: None
        self.on_counted: Callable[[LiveRoom], None] = lambda live: None

    # -- clocks -------------------------------------------------------------------------------------------------

    def watch_clock(self, live: LiveRoom, *, at_least: float = 0.0) -> None:
        """See to it that the running clock's end is noticed: an alarm that rings early enough may ring too early."""
        end = expires_at(live.room)
        if end is None:
            return
        moment = self._in(max(at_least, (end + 1 - self._now()) / 1000))
        if live.flag_at is None or moment < live.flag_at:
            live.flag_at = moment
            self._agenda.at(moment, partial(self._ring, live, moment))

    def _ring(self, live: LiveRoom, moment: float) -> None:
        """Look whether the running clock has run out."""
        if live.flag_at != moment or live.is_gone:
            return
        live.flag_at = None
        end = expires_at(live.room)
        if end is None:
            return
        if self._now() < end or _moved_in_time(live, end):
            self.watch_clock(live, at_least=EARLY_SECONDS)
        else:
            self._changes.submit(_Expiring(self, live, self._now()))

    # -- those who are gone -------------------------------------------------------------------------------------

    def drop(self, live: LiveRoom, player: Player) -> None:
        """Hold the seat of one whose connection is gone, as soon as the store can take it, unless they are back."""
        if not live.is_gone:
            self._changes.submit(_Dropping(self, live, player, self._now()))

    # -- watchers -----------------------------------------------------------------------------------------------

    def tell_count(self, live: LiveRoom) -> bool:
        """Show everybody how many watch, four times a second at most: now and return True, or a little later."""
        self.on_counted(live)
        if live.is_count_due:
            return False
        wait = live.counted_at + COUNT_SECONDS - self._in(0)
        if wait <= 0:
            return self._show_count(live)
        live.is_count_due = True
        self._agenda.at(self._in(wait), partial(self._show_count, live))
        return False

    def _show_count(self, live: LiveRoom) -> bool:
        """Show everybody the room where that count has changed since they were last shown it."""
        live.is_count_due = False
        live.counted_at = self._in(0)
        is_news = live.counted != len(live.watchers) and not live.is_gone
        return is_news and self._changes.show(live)

    # -- deserted rooms -----------------------------------------------------------------------------------------

    def close_later(self, live: LiveRoom) -> None:
        """Let a room end after a while if nobody is there any more for whom it goes on."""
        live.closing_at = None
        if live.is_abandoned:
            limits = self._limits
            if live.room.is_for_bots:
                seconds = limits.unwatched_seconds
            elif live.room.status == "playing":
                seconds = limits.deserted_game_seconds
            else:
                seconds = limits.deserted_seconds
            live.closing_at = self._in(seconds)
            self._agenda.at(live.closing_at, partial(self._close_if_deserted, live, live.closing_at))

    def close(self, live: LiveRoom, reason: str) -> None:
        """Let a room end that all have left, before anybody else comes."""
        self._changes.submit_next(_Closing(self, live, self._now(), reason))

    async def end(self, live: LiveRoom, reason: str) -> None:
        """End a room, whoever is there, and return when it is gone; raises `Refused` and `StoreUnavailable`."""
        ending = _Ending(self, live, self._now(), reason)
        self._changes.submit(ending)
        await ending.gone

    def _close_if_deserted(self, live: LiveRoom, moment: float) -> None:
        if live.closing_at == moment and not live.is_gone:
            self._changes.submit(_Closing(self, live, self._now(), "Nobody came back."))

    # -- inside -------------------------------------------------------------------------------------------------

    def retry(self, action: Callable[[], None]) -> None:
        """Do something again after a while."""
        self._agenda.at(self._in(RETRY_SECONDS), action)

    def report(self, what: str, live: LiveRoom, error: Exception) -> None:
        """Say in the log what could not be done and will be tried again: of much of the same once in a while."""
        self._put_off[what] += 1
        now = self._in(0)
        if now - self._reported_at.get(what, -math.inf) > REPORT_SECONDS:
            self._reported_at[what] = now
            log.warning(what, room=live.room.code, reason=str(error), times=self._put_off.pop(what))

    def _in(self, seconds: float) -> float:
        return asyncio.get_running_loop().time() + seconds


class _Expiring(Change):
    """The end of a turn whose clock has run out."""

    __slots__ = ("_timers",)

    def __init__(self, timers: Timers, live: LiveRoom, now: int) -> None:
        super().__init__(live, NOBODY, Expire(), now)
        self._timers = timers

    def settled(self, error: Exception | None) -> None:
        if error is None:
            self._timers.watch_clock(self.live)
        elif not self.live.is_gone:
            self._timers.report("a clock that ran out could not be stored", self.live, error)
            self._timers.retry(partial(self._timers.watch_clock, self.live))


class _Dropping(Change):
    """A player whose connection is gone."""

    __slots__ = ("_timers",)

    def __init__(self, timers: Timers, live: LiveRoom, player: Player, now: int) -> None:
        super().__init__(live, player, Dropped(), now)
        self._timers = timers

    def apply(self, room: Room) -> Room | None:
        return room if self.player.id in self.live.players else super().apply(room)

    def settled(self, error: Exception | None) -> None:
        if error is not None and not self.live.is_gone:
            self._timers.report("a dropped player could not be stored yet", self.live, error)
            self._timers.retry(partial(self._timers.drop, self.live, self.player))


class _Closing(Change):
    """The end of a room that nobody is left to play in."""

    __slots__ = ("_reason", "_timers")

    def __init__(self, timers: Timers, live: LiveRoom, now: int, reason: str) -> None:
        super().__init__(live, NOBODY, Expire(), now)
        self._timers = timers
        self._reason = reason

    def apply(self, room: Room) -> Room | None:
        return None if room.is_deserted or self.live.is_abandoned else room

    def settled(self, error: Exception | None) -> None:
        live = self.live
        if live.is_gone and error is None:
            self._timers.on_closed(live, self._reason)
        elif error is not None and not live.is_gone:
            self._timers.report("a room could not be deleted", live, error)
            self._timers.close_later(live)


class _Ending(_Closing):
    """The end of a room by order; `gone` is the outcome."""

    __slots__ = ("gone",)

    def __init__(self, timers: Timers, live: LiveRoom, now: int, reason: str) -> None:
        super().__init__(timers, live, now, reason)
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def apply(self, room: Room) -> Room | None:
        return None

    def settled(self, error: Exception | None) -> None:
        if error is None:
            super().settled(None)
            self.gone.set_result(None)
        else:
            self.gone.set_exception(error)


def _moved_in_time(live: LiveRoom, end: int) -> bool:
    """Tell whether something that the player to move sent before the end still waits for its turn."""
    turn = live.room.position.turn
    session = None if turn is None else live.players.get(live.room.seat(turn).player)
    return session is not None and session.waits_since is not None and session.waits_since < end
