"""Values of positions: exact facts from the literature, and a comparison with a plain minimax."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.naive import Memo, later, naive_score, open_positions, preference
from tests.engine.random_games import open_games, rule_sets
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, Value, analyse, best_cells

UNLIMITED = Budget()
KINDS = {1: "win", 0: "draw", -1: "loss"}


@pytest.mark.parametrize(
    "rules",
    [PRESETS["classic"], PRESETS["blocker"], PRESETS["misere"], PRESETS["four"], Rules(4, 4, 4, gravity=True)],
    ids=["classic", "blocker", "misere", "four", "four with gravity"],
)
def test_these_games_are_draws(rules: Rules) -> None:
    analysis = analyse(Position.start(rules), UNLIMITED)
    assert analysis.is_solved
    assert analysis.value == Value("draw")


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("rules", [PRESETS["classic"], PRESETS["blocker"], PRESETS["misere"]])
def test_positions_of_three_by_three_have_the_value_of_a_plain_minimax(rules: Rules, step: int) -> None:
    memos: dict[str, Memo] = {"X": {}, "O": {}}
    for position in islice(open_positions(Position.start(rules)).values(), None, None, step):
        assert_matches_minimax(position, memos[position.turn or ""])


@given(position=open_games(rule_sets(max_side=5, max_cells=15, max_marks=2), least_played=0.4))
def test_values_of_small_boards_match_minimax(position: Position) -> None:
    if len(position.legal_cells) <= 8:
        assert_matches_minimax(position, {})


@given(position=open_games(rule_sets(max_side=3, max_cells=9).filter(lambda rules: len(rules.marks) > 2)))
def test_values_with_more_players_are_against_all_others_together(position: Position) -> None:
    if position.board.count(".") <= 7:
        assert_matches_minimax(position, {})


@given(position=open_games(rule_sets(max_side=6)), nodes=st.integers(0, 400))
def test_a_short_budget_still_values_every_legal_cell(position: Position, nodes: int) -> None:
    analysis = analyse(position, Budget(nodes=nodes))
    assert tuple(analysis.cells) == position.legal_cells
    assert set(analysis.best_cells) <= set(position.legal_cells)
    assert all(analysis.cells[cell] == analysis.value for cell in analysis.best_cells)
    assert all(-1 <= value.estimate <= 1 for value in analysis.cells.values())


def test_a_best_cell_that_is_known_is_not_mixed_with_guesses_of_the_same_score() -> None:
    moves = (5, 6, 2, 3, 9, 8, 14, 4, 10, 0, 7, 1, 13)
    position = Position.replay(Rules(5, 4, 5, "XOAB"), moves, ((4, "X"), (7, "O")))
    analysis = analyse(position, Budget(nodes=88))
    assert {analysis.cells[cell] for cell in analysis.best_cells} == {analysis.value}


@given(
    position=open_games(rule_sets(max_side=4, max_cells=12, max_marks=3), least_played=0.3), nodes=st.integers(0, 99)
)
def test_results_claimed_by_a_short_search_are_correct(position: Position, nodes: int) -> None:
    if position.board.count(".") > 7:
        return
    memo: Memo = {}
    for cell, value in analyse(position, Budget(nodes=nodes)).cells.items():
        result, _ = naive_score(position.play(cell), position.turn or "", memo)
        assert value.kind in {KINDS[result], "unknown"}


@given(position=open_games(rule_sets(max_side=8)), nodes=st.integers(0, 300))
def test_a_budget_of_nodes_gives_the_same_answer_every_time(position: Position, nodes: int) -> None:
    budget = Budget(nodes=nodes)
    assert analyse(position, budget) == analyse(position, budget)
    assert best_cells(position, budget) == best_cells(position, budget)


def test_a_finished_game_is_worth_its_result_and_has_no_cells() -> None:
    position = Position.replay(Rules(), [0, 3, 1, 4, 2])
    analysis = analyse(position, UNLIMITED)
    assert (analysis.value, analysis.cells, analysis.best_cells) == (Value("loss", 0, -1.0), {}, ())
    assert best_cells(position, UNLIMITED) == ()


def test_a_win_found_on_a_wide_board_is_proven_though_not_solved() -> None:
    row = [7 * 15 + column for column in (5, 6, 7)]
    position = Position.replay(PRESETS["gomoku"], [row[0], 0, row[1], 30, row[2], 60])
    analysis = analyse(position, Budget(nodes=2000))
    assert analysis.value == Value("win", 3, 1.0)
    assert not analysis.is_solved
    assert best_cells(position, Budget(nodes=500)) in {(row[0] - 1,), (row[2] + 1,)}


def assert_matches_minimax(position: Position, memo: Memo) -> None:
    mark = position.turn or ""
    expected = {cell: later(naive_score(position.play(cell), mark, memo)) for cell in position.legal_cells}
    analysis = analyse(position, UNLIMITED)
    assert analysis.is_solved
    found = {cell: (value.kind, value.plies or 0) for cell, value in analysis.cells.items()}
    assert found == {cell: (KINDS[result], plies) for cell, (result, plies) in expected.items()}
    best = max(expected.values(), key=preference)
    assert analysis.best_cells == tuple(cell for cell in expected if expected[cell] == best)
    chosen = best_cells(position, UNLIMITED)
    assert chosen == analysis.best_cells or (best[0] < 0 and set(chosen) < set(analysis.best_cells))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [({"nodes": -1}, "-1 nodes"), ({"seconds": 1.0}, "needs a clock"), ({"seconds": -0.5}, "-0.5")],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, float], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Budget(**limits)  # type: ignore[arg-type]
