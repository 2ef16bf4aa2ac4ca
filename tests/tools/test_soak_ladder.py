"""Rated games at two servers that are killed: each counts once, and all folds have the same digest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peer import Message
from tools.soak import ladder


@pytest.mark.timeout(180)
@pytest.mark.long
async def test_each_rated_game_counts_once_though_servers_are_killed(tmp_path: Path) -> None:
    found = await ladder.run(tmp_path, games=8, kills=1, streams=2, people=12, tables=4)
    assert not found.has_failed, str(found)
    assert (found.played, len(found.digests)) == (8, 3)


def over(id: str, winner: str) -> Message:
    """Return the state of a game of two that has ended."""
    seats = {"X": {"player": "a"}, "O": {"player": "b"}}
    result = {"winner": winner, "reason": "line"}
    return {"game_id": id, "ply": 7, "seats": seats, "rules": {"preset": "four"}, "result": result}


def test_a_game_that_is_lost_doubled_or_rated_as_it_was_not_is_found_out() -> None:
    found = ladder.Found(streams=1)
    for number in range(3):
        found.note(over(f"K7M4PQ-{number}-17952084", "X"))
    rated = [("K7M4PQ-0-17952084", 1), ("K7M4PQ-0-17952999", 1), ("K7M4PQ-1-17952084", 0)]
    rows = [{"game_id": id, "rules": "four", "players": ["a", "b"], "score": score} for id, score in rated]
    ladder.compare(rows, found)
    assert (found.lost, found.doubled, found.changed) == (1, 1, 1)
    assert any("nobody was shown the end of K7M4PQ-0-17952999" in line for line in found.wrong)
    found.note(over("K7M4PQ-0-17952084", "O"))
    assert "was shown as" in found.wrong[-1]
