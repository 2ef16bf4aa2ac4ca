"""The short forms of the long runs: kills in the middle of play, lost answers, cut connections, raced seats.

Everybody comes back, and what was acknowledged is there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults import broken_server
from tools.soak import cuts, event, kills, restart, retries, seats, store


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


async def test_an_event_goes_on_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event, "AWAY_SECONDS", 0.3)
    monkeypatch.setattr(event, "THINK_SECONDS", 0.1)
    found = await event.run(tmp_path, entrants=2, bots=0, kills=1)
    assert found.wrong == []
    assert (len(found.results), found.records) == (1, 1)


async def test_every_room_is_back_with_its_seats_and_moves(tmp_path: Path) -> None:
    found = await restart.run(tmp_path, rooms=20, pairs=4)
    assert found.wrong == []
    assert found.seated_seconds > 0


def test_a_kill_in_mid_run_loses_no_acknowledged_save(tmp_path: Path) -> None:
    findings = store.run(tmp_path, kills=1, saves=100)
    assert (findings.lost, findings.torn) == ([], [])
    assert findings.acknowledged >= 100


async def test_a_move_whose_answer_or_request_was_lost_is_played_once_when_it_is_sent_again(tmp_path: Path) -> None:
    found = await retries.run(tmp_path, retries=30, rooms=4)
    assert not found.has_failed, str(found)
    assert 0 < found.answers_lost < found.retries


async def test_players_whose_connections_are_cut_at_any_byte_are_back_in_their_seats(tmp_path: Path) -> None:
    found = await cuts.run(tmp_path, cuts=20, rooms=3, watchers=1)
    assert not found.has_failed, str(found)
    assert len(found.away_seconds) >= 20


async def test_of_two_connections_that_race_for_a_seat_one_has_it_and_the_other_is_told(tmp_path: Path) -> None:
    found = await seats.run(tmp_path, races=15)
    assert found.wrong == []
