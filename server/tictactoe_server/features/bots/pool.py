"""Chooses moves for bots and analyses positions. Worker processes do this unless it takes hardly any time."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Mapping, Sequence
from functools import partial
from random import SystemRandom
from typing import Final

from tictactoe_engine import Position, Rules
from tictactoe_engine.search import Analysis, Budget, Table, analyse, best_cells, fits_table, solve
from tictactoe_engine.strategies import Level, choose_at_random, choose_by_rules, choose_side_at_random, opening_cells
from tictactoe_server.core.core import Service
from tictactoe_server.features.bots.workers import COMMAND, Priority, Workers

_SHARE_FOR_OFFERS: Final = 0.5
_SHARE_OF_LEVEL: Final = {Level.RULES: 0.05, Level.HARD: 1.0, Level.PERFECT: 1.0}  # of the deadline, to choose a side
_SHARE_OF_CLOCK: Final = 0.4  # the largest share of a bot's remaining time that a search may take
_SHARE_OF_CLOCK_FOR_TABLE: Final = 0.8
_TABLE_SECONDS: Final = 10.0  # until a worker that solves a table counts as stuck
_MAX_TABLES: Final = 256  # with 20 KB each: 5 MB


class ThinkingPool(Service):
    """Chooses moves for bots and analyses positions, in worker processes.

    Args:
        workers: The processes, or their number, by default one less than the machine has cores.
        deadline_seconds: The longest time for choosing a move, without the bot's pause before.
    """

    gauges = (
        ("bot_queue", "Questions that wait for a process in which bots think.", lambda self: self.workers.waiting),
    )

    def __init__(
        self, workers: int | Workers | None = None, deadline_seconds: float = 1.0, *, command: Sequence[str] = COMMAND
    ) -> None:
        if workers is None:
            workers = max(1, (os.cpu_count() or 2) - 1)
        self.workers = Workers(workers, command) if isinstance(workers, int) else workers
        self._deadline = deadline_seconds
        self._tables: dict[Rules, asyncio.Task[Table | None]] = {}
        self._random = SystemRandom()

    def status(self) -> Mapping[str, str]:
        return {"bots": f"{self.workers.waiting} moves are waiting for a bot process"}

    async def close(self) -> None:
        await self.workers.close()

    async def choose(
        self, position: Position, level: Level, *, clock_seconds: float = math.inf, priority: Priority = Priority.PERSON
    ) -> int:
        """Return the cell for the bot's move, chosen by simple rules if no worker answers in time.

        The time is limited by the deadline and by a share of `clock_seconds`, the bot's remaining time. On a small
        board, the bot waits for the solved table of all positions, and only the remaining time limits this wait.
        """
        if level is Level.RANDOM:
            return choose_at_random(position, self._random)
        cells: tuple[int, ...] | None = None
        if level is not Level.RULES and not (cells := opening_cells(position)):
            if fits_table(position):
                table = await self.table_of(position.rules, clock_seconds)
                cells = None if table is None else best_cells(position, Budget(), table)
            else:
                seconds = min(self._deadline, clock_seconds * _SHARE_OF_CLOCK)
                search = partial(best_cells, position, is_brief=level is Level.HARD)
                cells = await self.workers.ask(search, priority, seconds, seconds)
        return self._random.choice(cells) if cells else choose_by_rules(position, self._random)

    async def choose_side(
        self, position: Position, level: Level, *, clock_seconds: float = math.inf, priority: Priority = Priority.PERSON
    ) -> str:
        """Return the option that the bot takes in the opening; raises ValueError if there is nothing to choose.

        It is the best option if a search finds it in time, and otherwise a random option.
        """
        if position.opening is None:
            raise ValueError("There is nothing to choose.")
        if level is Level.RANDOM:
            return choose_side_at_random(position, self._random)
        found = await self.analyse(position, priority, _SHARE_OF_LEVEL[level], clock_seconds)
        return self._random.choice(found.best_options if found else position.rules.marks)

    async def is_better_than_draw(self, position: Position, mark: str, *, clock_seconds: float = math.inf) -> bool:
        """Return True if the player with this mark should decline a draw, or if no worker answers in time."""
        analysis = await self.analyse(position, Priority.PERSON, _SHARE_FOR_OFFERS, clock_seconds)
        return analysis is None or (analysis.value.estimate if position.turn == mark else -analysis.value.estimate) > 0

    async def analyse(
        self,
        position: Position,
        priority: Priority = Priority.REVIEW,
        share: float = 1.0,
        clock_seconds: float = math.inf,
    ) -> Analysis | None:
        """Return the analysis of a position and its moves, or None if no worker answers in time.

        A search takes up to a `share` of the deadline, and must end within twice the deadline, including the wait for a
        worker. A share of `clock_seconds`, the bot's remaining time, limits both.
        """
        if fits_table(position):
            table = await self.table_of(position.rules, clock_seconds)
            return None if table is None else analyse(position, Budget(), table)
        at_most = clock_seconds * _SHARE_OF_CLOCK
        seconds, within = min(self._deadline * share, at_most), min(self._deadline * 2, at_most)
        return await self.workers.ask(partial(analyse, position), priority, seconds, within)

    async def table_of(self, rules: Rules, clock_seconds: float = math.inf) -> Table | None:
        """Return the table with the values of all positions on a small board, solved once and then cached.

        Returns None if it is not solved within a share of `clock_seconds`, the bot's remaining time.
        """
        task = self._tables.pop(rules, None)
        if task is None or (task.done() and task.result() is None):
            task = asyncio.create_task(self._solve(rules))
        self._tables[rules] = task  # at the end, so that the first table is the least recently used
        if len(self._tables) > _MAX_TABLES:
            del self._tables[next(iter(self._tables))]
        try:
            async with asyncio.timeout(clock_seconds * _SHARE_OF_CLOCK_FOR_TABLE):
                return await asyncio.shield(task)
        except TimeoutError:
            return None

    async def _solve(self, rules: Rules) -> Table | None:
        return await self.workers.ask(partial(solve, rules), Priority.TABLE, _TABLE_SECONDS, math.inf)
