import asyncio
import sys
from asyncio.subprocess import PIPE

import pytest

from tests.environment import environment
from tests.simulation.ledger import Violation
from tools.soak.cluster import Found


async def test_a_run_that_takes_too_long_is_stopped_and_exits_with_1() -> None:
    command = (sys.executable, "-m", "tools.soak", "--minutes", "0")
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment())
    output, _ = await process.communicate()
    assert (process.returncode, output) == (1, b"Gave up: not finished in 0.0 minutes\n")


def test_a_broken_promise_fails_the_run() -> None:
    broken = Found()
    assert not broken.has_failed
    with pytest.raises(Violation):
        broken.ledger.fail("A move is gone.")
    assert broken.has_failed
    assert "A move is gone." in str(broken)
