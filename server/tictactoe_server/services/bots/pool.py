"""Everything that bots and reviews want to know, from whoever can tell: this process at once, or a worker in time.

Random moves, the simple rules and the tables of small boards that are at hand cost next to nothing and are answered
here. Everything else takes its turn at a worker, the more urgent first, and is held to the deadline: the more wait,
the less time each of them gets, and whose turn does not come in time goes without. Workers are started when they are
needed, and again after a pause where that fails.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Sequence
from functools import partial
from random import Random, SystemRandom
from typing import Final

import structlog

from tictactoe_engine import Position, Rules
from tictactoe_engine.search import Analysis, Budget, Table, analyse, best_cells, fits_table
from tictactoe_engine.strategies import Level, choose_at_random, choose_by_rules
from tictactoe_server.services.bots.tables import Tables
from tictactoe_server.services.bots.thinking import analyse_position, choose_cell, solve_table
from tictactoe_server.services.bots.waiting import Job, Priority, Waiting
from tictactoe_server.services.bots.worker import COMMAND, Answer, NotStarted, Worker, WorkerLost

_LEAST_SECONDS: Final = 0.02
_SHARE_OF_DEADLINE: Final = 0.85
_SHARE_FOR_OFFERS: Final = 0.5

_SHARE_OF_CLOCK: Final = 0.4
_SHARE_OF_CLOCK_FOR_TABLE: Final = 0.8
"""How much of its running clock a bot thinks, and waits for a table, at most."""

_TABLE_SECONDS: Final = 10.0
"""A worker that has not solved a table after so long hangs."""

_FIRST_REST_SECONDS: Final = 0.5
_LONGEST_REST_SECONDS: Final = 30.0

log = structlog.get_logger(__name__)


class ThinkingPool:
    """Chooses moves for bots. `deadline_seconds` is how long an answer may take once its pause is over."""

    def __init__(
        self, workers: int | None = None, deadline_seconds: float = 1.0, *, command: Sequence[str] = COMMAND
    ) -> None:
        count = max(1, (os.cpu_count() or 2) - 1) if workers is None else workers
        self._deadline = deadline_seconds
        self._workers = [Worker(command) for _ in range(count)]
        self._serving: list[asyncio.Task[None]] = []
        self._resting = 0
        self._is_closed = False
        self._waiting = Waiting()
        self._tables = Tables(self._solve)
        self._random = SystemRandom()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The ids of the worker processes that run now."""
        return tuple(worker.pid for worker in self._workers if worker.pid is not None)

    @property
    def waiting(self) -> int:
        """How many questions wait for a worker."""
        return len(self._waiting)

    async def choose(
        self, position: Position, level: Level, *, clock_seconds: float = math.inf, priority: Priority = Priority.PERSON
    ) -> int:
        """Return a legal cell, by the simple rules where no worker answers before the deadline.

        On a small board the table is waited for, past the deadline too. `clock_seconds` is what the mover's clock
        has left: long before its end the rules choose.
        """
        rng = Random(self._random.getrandbits(64))
        if level is Level.RANDOM:
            return choose_at_random(position, rng)
        cell = None
        if level is Level.PERFECT and fits_table(position):
            table = await self._table_of(position.rules, clock_seconds)
            cell = None if table is None else rng.choice(best_cells(position, Budget(), table))
        elif level is Level.PERFECT:
            seconds = min(self._deadline, clock_seconds * _SHARE_OF_CLOCK)
            cell = await self._ask(partial(choose_cell, position, rng.getrandbits(64)), priority, seconds, seconds)
        return choose_by_rules(position, rng) if cell is None else cell

    async def is_better_than_draw(self, position: Position, mark: str, *, clock_seconds: float = math.inf) -> bool:
        """Tell whether a player had better go on than agree to a draw; yes where no worker answers in time."""
        analysis = await self._evaluate(position, Priority.PERSON, _SHARE_FOR_OFFERS, clock_seconds)
        if analysis is None:
            return True
        estimate = analysis.value.estimate
        return estimate > 0 if position.turn == mark else estimate < 0

    async def analyse(self, position: Position) -> Analysis | None:
        """Return what the position and its moves are worth, or None where no worker answers in time."""
        return await self._evaluate(position, Priority.REVIEW, 1.0, math.inf)

    async def close(self) -> None:
        """End all workers; who still waits for one goes without an answer, and so does who asks later."""
        self._is_closed = True
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        self._waiting.give_up()
        await asyncio.gather(*(worker.stop() for worker in self._workers))

    async def _evaluate(
        self, position: Position, priority: Priority, share: float, clock_seconds: float
    ) -> Analysis | None:
        """Return the analysis after a share of the deadline, for which it may have to wait twice as long."""
        if fits_table(position):
            table = await self._table_of(position.rules, clock_seconds)
            return None if table is None else analyse(position, Budget(), table)
        at_most = clock_seconds * _SHARE_OF_CLOCK
        seconds, within = min(self._deadline * share, at_most), min(self._deadline * 2, at_most)
        return await self._ask(partial(analyse_position, position), priority, seconds, within)

    async def _table_of(self, rules: Rules, clock_seconds: float) -> Table | None:
        try:
            async with asyncio.timeout(_finite(clock_seconds * _SHARE_OF_CLOCK_FOR_TABLE)):
                return await self._tables.table_of(rules)
        except TimeoutError:
            return None

    async def _solve(self, rules: Rules) -> Table | None:
        return await self._ask(partial(solve_table, rules), Priority.TABLE, _TABLE_SECONDS, math.inf)

    async def _ask(self, question: partial[Answer], priority: Priority, seconds: float, within: float) -> Answer | None:
        """Return a worker's answer after up to so many seconds of its own, or None where none comes `within` others."""
        if self._is_helpless:
            return None
        if not self._serving:
            self._serving = [asyncio.create_task(self._serve(worker)) for worker in self._workers]
        loop = asyncio.get_running_loop()
        job = Job(question, priority, seconds, loop.time() + within, loop.create_future())
        self._waiting.put(job)
        try:
            async with asyncio.timeout(_finite(within)):
                return await job.answer
        except TimeoutError:
            return None
        finally:
            self._waiting.drop(job)

    async def _serve(self, worker: Worker) -> None:
        """Let a worker answer what waits for as long as the pool is open; it is started when it is first needed."""
        rest_seconds = _FIRST_REST_SECONDS
        while True:
            job = await self._waiting.take()
            try:
                if worker.pid is None:
                    await worker.start()
                    rest_seconds = _FIRST_REST_SECONDS
                await self._carry_out(job, worker)
            except NotStarted as error:
                log.warning("bot worker not started", reason=str(error), again_in_seconds=rest_seconds)
                await self._rest(job, rest_seconds)
                rest_seconds = min(2 * rest_seconds, _LONGEST_REST_SECONDS)
            except WorkerLost as lost:
                log.warning("bot worker lost", reason=str(lost))
                if lost.is_late or job.has_lost_worker:
                    job.settle(None)
                else:
                    job.has_lost_worker = True
                    self._waiting.put(job, first=True)
            except asyncio.CancelledError:
                job.settle(None)
                raise
            except Exception:
                log.exception("a bot's question came to nothing")
                job.settle(None)

    async def _carry_out(self, job: Job[Answer], worker: Worker) -> None:
        """Have the job answered, so soon that those behind it can be answered in their time where that is possible."""
        now, workers = asyncio.get_running_loop().time(), len(self._workers)
        left = job.deadline - now
        if left < _LEAST_SECONDS or job.answer.done():
            job.settle(None)
            return
        behind = enumerate(self._waiting.behind(job), workers + 1)
        share = min(((other.deadline - now) * workers / place for place, other in behind), default=left)
        seconds = min(job.seconds, max(_LEAST_SECONDS, min(left, share))) * _SHARE_OF_DEADLINE
        answer = await worker.answer(job.question, seconds)
        job.settle(answer)

    async def _rest(self, job: Job[Answer], seconds: float) -> None:
        """Let a worker that could not be started be; the job is another one's, or nobody's where none runs."""
        self._resting += 1
        try:
            self._waiting.put(job, first=True)
            if self._is_helpless:
                self._waiting.give_up()
            await asyncio.sleep(seconds)
        finally:
            self._resting -= 1

    @property
    def _is_helpless(self) -> bool:
        """Whether no process runs, and none could be started just now."""
        return self._is_closed or (self._resting > 0 and not self.process_ids)


def _finite(seconds: float) -> float | None:
    """Return a limit as asyncio takes it."""
    return None if seconds == math.inf else seconds
