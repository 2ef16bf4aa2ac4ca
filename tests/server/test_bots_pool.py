import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.peer import until
from tests.server import odd_worker
from tictactoe_engine import PRESETS, Position
from tictactoe_engine.search import Budget, analyse
from tictactoe_engine.strategies import Level, opening_cells
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.workers import COMMAND, Priority

LONG_SECONDS = 60.0
"""A deadline that no test reaches."""

SEARCHED = Position.replay(PRESETS["gomoku"], (50, 0, 51, 15, 52, 30))
"""X has an open three; the simple rules, which look one move ahead, play in the middle instead."""
SEARCHED_BEST = {49, 53}

TRAP = Position.replay(PRESETS["classic"], (0, 4, 8))
"""X has two opposite corners; the simple rules play a third corner and lose; the table plays an edge."""
TRAP_BEST = {1, 3, 5, 7}

OpenPool = Callable[..., ThinkingPool]


@pytest.fixture
async def open_pool(tmp_path: Path) -> AsyncIterator[OpenPool]:
    """Return a function that opens a pool with a single worker: a good one, or one with a habit of `odd_worker`."""
    async with contextlib.AsyncExitStack() as stack:

        def start(habit: str | None = None, deadline_seconds: float = LONG_SECONDS) -> ThinkingPool:
            odd = (sys.executable, odd_worker.__file__, habit or "", str(tmp_path / "mark"))
            pool = ThinkingPool(1, deadline_seconds, command=odd if habit else COMMAND)
            stack.push_async_callback(pool.workers.close)
            return pool

        yield start


async def until_best(pool: ThinkingPool, position: Position, best: set[int]) -> None:
    """Ask until the answer differs from that of the simple rules."""
    while await pool.choose(position, Level.PERFECT) not in best:  # noqa: ASYNC110 - every attempt is a new request
        await asyncio.sleep(0)


@pytest.mark.parametrize("position", [SEARCHED, TRAP], ids=["searched", "table"])
async def test_without_workers_the_rules_strategy_answers(position: Position) -> None:
    pool = ThinkingPool(2, LONG_SECONDS, command=("/nonexistent/worker",))
    assert await pool.choose(position, Level.PERFECT) in position.legal_cells
    assert await pool.is_better_than_draw(position, "X")
    assert await pool.analyse(position) is None
    await pool.workers.close()


@pytest.mark.parametrize(
    ("habit", "position", "best"),
    [
        ("dies on start", SEARCHED, SEARCHED_BEST),
        ("dies on start", TRAP, TRAP_BEST),
        ("hangs on start", SEARCHED, SEARCHED_BEST),
        ("babbles on start", TRAP, TRAP_BEST),
    ],
)
async def test_a_failed_start_is_retried(open_pool: OpenPool, habit: str, position: Position, best: set[int]) -> None:
    pool = open_pool(habit, 2.0)
    with pytest.MonkeyPatch.context() as patch:  # the next worker has its time: one that is good may be slow
        patch.setattr("tictactoe_server.features.bots.workers._START_SECONDS", 0.5)
        assert await pool.choose(position, Level.PERFECT) not in best
    await until_best(pool, position, best)


async def test_no_question_waits_while_workers_do_not_start(open_pool: OpenPool) -> None:
    pool = open_pool("hangs on start")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tictactoe_server.features.bots.workers._START_SECONDS", 0.1)
        assert await pool.analyse(SEARCHED) is None
    asked = asyncio.create_task(pool.analyse(SEARCHED))
    await asyncio.sleep(0)
    assert asked.done()


@pytest.mark.parametrize("habit", ["hangs on a question", "dies on a question"])
async def test_a_worker_that_does_not_answer_is_replaced(open_pool: OpenPool, habit: str) -> None:
    pool = open_pool(habit, 0.5)
    assert await pool.choose(SEARCHED, Level.PERFECT) not in SEARCHED_BEST
    await until_best(pool, SEARCHED, SEARCHED_BEST)


async def test_a_question_that_fails_in_its_worker_is_answered_by_the_simple_rules(open_pool: OpenPool) -> None:
    pool = open_pool("fails")
    assert await pool.choose(SEARCHED, Level.PERFECT) in SEARCHED.legal_cells
    (worker,) = pool.workers.process_ids
    assert await pool.choose(TRAP, Level.PERFECT) in TRAP.legal_cells
    assert pool.workers.process_ids == (worker,)


async def test_a_worker_leaves_ctrl_c_to_its_server(open_pool: OpenPool) -> None:
    pool = open_pool()
    await pool.analyse(TRAP)
    (worker,) = pool.workers.process_ids
    os.kill(worker, signal.SIGINT)
    assert await pool.analyse(Position.start(PRESETS["misere"])) is not None
    assert pool.workers.process_ids == (worker,)


async def test_closing_a_pool_ends_all_waits(open_pool: OpenPool) -> None:
    pool = open_pool("hangs on a question")
    asked = [asyncio.create_task(pool.analyse(position)) for position in (SEARCHED, TRAP, TRAP.at(1))]
    await until(lambda: pool.workers.process_ids)
    await pool.workers.close()
    assert await asyncio.gather(*asked) == [None, None, None]
    assert pool.workers.process_ids == ()
    assert await pool.analyse(TRAP) is None


async def test_table_lookups_may_exceed_the_deadline(open_pool: OpenPool) -> None:
    pool = open_pool(deadline_seconds=0.0)
    assert await pool.choose(TRAP, Level.PERFECT) in TRAP_BEST
    assert await pool.analyse(TRAP) == analyse(TRAP, Budget())
    lost = TRAP.play(2)
    assert [await pool.is_better_than_draw(lost, mark) for mark in "XO"] == [True, False]


async def test_a_table_is_not_waited_for_when_the_clock_runs_out(open_pool: OpenPool) -> None:
    pool = open_pool("hangs on a question")
    assert await pool.choose(TRAP, Level.PERFECT, clock_seconds=0.1) not in TRAP_BEST
    assert await pool.is_better_than_draw(TRAP.play(2), "O", clock_seconds=0.1)


async def test_a_move_whose_turn_does_not_come_in_time_is_chosen_by_the_simple_rules(open_pool: OpenPool) -> None:
    pool = open_pool("hangs on a question", 0.2)
    cells = await asyncio.gather(*(pool.choose(SEARCHED, Level.PERFECT) for _ in range(20)))
    assert not SEARCHED_BEST & set(cells)
    assert set(cells) <= set(SEARCHED.legal_cells)


async def test_queued_moves_share_the_time_equally(open_pool: OpenPool) -> None:
    pool = open_pool("tells its time", 10.0)
    seconds = await asyncio.gather(*(pool.choose(SEARCHED, Level.PERFECT) for _ in range(10)))
    assert 0 < seconds[0] <= 1
    assert seconds == sorted(seconds)
    assert 1 < seconds[-1] <= 10


async def test_searches_run_by_priority_then_in_order(open_pool: OpenPool) -> None:
    pool = open_pool("counts")
    urgency = (Priority.BOTS, Priority.BOTS, Priority.PERSON, Priority.BOTS, Priority.PERSON)
    order = await asyncio.gather(*(pool.choose(SEARCHED, Level.PERFECT, priority=it) for it in urgency))
    assert order == [2, 3, 0, 4, 1]


async def test_tables_are_cached_until_others_were_used_more_recently(
    open_pool: OpenPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_server.features.bots.pool._MAX_TABLES", 2)
    pool = open_pool()
    names = ("classic", "misere", "classic", "blocker", "classic", "misere")
    tables = [await pool.table_of(PRESETS[name]) for name in names]
    assert tables[0] is tables[2] is tables[4] is not None
    assert tables[1] is not tables[5] is not None


async def test_openings_are_placed_by_the_book_which_no_worker_is_asked_for() -> None:
    pool = ThinkingPool(1, LONG_SECONDS, command=("/nonexistent/worker",))
    position = Position.start(PRESETS["gomoku-standard"])
    while position.ply < 3:
        cell = await pool.choose(position, Level.PERFECT)
        assert cell in opening_cells(position)
        position = position.play(cell)
    assert await pool.choose_side(position, Level.PERFECT) in "XO"
    await pool.workers.close()
