"""Bots at the tables: they notice a state, wait as a person would, and send their command like anybody else."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal

import structlog

from tictactoe_engine.strategies import choose_at_random
from tictactoe_protocol import ErrorCode
from tictactoe_protocol.requests import Draw, Move, Rematch, Undo
from tictactoe_server.core.core import Core
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.core.service import Service
from tictactoe_server.rooms import Command, Player, Refused, Room, is_first_move
from tictactoe_server.services.bots.levels import level_of
from tictactoe_server.services.bots.pool import ThinkingPool
from tictactoe_server.services.bots.waiting import Priority
from tictactoe_server.storage.store import StoreUnavailable

Act = Callable[[str, Player, Command], Awaitable[None]]
"""Carries out a command of a player of the house: (room's code, player, command)."""

Decide = Callable[[Room, str], Awaitable[Command]]
"""Finds what a bot, by its mark, answers to a room's state."""

Moment = tuple[str, int, tuple[int, ...], int]
"""What a bot answers: its mark, the game's number, the moves, how many players were passed over."""

Matter = tuple[str, Literal["draw", "move", "undo", "rematch"]]
"""A room's code and what is to be answered there."""

_SHARE_OF_CLOCK_FOR_PAUSE: Final = 0.1
"""How much of its running clock a bot pauses at most."""

_AGAIN_SECONDS: Final = 0.5
_LONGEST_AGAIN_SECONDS: Final = 4.0
"""How long until a bot tries again what the server could not do for it: twice as long each time, up to this."""

log: Final = structlog.get_logger(__name__)


@dataclass(slots=True, eq=False)
class Duty:
    """What a bot owes a moment; when the moment is over it is cut off, but not while its command is on the way."""

    moment: Moment
    is_sending: bool = False
    task: asyncio.Task[None] = field(init=False)


class Bots(Service):
    """Plays all seats that bots hold in this process's rooms."""

    def __init__(self, pool: ThinkingPool, *, pause_seconds: float) -> None:
        self._pool = pool
        self._pause = pause_seconds
        self._duties: dict[Matter, Duty] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    act: Act

    def start(self, core: Core) -> None:
        self.act = core.registry.act
        core.changes.on_shown.add(self._look)

    @property
    def worker_ids(self) -> tuple[int, ...]:
        """The ids of the processes that think."""
        return self._pool.process_ids

    def _look(self, live: LiveRoom) -> None:
        if not live.is_paused:
            self.notice(live.room)

    def notice(self, room: Room) -> None:
        """See whether bots have to answer a room's new state; answers come later, as commands."""
        self._consider((room.code, "draw"), room, _asked_for_draw(room), self._answer_draw)
        self._consider((room.code, "move"), room, _to_move(room), self._choose_move)
        self._consider((room.code, "undo"), room, _asked_for_undo(room), _allow_undo)
        self._consider((room.code, "rematch"), room, _asked_for_rematch(room), _agree_to_rematch)

    async def close(self) -> None:
        """Stop all thinking and end the workers."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._pool.close()

    def _consider(self, matter: Matter, room: Room, mark: str | None, decide: Decide) -> None:
        """See to it that this moment is answered once, by the bot with that mark, and no other moment any more."""
        position = room.position
        moment = None if mark is None else (mark, room.game, position.moves, len(position.passed))
        current = self._duties.get(matter)
        if current is not None and current.moment == moment:
            return
        if current is not None:
            del self._duties[matter]
            if not current.is_sending:
                current.task.cancel()
        if mark is not None and moment is not None:
            duty = self._duties[matter] = Duty(moment)
            duty.task = asyncio.create_task(self._fulfil(duty, matter, room, mark, decide))
            self._tasks.add(duty.task)
            duty.task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a bot failed", exc_info=error)

    async def _fulfil(self, duty: Duty, matter: Matter, room: Room, mark: str, decide: Decide) -> None:
        """Decide, and send the command until the server has dealt with it or its moment is over."""
        seat, again_seconds = room.seat(mark), _AGAIN_SECONDS
        try:
            command = await decide(room, mark)
            while not await self._send(duty, room.code, Player(seat.player, seat.name), command):
                if self._duties.get(matter) is not duty:
                    return
                await asyncio.sleep(again_seconds)
                again_seconds = min(2 * again_seconds, _LONGEST_AGAIN_SECONDS)
        finally:
            if self._duties.get(matter) is duty:
                del self._duties[matter]

    async def _send(self, duty: Duty, code: str, player: Player, command: Command) -> bool:
        """Return whether the server has dealt with the command, be it by a refusal."""
        duty.is_sending = True
        try:
            await self.act(code, player, command)
        except Refused as refused:
            log.debug("a bot is refused", room=code, code=refused.code)
            return refused.code is not ErrorCode.BUSY
        except StoreUnavailable:
            log.debug("a bot waits for the store", room=code)
            return False
        except Exception:
            log.exception("a bot's command failed", room=code)
            return False
        finally:
            duty.is_sending = False
        return True

    async def _choose_move(self, room: Room, mark: str) -> Command:
        position, left = room.position, _seconds_left(room, mark)
        pause = min(self._pause, left * _SHARE_OF_CLOCK_FOR_PAUSE)
        await asyncio.sleep(pause)
        try:
            level = level_of(room.seat(mark).bot or "")
            cell = await self._pool.choose(position, level, clock_seconds=left - pause, priority=_priority_of(room))
        except Exception:
            log.exception("a bot moves without a thought", room=room.code)
            cell = choose_at_random(position, Random())
        if (answering := self._duties.get((room.code, "draw"))) is not None:
            # The move would let the offer lapse: it is answered first.
            await asyncio.wait([answering.task])
        return Move(room=room.code, cell=cell, ply=position.ply)

    async def _answer_draw(self, room: Room, mark: str) -> Command:
        try:
            is_better = await self._pool.is_better_than_draw(
                room.position, mark, clock_seconds=_seconds_left(room, mark)
            )
        except Exception:
            log.exception("a bot declines without a thought", room=room.code)
            is_better = True
        return Draw(room=room.code, action="decline" if is_better else "accept")


async def _allow_undo(room: Room, mark: str) -> Command:
    return Undo(room=room.code, action="accept")


async def _agree_to_rematch(room: Room, mark: str) -> Command:
    return Rematch(room=room.code)


def _priority_of(room: Room) -> Priority:
    """Return how urgent the room's moves are: whether a person sits there and is connected."""
    seats = (seat for seat in room.seats.values() if seat is not None and not seat.bot)
    return Priority.PERSON if any(seat.online and not seat.left for seat in seats) else Priority.HOUSE


def _seconds_left(room: Room, mark: str) -> float:
    """Return what a mark's clock leaves it; endless where it does not run."""
    if room.clock_started_at is None or room.position.turn != mark or is_first_move(room):
        return math.inf
    return room.remaining_ms[mark] / 1000


def _to_move(room: Room) -> str | None:
    """Return the mark of the bot whose turn it is, or None."""
    turn = room.position.turn if room.status == "playing" else None
    return turn if turn is not None and room.seat(turn).bot else None


def _asked_for_draw(room: Room) -> str | None:
    """Return the mark of the bot that has been offered a draw, or None."""
    return _asked(room, room.offers.draw)


def _asked_for_undo(room: Room) -> str | None:
    """Return the mark of the bot that has been asked to let a move be taken back, or None."""
    return _asked(room, room.offers.undo)


def _asked(room: Room, asker: str | None) -> str | None:
    if asker is None or room.status != "playing":
        return None
    return next((mark for mark in room.position.active_marks if mark != asker and room.seat(mark).bot), None)


def _asked_for_rematch(room: Room) -> str | None:
    """Return the mark of a bot that has not agreed to the rematch that others want, or None."""
    if room.status != "over" or not room.offers.rematch:
        return None
    return next((mark for mark in room.seats if mark not in room.offers.rematch and room.seat(mark).bot), None)
