from __future__ import annotations

from collections.abc import Sequence

import pytest

from tictactoe_client.tui.value_words import (
    compare_played,
    describe_cell_worth,
    describe_position,
    describe_value,
    list_worth,
    rank_cells,
)
from tictactoe_engine import PRESETS, Budget, Position, Rules, analyse
from tictactoe_protocol.pushes import AnalysisState, CellValue

CLASSIC = PRESETS["classic"]
WIN, LOSS, DRAW = CellValue("win", 3, 1.0), CellValue("loss", 4, -1.0), CellValue("draw")
GUESS = CellValue("unknown", None, 0.3)


def analysed(moves: Sequence[int], rules: Rules = CLASSIC) -> AnalysisState:
    """Return what the server would answer, from the same engine."""
    position = Position.replay(rules, moves)
    found = analyse(position, Budget())
    cells = {cell: CellValue(value.kind, value.plies, value.estimate) for cell, value in found.cells.items()}
    value = CellValue(found.value.kind, found.value.plies, found.value.estimate)
    return AnalysisState(position.ply, position.turn, value, cells, found.best_cells, found.is_solved)


def made(value: CellValue, turn: str = "X", *, solved: bool = True, **cells: CellValue) -> AnalysisState:
    """Return an analysis of cells of the first row, the first of them the best."""
    by_cell = {"abcdefg".index(name): worth for name, worth in cells.items()}
    return AnalysisState(3, turn, value, by_cell, tuple(by_cell)[:1], solved)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (CellValue("win", 1, 1.0), "wins at once"),
        (WIN, "wins in 3"),
        (LOSS, "loses in 4"),
        (DRAW, "a draw"),
        (GUESS, "unclear, looks good"),
        (CellValue("unknown", None, -0.3), "unclear, looks bad"),
        (CellValue("unknown", None, 0.1), "unclear, looks even"),
    ],
)
def test_a_value_has_its_words(value: CellValue, words: str) -> None:
    assert describe_value(value) == words


def test_a_position_of_3x3_is_told_with_its_best_moves() -> None:
    drawn = describe_position(analysed([0, 4, 8]), CLASSIC)
    assert drawn == "O to move: a draw with best play. Best: B1, A2, C2, B3."
    assert describe_position(analysed([]), CLASSIC) == "X to move: a draw with best play. All moves are equal."
    assert describe_position(analysed([0, 3, 1, 4]), CLASSIC) == "X wins at once. Best: C1."
    assert describe_position(analysed([0, 1]), CLASSIC).startswith("X wins in 5. Best: ")
    assert describe_position(analysed([0, 1, 4]), CLASSIC) == "O to move: X wins in 4. Best: C3."
    assert describe_position(analysed([0, 3, 1, 4, 2]), CLASSIC) == "The game is over here."


def test_misere_turns_everything_round() -> None:
    misere = PRESETS["misere"]
    assert describe_position(analysed([], misere), misere) == "X to move: a draw with best play. Best: B2."
    assert describe_cell_worth(2, analysed([0, 4, 1, 8], misere), misere) == "C1 loses at once"


def test_where_marks_fall_only_the_playable_cells_have_a_worth() -> None:
    rules = Rules(3, 3, 3, gravity=True)
    analysis = analysed([6], rules)
    assert sorted(analysis.cells) == [3, 7, 8]
    assert describe_cell_worth(0, analysis, rules) == "A1 is no move"


def test_among_three_a_value_stands_against_all_the_others() -> None:
    rules = PRESETS["three-players"]
    assert describe_position(made(WIN, "A", a=WIN, b=LOSS), rules) == "A wins in 3, whatever the others do. Best: A1."
    assert describe_position(made(LOSS, a=LOSS), rules) == "X to move: loses in 4 to the others together. Best: A1."
    assert describe_position(made(DRAW, a=DRAW, b=LOSS), rules) == "X to move: a draw against all the others. Best: A1."


def test_what_is_not_solved_is_told_as_a_bound_or_a_guess() -> None:
    four = PRESETS["four"]
    assert describe_position(made(WIN, solved=False, a=WIN, b=GUESS), four) == "X wins within 3. Best: A1."
    guess = describe_position(made(GUESS, solved=False, a=GUESS, b=LOSS), four)
    assert guess == "X to move: unclear, looks good for X. Best: A1."


def test_the_move_that_was_played_is_compared_with_the_best() -> None:
    analysis = analysed([0, 4, 8])
    assert compare_played(2, analysis, CLASSIC) == "O played C1: loses in 4; best B1: a draw."
    assert compare_played(1, analysis, CLASSIC) == "O played B1, one of the best: a draw."
    assert compare_played(2, analysed([0, 3, 1, 4]), CLASSIC) == "X played C1, the best: wins at once."
    assert compare_played(4, analysed([]), CLASSIC) == "X played B2: a draw, like any move."
    assert compare_played(0, analysis, CLASSIC) == ""


def test_of_two_guesses_the_better_one_is_named_without_words_that_are_the_same() -> None:
    analysis = made(GUESS, a=GUESS, b=CellValue("unknown", None, 0.2))
    assert compare_played(1, analysis, PRESETS["four"]) == "X played B1: unclear, looks good; better A1."


def test_cells_are_ranked_from_quick_wins_to_quick_losses() -> None:
    soon, late = CellValue("loss", 2, -1.0), CellValue("loss", 8, -1.0)
    analysis = made(WIN, a=WIN, b=soon, c=CellValue("win", 5, 1.0), d=late, e=DRAW, f=GUESS)
    assert rank_cells(analysis) == [0, 2, 5, 4, 3, 1]


def test_the_best_cells_are_listed_by_their_worth() -> None:
    assert list_worth(analysed([0, 4, 8]), CLASSIC, 5) == ["* B1 A2 C2 B3  a draw", "  C1 A3  loses in 4"]
    assert list_worth(analysed([0, 4, 8]), CLASSIC, 1) == ["* B1 A2 C2 B3  a draw"]
    wide = AnalysisState(0, "X", DRAW, dict.fromkeys(range(9), DRAW), tuple(range(9)), solved=True)
    assert list_worth(wide, CLASSIC, 5) == ["* A1 B1 C1 A2 and 5 more  a draw"]
