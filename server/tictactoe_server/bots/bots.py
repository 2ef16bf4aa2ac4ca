"""Bots at the tables: they notice a state, wait as a person would, and send their command like anybody else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from tictactoe_protocol.pushes import SeatState
from tictactoe_protocol.requests import Move, Rematch
from tictactoe_server.bots.levels import level_of
from tictactoe_server.bots.pool import ThinkingPool
from tictactoe_server.rooms import Command, Player, Refused, Room

Act = Callable[[str, Player, Command], Awaitable[None]]
"""Carries out a command of a player of the house: (room's code, player, command)."""

Moment = tuple[int, int, int]
"""What a bot thinks about: the game's number, how many moves lie on the board, how many players were passed over."""

log: Final = structlog.get_logger(__name__)


class Bots:
    """Plays all seats that bots hold in this process's rooms."""

    def __init__(self, pool: ThinkingPool, act: Act, *, pause_seconds: float) -> None:
        self._pool = pool
        self._act = act
        self._pause = pause_seconds
        self._turns: dict[str, tuple[Moment, asyncio.Task[None]]] = {}
        self._answers: set[asyncio.Task[None]] = set()

    @property
    def worker_ids(self) -> tuple[int, ...]:
        """The ids of the processes that think."""
        return self._pool.process_ids

    def notice(self, room: Room) -> None:
        """Take notice of a room's new state; answers come later, as commands."""
        turn = room.position.turn if room.status == "playing" else None
        seat = room.seats[turn] if turn is not None else None
        moment = (room.game, room.position.ply, len(room.position.passed))
        thinking = self._turns.get(room.code)
        if thinking is not None and (seat is None or not seat.bot or thinking[0] != moment):
            thinking[1].cancel()
            thinking = None
        if thinking is None and seat is not None and seat.bot:
            self._turns[room.code] = (moment, asyncio.create_task(self._take_turn(room, seat)))
        if room.status == "over" and room.offers.rematch:
            self._agree_to_rematch(room)

    async def close(self) -> None:
        """Stop all thinking and end the workers."""
        tasks = [*(task for _, task in self._turns.values()), *self._answers]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._pool.close()

    async def _take_turn(self, room: Room, seat: SeatState) -> None:
        task = asyncio.current_task()
        try:
            await asyncio.sleep(self._pause)
            position = room.position
            cell = await self._pool.choose(position, level_of(seat.bot or ""))
            self._forget(room.code, task)
            move = Move(room=room.code, cell=cell, ply=position.ply)
            await self._send(room.code, seat, move)
        finally:
            self._forget(room.code, task)

    def _forget(self, code: str, task: asyncio.Task[None] | None) -> None:
        if code in self._turns and self._turns[code][1] is task:
            del self._turns[code]

    def _agree_to_rematch(self, room: Room) -> None:
        for mark, seat in room.seats.items():
            if seat is not None and seat.bot and mark not in room.offers.rematch:
                answer = asyncio.create_task(self._send(room.code, seat, Rematch(room=room.code)))
                self._answers.add(answer)
                answer.add_done_callback(self._answers.discard)
                return

    async def _send(self, code: str, seat: SeatState, command: Command) -> None:
        try:
            await self._act(code, Player(seat.player, seat.name), command)
        except Refused as refused:
            log.debug("a bot came too late", room=code, code=refused.code)
        except Exception:
            log.exception("a bot failed", room=code)
