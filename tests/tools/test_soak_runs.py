"""Short soak runs: after a kill every client returns, and every acknowledged command is still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import broken_server
from tools.soak import event, kills


async def test_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    found = await kills.run(tmp_path, kills=1, commands=100, rooms=3, watchers=1)
    assert found.ledger.violations == []
    assert not found.has_failed
    assert found.ledger.acknowledged >= 100


async def test_the_kill_loop_finds_out_about_a_store_that_acknowledges_too_early(tmp_path: Path) -> None:
    found = await kills.run(
        tmp_path, kills=1, commands=150, rooms=4, command=broken_server.COMMAND, options=("--early",)
    )
    assert found.has_failed
    assert found.ledger.lost or found.ledger.seq_violations or found.has_stalled


@pytest.mark.long
async def test_an_event_goes_on_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event, "AWAY_SECONDS", 0.3)
    monkeypatch.setattr(event, "THINK_SECONDS", 0.1)
    found = await event.run(tmp_path, entrants=2, bots=0, kills=1)
    assert found.wrong == []
    assert (len(found.results), found.records) == (1, 1)
