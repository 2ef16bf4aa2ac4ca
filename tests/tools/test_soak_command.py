"""`python -m tools.soak` as it is used: a figure on stdout, progress on stderr, and exit code 1 for a violation."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE

from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tools.soak.kills import Kills
from tools.soak.ledger import Ledger


async def run(*arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tools.soak", *arguments, stdout=PIPE, env=environment()
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, _ = await process.communicate()
    return process.returncode, output.decode()


async def test_a_run_prints_its_figures_and_exits_with_0() -> None:
    code, output = await run("kills", "--kills", "0", "--commands", "20", "--rooms", "1")
    assert code == 0
    assert output.startswith("kills: 0 kills, 2")


async def test_a_run_that_takes_too_long_is_stopped_and_exits_with_1() -> None:
    code, output = await run("--minutes", "0", "kills")
    assert (code, output) == (1, "kills: gave up: not finished in 0.0 minutes\n")


def test_a_lost_move_fails_the_run() -> None:
    broken = Kills(1, Ledger(lost=["a move"]))
    assert broken.has_failed
    assert "a move" in str(broken)
    assert not Kills(1, Ledger()).has_failed
