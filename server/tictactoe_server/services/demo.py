"""A game of computers for whoever looks at the first page while nobody else plays: there is always one to watch.

It is no room: nobody joins it, no list or count knows it, and nothing of it is kept. There is one a server, begun when
somebody looks and ended when nobody does. A process of its own thinks, to which the system gives what nobody else wants
of the processor; while a worker of the bots has something to do it waits.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
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
from tictactoe_server.agenda import Tasks
from tictactoe_server.core.core import Core, Service
from tictactoe_server.listings.listed import live_board
from tictactoe_server.services.bots.pool import ThinkingPool
from tictactoe_server.services.bots.thinking import IDLE
from tictactoe_server.services.bots.workers import COMMAND, Worker, WorkerLost

GAMES: Final = ("connect-four", "gomoku", "four")
PACE_SECONDS: Final = 1.5
OVER_SECONDS: Final = 6.0
_THINKS_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 30.0  # for an answer, as others come first, and until a worker is started again

log: Final = structlog.get_logger(__name__)


class Demo(Service):
    """Plays while it is wanted. `pool` is that of the bots, whose workers come first."""

    def __init__(self, pool: ThinkingPool, command: Sequence[str] = (*COMMAND, IDLE)) -> None:
        self._pool = pool
        self._command = command
        self._tasks = Tasks()
        self._playing: asyncio.Task[None] | None = None
        self._random = Random()

    def start(self, core: Core) -> None:
        self._show = core.lobby.boards.show_demo
        core.lobby.boards.on_demo_wanted.add(self.want)

    async def close(self) -> None:
        """End it, and return when its process is gone, which to cancel twice would leave behind."""
        self.want(False)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def want(self, is_wanted: bool) -> None:
        """Play from now on, or no more."""
        if is_wanted and self._playing is None:
            self._playing = self._tasks.start(self._play_on())
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
        """Play a game; the level that begins changes from game to game, and so does the kind of game in the end."""
        rules = PRESETS[GAMES[game // 2 % len(GAMES)]]
        levels = ("hard", "medium") if game % 2 else ("medium", "hard")
        names = {mark: f"{level}-bot" for mark, level in zip(rules.marks, levels, strict=True)}
        position = Position.start(rules)
        while True:
            self._show(_board_of(position, game, names))
            if position.outcome is not None:
                await asyncio.sleep(OVER_SECONDS)
                return
            await asyncio.sleep(PACE_SECONDS)
            question: partial[Any] = partial(choose_by_rules, position, self._random)
            if names[position.turn or ""] == "hard-bot":
                budget = Budget(seconds=_THINKS_SECONDS, clock=time.monotonic)
                question = partial(best_cells, position, budget, is_brief=True)
            answer = await self._ask(worker, question)
            if answer is not None:
                cell = answer if isinstance(answer, int) else self._random.choice(answer)
                position = position.play(cell)

    async def _ask(self, worker: Worker, question: partial[Any]) -> Any:
        """Return the answer, None where others have the processor or there is none to be had just now."""
        if self._pool.workers.are_busy:
            return None
        if worker.pid is None and (reason := await worker.start()):
            log.info("no process for the game of the first page", reason=reason)
            await asyncio.sleep(_PATIENCE_SECONDS)
            return None
        with suppress(TimeoutError, WorkerLost):
            return await worker.answer(question, _PATIENCE_SECONDS)
        return None


def _board_of(position: Position, game: int, names: dict[str, str]) -> LiveBoard:
    outcome = position.outcome
    result = UNSET if outcome is None else Result(outcome.winner, outcome.reason, outcome.line)
    return live_board(position, room="", game=game, turn=position.turn, names=names, result=result)
