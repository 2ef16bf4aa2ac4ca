"""Tables are solved once for all who ask, and those that were used last are kept."""

from __future__ import annotations

import asyncio

from tictactoe_engine import PRESETS, Rules
from tictactoe_engine.search import Table, solve
from tictactoe_server.services.bots.pool import Tables

CLASSIC, MISERE, BLOCKER = PRESETS["classic"], PRESETS["misere"], PRESETS["blocker"]


class Solver:
    """Solves when it is let, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Rules] = []
        self.may_answer = asyncio.Event()
        self.is_able = True

    async def __call__(self, rules: Rules) -> Table | None:
        self.asked.append(rules)
        await self.may_answer.wait()
        return solve(rules) if self.is_able else None


async def test_all_who_ask_meanwhile_share_one_answer_and_it_is_kept() -> None:
    solver = Solver()
    tables = Tables(solver)
    asking = [asyncio.create_task(tables.table_of(CLASSIC)) for _ in range(3)]
    await asyncio.sleep(0)
    solver.may_answer.set()
    first, second, third = await asyncio.gather(*asking)
    assert first is second is third is await tables.table_of(CLASSIC)
    assert solver.asked == [CLASSIC]


async def test_one_who_gives_up_waiting_takes_nothing_from_the_others() -> None:
    solver = Solver()
    tables = Tables(solver)
    impatient, patient = (asyncio.create_task(tables.table_of(CLASSIC)) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    solver.may_answer.set()
    assert await patient == solve(CLASSIC)
    assert (impatient.cancelled(), solver.asked) == (True, [CLASSIC])


async def test_where_a_table_could_not_be_solved_the_next_to_ask_tries_again() -> None:
    solver = Solver()
    solver.may_answer.set()
    solver.is_able = False
    tables = Tables(solver)
    assert await tables.table_of(CLASSIC) is None
    solver.is_able = True
    assert await tables.table_of(CLASSIC) == solve(CLASSIC)


async def test_the_table_that_was_not_used_for_longest_is_forgotten() -> None:
    solver = Solver()
    solver.may_answer.set()
    tables = Tables(solver, max_kept=2)
    for rules in (CLASSIC, MISERE, CLASSIC, BLOCKER, CLASSIC, MISERE):
        await tables.table_of(rules)
    assert solver.asked == [CLASSIC, MISERE, BLOCKER, MISERE]
