"""Counts of the whole 3x3 game tree. A wrong rule of play, turn or ending changes them."""

from collections import Counter
from functools import cache

from tictactoe_engine import PRESETS, Position


@cache
def count_games(position: Position) -> Counter[str | None]:
    """Return how many complete games each mark wins from here; None counts the draws."""
    if position.outcome is not None:
        return Counter({position.outcome.winner: 1})
    return sum((count_games(position.play(cell)) for cell in position.legal_cells), Counter())


def test_the_255168_complete_games_are_won_and_drawn_in_the_known_shares() -> None:
    assert count_games(Position.start(PRESETS["classic"])) == {"X": 131_184, "O": 77_904, None: 46_080}
