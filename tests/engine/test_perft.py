"""Exact counts of the whole 3x3 game tree: they move when any rule of play, turn or ending is wrong."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from tictactoe_engine import PRESETS, Outcome, Position

START = Position.start(PRESETS["classic"])


@cache
def count_games(position: Position) -> Counter[Outcome | None]:
    """Return how many games that go on from here end in each outcome."""
    if position.outcome is not None:
        return Counter({position.outcome: 1})
    return sum((count_games(position.play(cell)) for cell in position.legal_cells), Counter())


@pytest.fixture(scope="module")
def endings() -> Counter[Outcome | None]:
    return count_games(START)


def test_there_are_255168_complete_games(endings: Counter[Outcome | None]) -> None:
    assert endings.total() == 255_168


@pytest.mark.parametrize(("winner", "games"), [("X", 131_184), ("O", 77_904), (None, 46_080)])
def test_the_games_are_won_and_drawn_in_the_known_shares(
    endings: Counter[Outcome | None], winner: str | None, games: int
) -> None:
    assert sum(count for outcome, count in endings.items() if outcome and outcome.winner == winner) == games


def test_there_are_5478_distinct_positions_with_the_empty_one() -> None:
    seen = {START}
    frontier = [START]
    while frontier:
        position = frontier.pop()
        reached = {position.play(cell) for cell in position.legal_cells} - seen
        seen |= reached
        frontier.extend(reached)
    assert len(seen) == 5_478
