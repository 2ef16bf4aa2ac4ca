"""Tables are solved once for all who ask, and those that were used last are kept."""

from __future__ import annotations

import asyncio

import pytest

from tictactoe_engine import PRESETS, Rules
from tictactoe_engine.search import Table, solve
from tictactoe_server.services.bots.pool import ThinkingPool

CLASSIC, MISERE, BLOCKER = PRESETS["classic"], PRESETS["misere"], PRESETS["blocker"]


class SolvingPool(ThinkingPool):
    """Solves when it is let, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(1)
        self.asked: list[Rules] = []
        self.may_answer = asyncio.Event()
        self.is_able = True

    async def _solve(self, rules: Rules) -> Table | None:
        self.asked.append(rules)
        await self.may_answer.wait()
        return solve(rules) if self.is_able else None


async def test_all_who_ask_meanwhile_share_one_answer_and_it_is_kept() -> None:
    pool = SolvingPool()
    asking = [asyncio.create_task(pool.table_of(CLASSIC)) for _ in range(3)]
    await asyncio.sleep(0)
    pool.may_answer.set()
    first, second, third = await asyncio.gather(*asking)
    assert first is second is third is await pool.table_of(CLASSIC)
    assert pool.asked == [CLASSIC]


async def test_one_who_gives_up_waiting_takes_nothing_from_the_others() -> None:
    pool = SolvingPool()
    impatient, patient = (asyncio.create_task(pool.table_of(CLASSIC)) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    pool.may_answer.set()
    assert await patient == solve(CLASSIC)
    assert (impatient.cancelled(), pool.asked) == (True, [CLASSIC])


async def test_where_a_table_could_not_be_solved_the_next_to_ask_tries_again() -> None:
    pool = SolvingPool()
    pool.may_answer.set()
    pool.is_able = False
    assert await pool.table_of(CLASSIC) is None
    pool.is_able = True
    assert await pool.table_of(CLASSIC) == solve(CLASSIC)


async def test_the_table_that_was_not_used_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_server.services.bots.pool._MAX_TABLES", 2)
    pool = SolvingPool()
    pool.may_answer.set()
    for rules in (CLASSIC, MISERE, CLASSIC, BLOCKER, CLASSIC, MISERE):
        await pool.table_of(rules)
    assert pool.asked == [CLASSIC, MISERE, BLOCKER, MISERE]
