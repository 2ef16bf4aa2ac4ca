"""Tables of small boards: which games have one, its size, and that a serialised table gives the same answers."""

import pickle
from random import Random

import pytest

from tests.engine.naive import open_positions
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, analyse, best_cells, fits_table, solve

SPREAD = Rules(20, 20, 3, blocked=frozenset(range(400)) - {21, 22, 23, 41, 42, 43, 61, 62, 63})


@pytest.mark.parametrize(
    ("rules", "fits"),
    [
        (PRESETS["classic"], True),
        (PRESETS["misere"], True),
        (SPREAD, True),
        (Rules(2, 5, 3), False),
        (Rules(marks="XOA"), False),
    ],
    ids=["classic", "misere", "nine cells of a large board", "ten cells", "three players"],
)
def test_games_of_two_on_up_to_nine_cells_have_a_table(rules: Rules, fits: bool) -> None:
    assert fits_table(Position.start(rules)) == fits


def test_nine_free_cells_of_a_large_board_have_the_values_of_3x3() -> None:
    small, large = Position.start(Rules()), Position.start(SPREAD)
    rng = Random(1)
    while small.outcome is None:
        here, there = analyse(small, Budget()), analyse(large, Budget())
        assert here.value == there.value
        assert [*here.cells.values()] == [*there.cells.values()]
        choice = rng.randrange(len(small.legal_cells))
        small, large = small.play(small.legal_cells[choice]), large.play(large.legal_cells[choice])


def test_a_pickled_table_is_small_and_gives_the_same_answers() -> None:
    rules = PRESETS["misere"]
    pickled = pickle.dumps(solve(rules))
    assert len(pickled) < 20_480
    table = pickle.loads(pickled)
    for position in list(open_positions(Position.start(rules)).values())[::9]:
        assert analyse(position, Budget(nodes=0), table) == analyse(position, Budget())
        assert best_cells(position, Budget(nodes=0), table) == best_cells(position, Budget())


def test_a_table_that_is_given_is_the_one_that_is_asked() -> None:
    blank = solve(Rules(3, 3, 3, gravity=True))
    start = Position.start(Rules())
    assert best_cells(start, Budget(), blank) != best_cells(start, Budget())
