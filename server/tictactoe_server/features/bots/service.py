"""The bots in rooms. A bot receives each state, pauses as a person would, and sends a command like any other player."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal, get_args

import structlog
from click import IntRange

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.requests import Choose, Draw, Move, Rematch, Undo
from tictactoe_server.core.change import RoomChange
from tictactoe_server.core.core import Service
from tictactoe_server.core.live_room import LiveRoom
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.workers import Priority
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.play.checks import LEVELS
from tictactoe_server.rooms.play import Command
from tictactoe_server.rooms.room import Player, Refused, Room, is_first_move
from tictactoe_server.settings import Options, option, seconds_option
from tictactoe_server.storage.store import StoreUnavailable

Kind = Literal["move", "draw", "undo", "rematch"]
"""A bot's kinds of duties: to move when it has the turn, and to answer offers and requests from other players."""

Moment = tuple[str, int, tuple[int, ...], int]
"""When a duty arises: the bot's mark, the game's number, the moves, and the number of passes and choices so far."""

_SHARE_OF_CLOCK_FOR_PAUSE: Final = 0.1  # the largest share of a bot's remaining time that its pause may take
_AGAIN_SECONDS: Final = 0.5  # until a failed command is retried, doubled each time
_LONGEST_AGAIN_SECONDS: Final = 4.0

log: Final = structlog.get_logger(__name__)


class Bots(Service):
    """Plays for all bots that have seats in rooms on this server.

    Args:
        act: Carries out a command of a bot in the room with this code; may raise `Refused` or `StoreUnavailable`.
    """

    def __init__(
        self, pool: ThinkingPool, act: Callable[[str, Player, Command], Awaitable[None]], *, pause_seconds: float
    ) -> None:
        self.pool = pool
        self._act = act
        self._pause = pause_seconds
        self._duties: dict[tuple[str, Kind], tuple[Moment, asyncio.Task[None]]] = {}
        self._is_closed = False

    def on_shown(self, live: LiveRoom) -> None:
        """Update the bots' duties in a room. A game of bots alone pauses without watchers unless a feature runs it."""
        if live.watchers or live.room.terms.is_organised or not live.is_for_bots:
            self.update(live.room)

    def update(self, room: Room) -> None:
        """Start the duties of the bots that arise from a room's new state, and cancel duties that have ended."""
        asked, position = {} if self._is_closed else _asked(room), room.position
        for kind in get_args(Kind):
            mark, matter = asked.get(kind), (room.code, kind)
            moment = None if mark is None else (mark, room.game, position.moves, len(position.between))
            answered, task = self._duties.get(matter, (None, None))
            if answered == moment:
                continue
            if task is not None:
                task.cancel()
                del self._duties[matter]
            if moment is not None:
                task = self.tasks.start(self._fulfil(kind, room, moment[0]))
                self._duties[matter] = moment, task
                task.add_done_callback(partial(self._forget, matter))

    async def close(self) -> None:
        self._is_closed = True
        await self.tasks.stop()

    def _forget(self, matter: tuple[str, Kind], task: asyncio.Task[None]) -> None:
        if matter in self._duties and self._duties[matter][1] is task:
            del self._duties[matter]

    async def _fulfil(self, kind: Kind, room: Room, mark: str) -> None:
        """Decide on a command and send it, retrying until the room accepts or refuses it.

        `update` cancels this coroutine when the duty has ended.
        """
        seat, again_seconds = room.seat(mark), _AGAIN_SECONDS
        player = Player(seat.player, seat.name)
        try:
            command = await self._decide(kind, room, mark)
            # Once a command has been sent, it is not cancelled.
            while not await asyncio.shield(self.tasks.start(self._deliver(room.code, player, command))):
                await asyncio.sleep(again_seconds)
                again_seconds = min(2 * again_seconds, _LONGEST_AGAIN_SECONDS)
        except Exception:
            log.exception("bot failed", room=room.code)

    async def _deliver(self, code: str, player: Player, command: Command) -> bool:
        try:
            await self._act(code, player, command)
        except Refused as refused:
            log.debug("bot request refused", room=code, code=refused.code)
            return refused.code is not ErrorCode.BUSY
        except StoreUnavailable:
            log.debug("bot waits for the store", room=code)
            return False
        except Exception:
            log.exception("bot request failed", room=code)
            return False
        return True

    async def _decide(self, kind: Kind, room: Room, mark: str) -> Command:
        match kind:
            case "move":
                return await self._choose_move(room, mark)
            case "draw":
                return await self._answer_draw(room, mark)
            case "undo":
                return Undo(room=room.code, action="accept")
            case "rematch":
                return Rematch(room=room.code)

    async def _choose_move(self, room: Room, mark: str) -> Command:
        position, left = room.position, _seconds_left(room, mark)
        pause = min(self._pause, left * _SHARE_OF_CLOCK_FOR_PAUSE)
        await asyncio.sleep(pause)
        is_awaited = any(seat.online and not (seat.is_server_bot or seat.left) for seat in room.held_seats)
        priority = Priority.PERSON if is_awaited else Priority.BOTS
        choose: Callable[..., Awaitable[int | str]] = self.pool.choose_side if position.options else self.pool.choose
        level = LEVELS[room.seat(mark).bot or ""]
        chosen = await choose(position, level, clock_seconds=left - pause, priority=priority)
        _, answering = self._duties.get((room.code, "draw"), (None, None))
        if answering is not None:  # answer a draw offer first, because a move ends it
            await asyncio.wait([answering])
        if isinstance(chosen, str):
            return Choose(room=room.code, take=chosen, ply=position.ply)
        return Move(room=room.code, cell=chosen, ply=position.ply)

    async def _answer_draw(self, room: Room, mark: str) -> Command:
        left = _seconds_left(room, mark)
        plays_on = await self.pool.is_better_than_draw(room.position, mark, clock_seconds=left)
        return Draw(room=room.code, action="decline" if plays_on else "accept")


def _seconds_left(room: Room, mark: str) -> float:
    if room.clock_started_at is None or room.position.turn != mark or is_first_move(room):
        return math.inf
    return room.remaining_ms[mark] / 1000


def _asked(room: Room) -> dict[Kind, str | None]:
    """Return the kinds of duties that arise from a room's state, each with the bot's mark, or None if it is not due."""
    bots = [mark for mark, seat in room.seats.items() if seat is not None and seat.is_server_bot]
    if room.status == "over":
        agreed = room.offers.rematch
        return {"rematch": next((mark for mark in bots if agreed and mark not in agreed), None)}
    if room.status == "waiting":
        return {}
    turn, draw, undo = room.position.turn, room.offers.draw, room.offers.undo
    playing = [mark for mark in bots if mark in room.position.active_marks]
    return {
        "move": next((mark for mark in bots if mark == turn), None),
        "draw": next((mark for mark in playing if draw not in (None, mark)), None),
        "undo": next((mark for mark in playing if undo not in (None, mark)), None),
    }


@dataclass(frozen=True, slots=True)
class BotOptions(Options):
    """How bots play, and whether a demo game is shown."""

    section = "Bots"

    pause_seconds: float = seconds_option(
        0.6, "Pause before each move of a bot, so that people can follow; 0 for none.", 0, 60, "bot-pause"
    )
    deadline_seconds: float = seconds_option(1.0, "Longest time for a bot's move.", 0.05, 60, "bot-deadline")
    workers: int | None = option(
        "Number of processes that compute bots' moves. [default: the number of cores less 1, but at least 1]",
        IntRange(1, 256),
        "NUMBER",
        name="bot-workers",
    )
    demo: bool = option(
        "Show a game between bots on the home page while nobody else is playing.",
        default=True,
        name="demo/--no-demo",
    )


def make(parts: Parts, pool: ThinkingPool | None = None) -> Iterable[Service]:
    """Return the services of this feature; `pool` replaces the processes that compute bots' moves."""
    core, options = parts.core, parts.settings.of(BotOptions)

    async def act(code: str, player: Player, command: Command) -> None:
        await RoomChange(await core.rooms.find(code), core.time(), player, command).until_settled()

    pool = pool or ThinkingPool(options.workers, options.deadline_seconds)
    bots = Bots(pool, act, pause_seconds=options.pause_seconds)
    core.hooks.analysts.append(pool.analyse)
    core.hooks.bot_levels.update(LEVELS)
    core.rooms.on_shown.add(bots.on_shown)
    return bots, pool


FEATURE: Final = Feature(make=make, options=BotOptions)
