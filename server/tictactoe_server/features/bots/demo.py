"""A demonstration game between bots, shown on the first page while no other game is running.

The game is not in a room: it is not listed, counted or stored, and cannot be joined. Each server has its own game,
which runs while a session subscribes to it. Its moves come from a process with idle priority, which is not used while
the bots' workers are busy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import count
from random import Random
from typing import Any, Final

import structlog
from msgspec import UNSET

from tictactoe_engine import PRESETS, Position
from tictactoe_engine.search import Budget, best_cells
from tictactoe_engine.strategies import choose_by_rules
from tictactoe_protocol.pushes import LiveBoard, Result
from tictactoe_server import clock
from tictactoe_server.core.core import Core, Service
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.thinking import IDLE
from tictactoe_server.features.bots.workers import COMMAND, Worker, WorkerLost
from tictactoe_server.rooms.view import live_board

GAMES: Final = ("connect-four", "gomoku", "four")
PACE_SECONDS: Final = 1.0
AHEAD_MOVES: Final = 10
"""The number of moves already played when a game is first shown."""
OVER_SECONDS: Final = 6.0
_THINKS_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 30.0  # until the idle process must have answered, and until a failed start is retried

log: Final = structlog.get_logger(__name__)


class Demo(Service):
    """Plays demonstration games while a subscriber wants them. The workers in the bots' `pool` have precedence."""

    def __init__(self, core: Core, pool: ThinkingPool, command: Sequence[str] = (*COMMAND, IDLE)) -> None:
        self._pool = pool
        self._command = command
        self._show: Callable[[LiveBoard | None], None] = lambda board: None
        self._playing: asyncio.Task[None] | None = None
        self._random = Random()
        core.hooks.on_demo_wanted.add(self.want)

    async def close(self) -> None:
        self.want(False, self._show)
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def want(self, is_wanted: bool, show: Callable[[LiveBoard | None], None]) -> None:
        """Start or stop the game; `show` shows its boards, or None when it stops."""
        self._show = show
        if is_wanted and self._playing is None:
            self._playing = self.tasks.start(self._play_on())
        elif not is_wanted and self._playing is not None:
            self._playing.cancel()
            self._playing = None
            self._show(None)

    async def _play_on(self) -> None:
        worker = Worker(self._command)
        try:
            for game in count(1):
                await self._play(worker, game)
        finally:
            await worker.stop()

    async def _play(self, worker: Worker, game: int) -> None:
        """Play the game with the number `game`.

        The level of the first player changes with every game, and the rules with every second game.
        """
        rules = PRESETS[GAMES[game // 2 % len(GAMES)]]
        levels = ("hard", "medium") if game % 2 else ("medium", "hard")
        names = {mark: f"{level}-bot" for mark, level in zip(rules.marks, levels, strict=True)}
        position = await self._play_ahead(worker, Position.start(rules))
        while True:
            outcome = position.outcome
            result = UNSET if outcome is None else Result(outcome.winner, outcome.reason, outcome.line)
            self._show(live_board(position, room="", game=game, turn=position.turn, names=names, result=result))
            if outcome is not None:
                await asyncio.sleep(OVER_SECONDS)
                return
            await asyncio.sleep(PACE_SECONDS)
            question: partial[Any] = partial(choose_by_rules, position, self._random)
            if names[position.turn or ""] == "hard-bot":
                budget = Budget(seconds=_THINKS_SECONDS, clock=clock.monotonic)
                question = partial(best_cells, position, budget, is_brief=True)
            answer = await self._ask(worker, question)
            if answer is not None:
                cell = answer if isinstance(answer, int) else self._random.choice(answer)
                position = position.play(cell)

    async def _play_ahead(self, worker: Worker, position: Position) -> Position:
        """Return a position some moves into the game, or an earlier position if the worker may not or cannot answer."""
        while len(position.moves) < AHEAD_MOVES:
            cell = await self._ask(worker, partial(choose_by_rules, position, self._random))
            if cell is None or (following := position.play(cell)).outcome is not None:
                break
            position = following
        return position

    async def _ask(self, worker: Worker, question: partial[Any]) -> Any:
        """Return the worker's answer, or None if the bots' workers are busy or the worker fails."""
        if self._pool.workers.are_busy:
            return None
        if worker.pid is None and (reason := await worker.start()):
            log.info("demonstration game not played: its process did not start", reason=reason)
            await asyncio.sleep(_PATIENCE_SECONDS)
            return None
        with suppress(TimeoutError, WorkerLost):
            return await worker.answer(question, _PATIENCE_SECONDS)
        return None
