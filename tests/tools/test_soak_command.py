"""`python -m tools.soak` as it is used: a figure on stdout, progress on stderr, and 1 for a violation."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE

import pytest

from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tools.soak.cuts import BACK_SECONDS, Cuts
from tools.soak.kills import Kills
from tools.soak.ledger import Ledger
from tools.soak.restart import Restart
from tools.soak.retries import Retries
from tools.soak.seats import Seats


async def run(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tools.soak", *arguments, stdout=PIPE, env=environment()
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, _ = await process.communicate()
    return process.returncode, output.decode()


async def test_a_run_prints_its_figure_and_ends_with_0() -> None:
    code, output = await run("seats", "--races", "3")
    assert code == 0
    assert output.startswith("seats: 3 races, 0 with none or two in the seat")


async def test_a_run_that_takes_too_long_is_given_up_with_1() -> None:
    code, output = await run("--minutes", "0", "seats")
    assert (code, output) == (1, "seats: given up: not done in 0.0 minutes\n")


def test_each_finding_fails_for_what_its_run_looks_for() -> None:
    broken = Ledger(lost=["a move"])
    for bad in (
        Kills(1, broken),
        Cuts(broken),
        Cuts(Ledger(), away_seconds=[0.1] * 100 + [2 * BACK_SECONDS]),
        Retries(wrong=["played twice"]),
        Retries(ledger=broken),
        Restart(1, back_seconds=60.0),
        Restart(1, wrong=["a seat is gone"]),
        Seats(wrong=["two in a seat"]),
        Seats(told_seconds=[0.01] * 90 + [1.0] * 10),
    ):
        assert bad.has_failed, bad
        assert str(bad)


@pytest.mark.parametrize(
    "good",
    [Kills(1, Ledger()), Cuts(Ledger(), away_seconds=[0.1] * 9), Retries(), Restart(1), Seats(told_seconds=[0.01] * 9)],
    ids=lambda finding: type(finding).__name__,
)
def test_a_finding_without_fault_is_none(good: Kills | Cuts | Retries | Restart | Seats) -> None:
    assert not good.has_failed
    assert str(good)
