"""`python -m tools.soak` exits with 1 for a violation and for a run that takes too long."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE

from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tools.soak.kills import Kills
from tools.soak.ledger import Ledger


async def test_a_run_that_takes_too_long_is_stopped_and_exits_with_1() -> None:
    command = (sys.executable, "-m", "tools.soak", "--minutes", "0", "kills")
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment())
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, _ = await process.communicate()
    assert (process.returncode, output) == (1, b"kills: gave up: not finished in 0.0 minutes\n")


def test_a_lost_move_fails_the_run() -> None:
    broken = Kills(1, Ledger(lost=["a move"]))
    assert broken.has_failed
    assert "a move" in str(broken)
    assert not Kills(1, Ledger()).has_failed
