from random import Random

import pytest

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, analyse, best_cells
from tictactoe_engine.search.book import decode, encode, is_in_book, look_up
from tools.connect_four.book import levels, position_after, random_moves

FULL_PLIES = 4


def test_the_book_is_about_connect_four_with_any_two_marks() -> None:
    assert is_in_book(PRESETS["connect-four"])
    assert is_in_book(Rules(6, 7, 4, "AB", gravity=True))
    assert not any(is_in_book(rules) for rules in (Rules(6, 7, 4), Rules(7, 7, 4, gravity=True), PRESETS["classic"]))


def test_the_book_has_all_early_positions_without_an_immediate_win() -> None:
    found = list(levels(FULL_PLIES))
    assert [len(level) for level in found] == [1, 4, 25, 121, 568]
    assert all(look_up(each.position) for level in found for each in level)


def test_book_values_agree_with_those_one_ply_later() -> None:
    rng, asked = Random(1), 0
    for _ in range(400):
        moves = random_moves(rng.randrange(10), rng)
        position = position_after(moves or "")
        known = look_up(position)
        if known is None:
            continue
        for cell in position.legal_cells:
            after = position.play(cell)
            answer = look_up(after) if after.outcome is None else None
            if answer is not None:
                asked += 1
                assert -answer.value <= known.value
                assert cell != known.cell or -answer.value == known.value
    assert asked > 300


@pytest.mark.parametrize(
    ("rules", "middle"),
    [(PRESETS["connect-four"], (38,)), (Rules(6, 7, 4), (17, 24)), (Rules(7, 8, 4, gravity=True), (51, 52))],
)
def test_a_large_board_is_begun_in_its_middle_without_a_search(rules: Rules, middle: tuple[int, ...]) -> None:
    assert best_cells(Position.start(rules), Budget(nodes=0)) == middle


def test_analysis_uses_the_book() -> None:
    analysis = analyse(Position.start(PRESETS["connect-four"]), Budget(nodes=100))
    kinds = [value.kind for value in analysis.cells.values()]
    assert kinds == ["loss", "loss", "draw", "win", "draw", "loss", "loss"]
    assert analysis.best_cells == (38,)
    assert not analysis.is_solved


def test_a_book_reads_as_it_was_written() -> None:
    assert decode(encode([[(5, 1, 3)], [(9, -1, 0), (7, 0, 6)]])) == [
        [5 << 5 | 2 << 3 | 3],
        [7 << 5 | 1 << 3 | 6, 9 << 5],
    ]
