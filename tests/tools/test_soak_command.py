"""`python -m tools.soak` exits with 1 for a broken promise and for a run that takes too long."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.environment import environment
from tests.peer import PATIENCE_SECONDS
from tests.simulation.ledger import Violation
from tools.soak import event
from tools.soak.cluster import Found


async def test_a_run_that_takes_too_long_is_stopped_and_exits_with_1() -> None:
    command = (sys.executable, "-m", "tools.soak", "--minutes", "0", "event")
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, env=environment())
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, _ = await process.communicate()
    assert (process.returncode, output) == (1, b"event: gave up: not finished in 0.0 minutes\n")


def test_a_broken_promise_fails_the_run() -> None:
    broken = Found()
    assert not broken.has_failed
    with pytest.raises(Violation):
        broken.ledger.fail("A move is gone.")
    assert broken.has_failed
    assert "A move is gone." in str(broken)


@pytest.mark.long
async def test_an_event_goes_on_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event, "AWAY_SECONDS", 0.3)
    monkeypatch.setattr(event, "THINK_SECONDS", 0.1)
    found = await event.run(tmp_path, entrants=2, bots=0, kills=1)
    assert found.wrong == []
    assert (len(found.results), found.records) == (1, 1)
