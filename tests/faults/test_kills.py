"""A server that is killed in the middle of play: everybody comes back, and what was acknowledged is there."""

from __future__ import annotations

from pathlib import Path

from tests.faults import broken_server
from tests.soak import event, kills


async def test_what_was_acknowledged_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    found = await kills.run(tmp_path, kills=2, commands=300, rooms=4, watchers=1)
    assert found.ledger.violations == []
    assert not found.has_failed
    assert found.ledger.acknowledged >= 300


async def test_the_kill_loop_finds_out_about_a_store_that_acknowledges_too_early(tmp_path: Path) -> None:
    found = await kills.run(
        tmp_path, kills=2, commands=300, rooms=4, command=broken_server.COMMAND, options=("--early",)
    )
    assert found.has_failed
    assert found.ledger.lost or found.ledger.seq_violations or found.has_stalled


async def test_an_event_goes_on_after_a_kill(tmp_path: Path) -> None:
    found = await event.run(tmp_path, entrants=2, bots=0, kills=1)
    assert found.wrong == []
    assert (len(found.results), found.records) == (1, 1)
