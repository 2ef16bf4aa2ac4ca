"""Tables of small boards: which games have one, its size, and whether a serialised table gives the same answers."""

import pickle

import pytest

from tests.engine.naive import open_positions
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, analyse, best_cells, fits_table, solve


@pytest.mark.parametrize(
    ("rules", "fits"),
    [
        (PRESETS["classic"], True),
        (PRESETS["misere"], True),
        (Rules(2, 5, 3), False),
        (Rules(marks="XOA"), False),
    ],
    ids=["classic", "misere", "ten cells", "three players"],
)
def test_games_of_two_on_up_to_nine_cells_have_a_table(rules: Rules, fits: bool) -> None:
    assert fits_table(Position.start(rules)) == fits


def test_a_pickled_table_is_small_and_gives_the_same_answers() -> None:
    rules = PRESETS["misere"]
    pickled = pickle.dumps(solve(rules))
    assert len(pickled) < 20_480
    table = pickle.loads(pickled)
    for position in list(open_positions(Position.start(rules)).values())[::9]:
        assert analyse(position, Budget(nodes=0), table) == analyse(position, Budget())
        assert best_cells(position, Budget(nodes=0), table) == best_cells(position, Budget())
