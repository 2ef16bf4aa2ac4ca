from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.client.states import CLASSIC
from tictactoe_client.worth import describe_alternatives, describe_estimate, describe_worth, judge_move, list_cells
from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, analyse
from tictactoe_protocol.pushes import AnalysisState, CellValue

GOMOKU = PRESETS["gomoku"]
THREE = PRESETS["three-players"]
WINS = CellValue("win", 3, 1.0)


def analysis_of(moves: tuple[int, ...], rules: Rules = CLASSIC, nodes: int = 2_000) -> AnalysisState:
    """Return what a server answers about the position after these moves."""
    position = Position.replay(rules, moves)
    found = analyse(position, Budget(nodes=nodes))
    cells = {cell: CellValue(value.kind, value.plies, value.estimate) for cell, value in found.cells.items()}
    value = CellValue(found.value.kind, found.value.plies, found.value.estimate)
    return AnalysisState(position.ply, position.turn, value, cells, found.best_cells, found.is_solved)


def made_up(kind: str, plies: int | None = None, estimate: float = 0.0, *, solved: bool = True) -> AnalysisState:
    value = CellValue(kind, plies, estimate)  # type: ignore[arg-type]
    return AnalysisState(4, "X", value, {7: value, 8: CellValue("loss", 2, -1.0)}, (7,), solved)


@pytest.mark.parametrize(
    ("moves", "sentence"),
    [
        ((), "X to move: a draw with best play. Best: any free cell."),
        ((0,), "O to move: a draw with best play. Best: B2."),
        ((0, 3, 1, 4), "X wins at once with C1."),
        ((0, 1), "X wins in 5 moves with A2 or B2 or A3."),
        ((0, 8, 2, 1, 6), "O to move: lost in 2 moves against best play. Every move is lost alike: any free cell."),
        ((0, 3, 1, 4, 2), "The game is over."),
    ],
)
def test_a_solved_position_is_told_with_its_best_moves(moves: tuple[int, ...], sentence: str) -> None:
    assert describe_worth(analysis_of(moves), CLASSIC) == sentence


def test_what_is_lost_names_the_longest_defence() -> None:
    assert describe_worth(made_up("loss", 4), CLASSIC) == "X to move: lost in 4 moves against best play. Longest: B3."


def test_a_win_that_may_be_shorter_says_so() -> None:
    assert describe_worth(made_up("win", 7, 1.0, solved=False), CLASSIC) == "X wins in at most 7 moves with B3."


def test_with_three_players_the_others_are_taken_together() -> None:
    assert describe_worth(made_up("win", 3, 1.0), THREE) == "X wins in 3 moves against all others together with C2."
    assert describe_worth(made_up("loss", 3, -1.0), THREE).startswith("X to move: lost in 3 moves if the others play")


def test_what_is_not_decided_is_told_as_a_guess() -> None:
    told = describe_worth(made_up("unknown", None, 0.5), CLASSIC)
    assert told == "X to move: not decided, X stands clearly better. Best: B3."


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (0.0, "about even"),
        (0.2, "X stands slightly better"),
        (-0.2, "X stands slightly worse"),
        (0.9, "X stands far better"),
        (-1.0, "X stands far worse"),
    ],
)
def test_estimates_in_words(estimate: float, words: str) -> None:
    assert describe_estimate(estimate, "X") == words


def test_the_other_moves_are_told_by_where_they_lead() -> None:
    assert describe_alternatives(analysis_of((0,)), CLASSIC) == "Also: B1, C1, A2, C2, A3, B3, C3 lose."
    assert describe_alternatives(analysis_of((0, 3, 1, 4)), CLASSIC) == "Also: C2 draws. A3, B3, C3 lose."
    assert describe_alternatives(analysis_of(()), CLASSIC) == ""
    later = AnalysisState(4, "X", WINS, {2: WINS, 7: CellValue("win", 5, 1.0)}, (2,), solved=True)
    assert describe_alternatives(later, CLASSIC) == "Also: B3 wins later."


@pytest.mark.parametrize(
    ("moves", "cell", "sentence"),
    [
        ((0,), 4, "O B2 was the best move."),
        ((), 0, "X A1 was as good as any other move."),
        ((0, 1), 3, "X A2 was one of the best moves."),
        ((0, 1, 2, 4, 3, 5, 7, 6), 8, "X C3 was the only move."),
        ((0,), 1, "O B1 was a mistake: it loses. B2 keeps the draw."),
        ((0, 3, 1, 4), 5, "X C2 was a mistake: it only draws. C1 wins."),
        ((0, 1), 8, "X C3 was a mistake: it only draws. A2, B2, A3 win."),
        ((0,), 0, ""),
    ],
)
def test_a_move_is_judged_by_the_position_before_it(moves: tuple[int, ...], cell: int, sentence: str) -> None:
    assert judge_move(analysis_of(moves), cell, CLASSIC) == sentence


def test_a_win_or_a_defence_of_another_length_is_no_mistake() -> None:
    before = AnalysisState(4, "X", WINS, {2: WINS, 7: CellValue("win", 5, 1.0)}, (2,), solved=True)
    assert judge_move(before, 7, CLASSIC) == "X B3 wins too, but later. Best: C1."
    longest = CellValue("loss", 4, -1.0)
    lost = AnalysisState(4, "X", longest, {2: longest, 7: CellValue("loss", 2, -1.0)}, (2,), solved=True)
    assert judge_move(lost, 7, CLASSIC) == "X B3 loses sooner. Best: C1."


def test_a_move_is_judged_by_guesses_where_the_end_is_not_seen() -> None:
    good, bad = CellValue("unknown", None, 0.5), CellValue("unknown", None, 0.1)
    near = CellValue("unknown", None, 0.45)
    before = AnalysisState(9, "O", good, {0: good, 1: bad, 2: near, 3: CellValue("loss", 5, -1.0)}, (0,), False)
    assert judge_move(before, 1, GOMOKU) == "O B1 was weaker than A1."
    assert judge_move(before, 2, GOMOKU) == "O C1 was about as good as the best: A1."
    assert judge_move(before, 3, GOMOKU) == "O D1 was a mistake: it loses. Better: A1."


def test_many_cells_are_counted_past_the_ninth() -> None:
    assert list_cells(range(11), GOMOKU) == "A1, B1, C1, D1, E1, F1, G1, H1, I1 and 2 more"


@given(st.sampled_from([CLASSIC, PRESETS["misere"], THREE, PRESETS["connect-four"]]), st.lists(st.integers(0, 99)))
def test_every_position_of_every_game_has_words(rules: Rules, choices: list[int]) -> None:
    position = Position.start(rules)
    for choice in choices[:12]:
        if position.outcome is None:
            before = analysis_of(position.moves, rules, nodes=60)
            cell = position.legal_cells[choice % len(position.legal_cells)]
            for told in (describe_worth(before, rules), judge_move(before, cell, rules)):
                assert told.endswith(".")
                assert "None" not in told
            position = position.play(cell)
