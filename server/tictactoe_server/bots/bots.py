"""Bots at the tables: they notice a state, wait as a person would, and send their command like anybody else."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, Final

import structlog

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.requests import Draw, Move, Rematch, Undo
from tictactoe_server.bots.levels import level_of
from tictactoe_server.bots.pool import ThinkingPool
from tictactoe_server.bots.waiting import Priority
from tictactoe_server.rooms import Command, Player, Refused, Room
from tictactoe_server.stores import StoreUnavailable

Act = Callable[[str, Player, Command], Awaitable[None]]
"""Carries out a command of a player of the house: (room's code, player, command)."""

Moment = tuple[str, int, tuple[int, ...], int]
"""What a bot thinks about: its mark, the game's number, the moves, how many players were passed over."""

Thoughts = dict[str, tuple[Moment, asyncio.Task[None]]]
"""What a bot thinks about in each room, by the room's code."""

_SHARE_OF_CLOCK_FOR_PAUSE: Final = 0.1
"""How much of its running clock a bot pauses at most."""

_AGAIN_SECONDS: Final = 0.5
"""How long until a bot tries again what the server could not do for it."""

log: Final = structlog.get_logger(__name__)


class Bots:
    """Plays all seats that bots hold in this process's rooms."""

    def __init__(self, pool: ThinkingPool, act: Act, *, pause_seconds: float) -> None:
        self._pool = pool
        self._act = act
        self._pause = pause_seconds
        self._moves: Thoughts = {}
        self._draws: Thoughts = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def worker_ids(self) -> tuple[int, ...]:
        """The ids of the processes that think."""
        return self._pool.process_ids

    def notice(self, room: Room) -> None:
        """Take notice of a room's new state; answers come later, as commands."""
        self._consider(self._draws, room, _asked_for_draw(room), self._answer_draw)
        self._consider(self._moves, room, _to_move(room), self._take_turn)
        if mark := _asked_for_undo(room):
            self._start(self._send(room.code, room.seat(mark), Undo(room=room.code, action="accept")))
        if mark := _asked_for_rematch(room):
            self._start(self._send(room.code, room.seat(mark), Rematch(room=room.code)))

    async def close(self) -> None:
        """Stop all thinking and end the workers."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._pool.close()

    def _consider(
        self,
        thoughts: Thoughts,
        room: Room,
        mark: str | None,
        think: Callable[[Room, str], Coroutine[Any, Any, None]],
    ) -> None:
        """See to it that one thought is given to this moment, by the bot with that mark, and none to any other."""
        position = room.position
        moment = None if mark is None else (mark, room.game, position.moves, len(position.passed))
        current = thoughts.get(room.code)
        if current is not None and current[0] == moment:
            return
        if current is not None:
            del thoughts[room.code]
            current[1].cancel()
        if mark is not None and moment is not None:
            thoughts[room.code] = (moment, self._start(think(room, mark)))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a bot failed", exc_info=error)

    async def _take_turn(self, room: Room, mark: str) -> None:
        with _forgetting(self._moves, room.code) as forget:
            left = _seconds_left(room, mark)
            pause = min(self._pause, left * _SHARE_OF_CLOCK_FOR_PAUSE)
            await asyncio.sleep(pause)
            position, seat = room.position, room.seat(mark)
            cell = await self._pool.choose(
                position, level_of(seat.bot or ""), clock_seconds=left - pause, priority=_priority_of(room)
            )
            if (answering := self._draws.get(room.code)) is not None:
                # The move would let the offer lapse: it is answered first.
                await asyncio.wait([answering[1]])
            forget()
            await self._send(room.code, seat, Move(room=room.code, cell=cell, ply=position.ply))

    async def _answer_draw(self, room: Room, mark: str) -> None:
        with _forgetting(self._draws, room.code) as forget:
            is_better = await self._pool.is_better_than_draw(
                room.position, mark, clock_seconds=_seconds_left(room, mark)
            )
            forget()
            answer = Draw(room=room.code, action="decline" if is_better else "accept")
            await self._send(room.code, room.seat(mark), answer)

    async def _send(self, code: str, seat: SeatState, command: Command) -> None:
        """Send a command until the server has dealt with it."""
        while True:
            try:
                await self._act(code, Player(seat.player, seat.name), command)
            except Refused as refused:
                if refused.code is not ErrorCode.BUSY:
                    log.debug("a bot came too late", room=code, code=refused.code)
                    return
            except StoreUnavailable:
                log.debug("a bot waits for the store", room=code)
            else:
                return
            await asyncio.sleep(_AGAIN_SECONDS)


@contextlib.contextmanager
def _forgetting(thoughts: Thoughts, code: str) -> Iterator[Callable[[], None]]:
    """Yield what takes the running task out of the thoughts, so that its own command does not cancel it."""
    task = asyncio.current_task()

    def forget() -> None:
        if code in thoughts and thoughts[code][1] is task:
            del thoughts[code]

    try:
        yield forget
    finally:
        forget()


def _priority_of(room: Room) -> Priority:
    """Return how urgent the room's moves are: whether a person sits there and is connected."""
    seats = (seat for seat in room.seats.values() if seat is not None and not seat.bot)
    return Priority.PERSON if any(seat.online and not seat.left for seat in seats) else Priority.HOUSE


def _seconds_left(room: Room, mark: str) -> float:
    """Return what a mark's clock leaves it; endless where it does not run."""
    if room.clock_started_at is None or room.position.turn != mark:
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
