"""The path of every change: one at a time through each room, applied, stored, and only then answered and shown.

It leads from the bytes to the store without a wait; the store calls back, at once where it is memory, at the end of a
batch on disk. While one change of a room is under way, the next ones wait in the room.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import structlog
from msgspec.structs import replace

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Closed
from tictactoe_server.core.agenda import Tasks
from tictactoe_server.core.live_room import Change, LiveRoom, RoomPhase, closed
from tictactoe_server.core.rooms import NOBODY, Command, FinishedGame, Player, Refused, Room, finished_game, is_expired
from tictactoe_server.core.session import Session
from tictactoe_server.core.topics import Listeners
from tictactoe_server.storage.store import (
    MISSING,
    Conflict,
    NotStored,
    Pending,
    StoreUnavailable,
    Table,
    Unreadable,
    Unsettled,
)

ATTEMPTS: Final = 8  # how often a change is tried against what others store meanwhile, until the room is `busy`
FIRST_REST_SECONDS: Final = 0.02
LONGEST_REST_SECONDS: Final = 0.5
UNSETTLED_SECONDS: Final = 2.0
"""How long a change rests until it is tried again, twice as long each time up to the second; and how long an earlier
write of the room may be in process until it is not waited for any more."""

ANSWER_SECONDS: Final = 2.5  # after how long a change is answered that waits for others of its room, or is tried again
READ_AGAIN_SECONDS: Final = 5.0
"""How soon a room is read again of which it is not known what is stored, where nobody asks for anything in it."""

log: Final = structlog.get_logger(__name__)


class Changes:
    """Carries changes out; `tasks` are what still waits for the store. `now` returns ms of served time.

    Listeners of `on_room` hear of each room that was opened, or whose seats, clock or result changed, and what it was
    before, None where it is new; those of `on_result` of each game that is over and stored, also of one that was
    aborted; those of `on_gone` of each room that has ended, with what is said of that; those of `on_shown` of each new
    state of a room in which bots sit.
    `keeps` tells of a game that is over whether it goes into the log of games. `moves` is how many were played.
    """

    def __init__(self, rooms: Table[Room], now: Callable[[], int]) -> None:
        self._rooms = rooms
        self.now = now
        self.tasks = Tasks()
        self.moves = 0
        self.on_room = Listeners[[LiveRoom, Room | None]]()
        self.on_result = Listeners[[FinishedGame]]()
        self.on_gone = Listeners[[LiveRoom, Closed]]()
        self.on_shown = Listeners[[LiveRoom]]()
        self.keeps: Callable[[LiveRoom, FinishedGame], bool] = lambda live, game: True

    def submit(self, change: Change) -> None:
        """Carry a change out when its turn has come; it is told when it is settled."""
        change.path = self
        change.asked_at = time.monotonic()
        live = change.live
        if live.change is None and not live.is_going_on:
            live.change = change
            self._begin(change)
        else:
            live.waiting.append(change)
            self._answer_in_time(change)

    def submit_next(self, change: Change) -> None:
        """Carry a change out before all that wait: it follows from the one that is being settled."""
        change.path = self
        change.asked_at = time.monotonic()
        change.live.waiting.appendleft(change)

    async def carry_out(self, live: LiveRoom, player: Player, command: Command) -> None:
        """Carry a command out for those who can await it; raises `Refused` and `StoreUnavailable`."""
        await self.until_settled(ServerChange(live, self.now(), player, command))

    async def until_settled(self, change: ServerChange) -> None:
        """Carry a change out for those who can await it; raises `Refused` and `StoreUnavailable`."""
        pending, then = Pending(), change.then

        def settled(error: Exception | None) -> None:
            then(error)
            pending.stored(None) if error is None else pending.failed(error)

        change.then = settled
        self.submit(change)
        await pending.future

    def read_again(self, live: LiveRoom) -> None:
        """Read a room soon of which something newer may be stored."""
        live.doubt()
        if live.is_uncertain and live.change is None:
            self.submit(ServerChange(live, self.now(), make=leave_alone))

    def show(self, live: LiveRoom, answer: tuple[Session, bytes] | None = None) -> bool:
        """Send the state to everybody in the room, together with an answer to one of them.

        Where those who watch were shown a state just now, return False: they are shown the newest a little later.
        """
        room = live.room
        live.is_unshown = False
        is_shown = live.show(self.now() if room.clock is not None or room.gone_at else 0, answer)
        if not is_shown and not live.is_watching_due:
            live.is_watching_due = True
            asyncio.get_running_loop().call_at(live.watched_from, self.show_watchers, live)
        if live.has_bots:
            self.on_shown(live)
        return is_shown

    def show_watchers(self, live: LiveRoom) -> None:
        """Send the state to those who watch, if they are still to be shown it."""
        if live.is_watching_due:
            live.is_watching_due = False
            live.show_watchers(self.now())

    def settle(self, change: Change, error: Exception | None) -> None:
        """Let a change be answered, show what is new, and go on with what waits."""
        live = change.live
        try:
            answer = change.settled(error)
            if live.is_unshown and live.phase is not RoomPhase.GONE:
                self.show(live, answer)
            elif answer is not None:
                answer[0].connection.push_frame(answer[1])
        except Exception:
            log.exception("a change could not be answered or shown", room=live.room.code)
        live.change = None
        if live.waiting:
            self._go_on(live)
        elif error is not None and live.is_uncertain and isinstance(error, StoreUnavailable):
            seconds = READ_AGAIN_SECONDS * random.uniform(1, 2)
            asyncio.get_running_loop().call_later(seconds, self.read_again, live)

    def failed(self, change: Change, error: Exception) -> None:
        """Try a change again on what others stored, or give it up."""
        live = change.live
        if live.change is not change:
            live.doubt()
            return
        if isinstance(error, Conflict | Unsettled):
            live.doubt()
            if self._try_again(change, error):
                return
            if isinstance(error, Conflict):
                error = Refused(ErrorCode.BUSY, "room", retry_ms=500)
        elif not isinstance(error, NotStored):
            live.doubt()
        self.settle(change, error)

    # -- inside -------------------------------------------------------------------------------------------------

    def _answer_in_time(self, change: Change) -> None:
        """See to it that a change is answered in time whose turn may come late, or more than once."""
        left = change.asked_at + ANSWER_SECONDS - time.monotonic()
        asyncio.get_running_loop().call_later(max(0.0, left), self._give_up, change)

    def _give_up(self, change: Change) -> None:
        """Say of a change that is not settled yet that the store is away; what is stored of it is read later."""
        live, error = change.live, StoreUnavailable("It did not answer in time.")
        if live.change is change:
            live.doubt()
            self.settle(change, error)
        elif change in live.waiting:
            live.waiting.remove(change)
            change.settled(error)

    def _go_on(self, live: LiveRoom) -> None:
        """Begin what waits in a room, until something has to wait for the store."""
        if live.is_going_on:
            return
        live.is_going_on = True
        while live.waiting and live.change is None:
            live.change = live.waiting.popleft()
            self._begin(live.change)
        live.is_going_on = False

    def _begin(self, change: Change) -> None:
        """Apply a change whose turn has come, and let it be stored."""
        live = change.live
        room = live.room
        try:
            if live.phase is not RoomPhase.STORED:
                if live.is_gone:
                    raise live.why_gone()
                if live.is_uncertain:
                    self._answer_in_time(change)
                    self.tasks.start(self._reload(change))
                    return
            if room.clock_started_at is not None and change.player is not NOBODY and is_expired(room, change.now):
                then = partial(_follow, change)
                live.change = change = ServerChange(live, change.now, asked_at=change.asked_at, path=self, then=then)
                self._answer_in_time(change)
            change.after = after = change.apply(room)
            if after is None:
                self._rooms.delete(room.code, live.revision, change)
            elif after is room and live.revision != MISSING:
                self.settle(change, None)
            elif after.result is not None and room.result is None:
                change.finished = game = finished_game(after, time.time_ns() // 1_000_000)
                is_kept = not after.was_aborted and self.keeps(live, game)
                change.after = after = replace(after, kept_at=game.at if is_kept else 0)
                self._rooms.save(after.code, after, live.revision, change, game if is_kept else None)
            else:
                self._rooms.save(after.code, after, live.revision, change)
        except Refused as refused:
            self.settle(change, refused)
        except Exception as error:
            log.exception("a change failed", room=room.code, command=type(change.command).__name__)
            self.settle(change, error)

    def _try_again(self, change: Change, error: Conflict | Unsettled) -> bool:
        """Try a change again, the first time at once and then after longer and longer rests; tell whether it may be."""
        change.attempts += 1
        if isinstance(error, Conflict) and change.attempts == 1:
            self._begin(change)
            return True
        if change.attempts >= ATTEMPTS if isinstance(error, Conflict) else change.rested >= UNSETTLED_SECONDS:
            return False
        rest = min(max(change.rested, FIRST_REST_SECONDS), LONGEST_REST_SECONDS)  # as long as all before: doubling
        change.rested += rest
        self._answer_in_time(change)
        self.tasks.start(self._begin_after(change, rest))
        return True

    async def _begin_after(self, change: Change, rest: float) -> None:
        """Begin a change after a rest (s), on what is stored by then."""
        await asyncio.sleep(rest)
        if change.live.change is change:
            self._begin(change)

    async def _reload(self, change: Change) -> None:
        """Read a room again that somebody else may have changed, and go on with the change."""
        live = change.live
        try:
            found = await self._rooms.load(live.room.code)
        except Exception as error:
            if not isinstance(error, StoreUnavailable) or isinstance(error, Unreadable):
                log.exception("a room cannot be read", room=live.room.code)
            if live.change is change:
                self.settle(change, error)
            return
        if live.change is not change:
            return
        if found is None:
            live.enter(RoomPhase.GONE)
            self.on_gone(live, closed(live.room.code, "elsewhere"))
        else:
            live.enter(RoomPhase.STORED)
            if found[1] != live.revision:  # else it is what is here, less who has not come back yet
                before = live.room
                live.room, live.revision = found
                live.is_unshown = True
                self.on_room(live, before)
        self._begin(change)


class ServerChange(Change, kw_only=True, eq=False):
    """A change that no session asked for. `make` returns the next room, by the rules where it is None; `then` is called
    at the end, with the error if there was one.
    """

    then: Callable[[Exception | None], object] = lambda error: None
    make: Callable[[Room], Room | None] | None = None

    def apply(self, room: Room) -> Room | None:
        return super().apply(room) if self.make is None else self.make(room)

    def settled(self, error: Exception | None) -> None:
        self.then(error)


def leave_alone(room: Room) -> Room:
    """Return the same room: for what comes of having its turn, as an uncertain room is read again first."""
    return room


def _follow(change: Change, error: Exception | None) -> None:
    """Let a change follow the end of a turn whose clock had run out before it was asked for."""
    if error is None:
        change.live.waiting.appendleft(change)
    else:
        change.settled(error)
