"""Worker processes that think: queued fairly, held to a deadline, replaced when they die.

Answers that cost next to nothing (random moves, simple rules, the tables of small boards) are found at once, in this
process. Everything else takes its turn at a worker. The more moves wait, the less time each of them gets, so that an
answer comes within about the deadline however many ask.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from random import Random, SystemRandom
from typing import Final, TypeVar

import structlog

from tictactoe_engine import Position
from tictactoe_engine.search import Analysis, Budget, analyse, fits_table
from tictactoe_engine.strategies import Level, choose_by_rules, strategy_of
from tictactoe_server.bots.thinking import (
    analyse_position,
    choose_cell,
    is_better_than_draw,
    prepare_worker,
    process_id,
)

_QUICK_CELLS: Final = 64
_LEAST_SECONDS: Final = 0.02
_SHARE_OF_DEADLINE: Final = 0.85
_SHARE_FOR_OFFERS: Final = 0.5
_GRACE_SECONDS: Final = 0.5
_START_SECONDS: Final = 30.0

Answer = TypeVar("Answer")
Question = Callable[[float], Answer]
"""What a worker is asked: a function that can be pickled, of the seconds that it may take."""

log = structlog.get_logger(__name__)


class WorkerLost(Exception):
    """A worker died or did not answer; it has been replaced."""


class Worker:
    """One process, started when it is first needed."""

    def __init__(self) -> None:
        self._executor: ProcessPoolExecutor | None = None
        self._pid: int | None = None

    async def answer(self, question: Question[Answer], seconds: float) -> Answer:
        """Return the process's answer; raises `WorkerLost` where it dies or is late by more than the grace."""
        loop = asyncio.get_running_loop()
        try:
            executor = await self._started()
            answer = loop.run_in_executor(executor, question, seconds)
            return await asyncio.wait_for(answer, seconds + _GRACE_SECONDS)
        except (BrokenProcessPool, TimeoutError) as error:
            self.stop()
            raise WorkerLost(type(error).__name__) from error

    def stop(self) -> None:
        """End the process at once; the next question starts another."""
        if self._executor is None:
            return
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        self._executor.shutdown(wait=False, cancel_futures=True)
        self._executor = self._pid = None

    async def _started(self) -> ProcessPoolExecutor:
        if self._executor is None:
            context = multiprocessing.get_context("spawn")
            self._executor = ProcessPoolExecutor(1, context, prepare_worker)
            started = asyncio.get_running_loop().run_in_executor(self._executor, process_id)
            self._pid = await asyncio.wait_for(started, _START_SECONDS)
            log.debug("bot worker started", pid=self._pid)
        return self._executor


class ThinkingPool:
    """Chooses moves for bots. `deadline_seconds` is about how long an answer may take once its pause is over."""

    def __init__(self, workers: int | None = None, deadline_seconds: float = 1.0) -> None:
        count = max(1, (os.cpu_count() or 2) - 1) if workers is None else workers
        self._deadline = deadline_seconds
        self._count = count
        self._idle: asyncio.Queue[Worker] = asyncio.Queue()
        self._workers = [Worker() for _ in range(count)]
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._waiting = 0
        self._random = SystemRandom()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The ids of the worker processes that run now."""
        return tuple(worker._pid for worker in self._workers if worker._pid is not None)

    async def choose(self, position: Position, level: Level, *, at_most: float = math.inf) -> int:
        """Return a legal cell, within `at_most` seconds where that is sooner than the deadline.

        Falls back to the simple rules where no worker answers in time.
        """
        quick = _quick_strategy(position, level)
        if quick is not None:
            return quick(position, Random(self._random.getrandbits(64)))
        seed = self._random.getrandbits(64)
        cell = await self._ask(partial(choose_cell, position, level, seed), min(at_most, self._deadline))
        return choose_by_rules(position, Random(seed)) if cell is None else cell

    async def is_better_than_draw(self, position: Position, mark: str) -> bool:
        """Tell whether a player had better go on than agree to a draw; yes where no worker answers in time."""
        question = partial(is_better_than_draw, position, mark)
        answer = await self._ask(question, self._deadline * _SHARE_FOR_OFFERS)
        return answer is None or answer

    async def analyse(self, position: Position) -> Analysis | None:
        """Return what the position and its moves are worth, or None where no worker answers in time."""
        if fits_table(position):
            return analyse(position, Budget())
        return await self._ask(partial(analyse_position, position), self._deadline)

    async def _ask(self, question: Question[Answer], seconds: float) -> Answer | None:
        """Return a worker's answer, or None where none is to be had in time."""
        for _ in range(2):
            try:
                return await self._ask_worker(question, seconds)
            except WorkerLost as lost:
                log.warning("bot worker lost", reason=str(lost))
                if str(lost) != BrokenProcessPool.__name__:
                    break
        return None

    async def _ask_worker(self, question: Question[Answer], seconds: float) -> Answer:
        self._waiting += 1
        try:
            worker = await self._idle.get()
            share = min(1.0, self._count / self._waiting)
        finally:
            self._waiting -= 1
        try:
            return await worker.answer(question, max(_LEAST_SECONDS, seconds * share * _SHARE_OF_DEADLINE))
        finally:
            self._idle.put_nowait(worker)

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.stop()


def _quick_strategy(position: Position, level: Level) -> Callable[[Position, Random], int] | None:
    """Return the strategy itself where it answers at once, else None."""
    rules = position.rules
    if level is Level.RANDOM or (level is Level.RULES and rules.size <= _QUICK_CELLS):
        return strategy_of(level, Budget())
    if fits_table(position):
        return strategy_of(level, Budget(seconds=1.0, clock=time.monotonic))
    return None
