from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import PRESETS, Position, Rules
from tictactoe_engine.search import Budget, analyse
from tictactoe_protocol.pushes import AnalysisState, CellValue, PlayedMove
from tictactoe_words.worth import (
    add_words,
    compare_played,
    describe_cell_worth,
    describe_position,
    describe_value,
    list_worth,
    rank_cells,
    review_position,
)

CLASSIC = PRESETS["classic"]
WIN, LOSS, DRAW = CellValue("win", 3, 1.0), CellValue("loss", 4, -1.0), CellValue("draw")
GUESS = CellValue("unknown", None, 0.3)


def analysed(moves: Sequence[int], rules: Rules = CLASSIC, nodes: int | None = None) -> AnalysisState:
    """Return a server's answer, computed by the same engine."""
    position = Position.replay(rules, moves)
    return AnalysisState.of(position, analyse(position, Budget() if nodes is None else Budget(nodes=nodes)))


def made(value: CellValue, turn: str = "X", *, solved: bool = True, **cells: CellValue) -> AnalysisState:
    """Return an analysis of cells of the first row, the best cell first."""
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


def test_a_position_is_described_with_its_best_moves() -> None:
    drawn = describe_position(analysed([0, 4, 8]), CLASSIC)
    assert drawn == "O to move: a draw with best play. Best: B1, A2, C2, B3."
    assert describe_position(analysed([]), CLASSIC) == "X to move: a draw with best play. All moves are equal."
    undecided = replace(made(GUESS, a=GUESS), best=())
    assert describe_position(undecided, CLASSIC) == "X to move: unclear, looks good. Nothing decides yet."
    assert describe_position(analysed([0, 3, 1, 4]), CLASSIC) == "X wins at once. Best: C1."
    assert describe_position(analysed([0, 1]), CLASSIC).startswith("X wins in 5. Best: ")
    assert describe_position(analysed([0, 1, 4]), CLASSIC) == "O to move: loses in 4. Best: C3."
    assert describe_position(analysed([0, 3, 1, 4, 2]), CLASSIC) == "The game is over here."


def test_misere_turns_everything_round() -> None:
    misere = PRESETS["misere"]
    assert describe_position(analysed([], misere), misere) == "X to move: a draw with best play. Best: B2."
    assert describe_cell_worth(2, analysed([0, 4, 1, 8], misere), misere) == "C1 loses at once"


def test_with_gravity_only_playable_cells_have_values() -> None:
    rules = Rules(3, 3, 3, gravity=True)
    analysis = analysed([6], rules)
    assert sorted(analysis.cells) == [3, 7, 8]
    assert describe_cell_worth(0, analysis, rules) == "A3 is no move"


def test_values_with_three_players_read_as_with_two() -> None:
    rules = PRESETS["three-players"]
    assert describe_position(made(WIN, "A", a=WIN, b=LOSS), rules) == "A wins in 3. Best: A1."
    assert describe_position(made(LOSS, a=LOSS), rules) == "X to move: loses in 4. Best: A1."
    assert describe_position(made(DRAW, a=DRAW, b=LOSS), rules) == "X to move: a draw with best play. Best: A1."


def test_unsolved_values_are_described_as_bounds_or_estimates() -> None:
    four = PRESETS["four"]
    assert describe_position(made(WIN, solved=False, a=WIN, b=GUESS), four) == "X wins within 3. Best: A1."
    guess = describe_position(made(GUESS, solved=False, a=GUESS, b=LOSS), four)
    assert guess == "X to move: unclear, looks good. Best: A1."


def test_the_move_that_was_played_is_compared_with_the_best() -> None:
    analysis = analysed([0, 4, 8])
    assert compare_played(2, analysis, CLASSIC) == "C1 gives the draw away: X now wins in 3 moves. B1 was best."
    assert compare_played(1, analysis, CLASSIC) == "O played B1, as good as any: a draw."
    assert compare_played(2, analysed([0, 3, 1, 4]), CLASSIC) == "X played C1, as good as any: wins at once."
    assert compare_played(4, analysed([]), CLASSIC) == "X played B2, as good as any: a draw."
    assert compare_played(0, analysis, CLASSIC) == ""


def test_cells_are_ranked_from_quick_wins_to_quick_losses() -> None:
    soon, late = CellValue("loss", 2, -1.0), CellValue("loss", 8, -1.0)
    analysis = made(WIN, a=WIN, b=soon, c=CellValue("win", 5, 1.0), d=late, e=DRAW, f=GUESS)
    assert rank_cells(analysis) == [0, 2, 5, 4, 3, 1]


def test_the_best_cells_are_listed_by_their_worth() -> None:
    assert list_worth(analysed([0, 4, 8]), CLASSIC, 5) == ["* B1 A2 C2 B3  a draw", "  C1 A3  loses in 4"]
    assert list_worth(analysed([0, 4, 8]), CLASSIC, 1) == ["* B1 A2 C2 B3  a draw"]
    wide = AnalysisState(0, "X", DRAW, dict.fromkeys(range(9), DRAW), tuple(range(9)), solved=True)
    assert list_worth(wide, CLASSIC, 5) == ["* A1 B1 C1 A2 and 5 more  a draw"]


def test_options_of_a_choice_have_values() -> None:
    options = {"X": GUESS, "O": LOSS, "more": DRAW}
    due = AnalysisState(3, "O", GUESS, {}, (), False, options, ("X",))
    told = "O to choose. X: unclear, looks good; O: loses within 4; two more: a draw. Best: X."
    assert describe_position(due, CLASSIC) == told
    assert list_worth(due, CLASSIC, 3) == ["* X  unclear, looks good", "  O  loses within 4", "  two more  a draw"]
    stands = describe_position(analysed([0, 4, 8]), CLASSIC)
    chosen = replace(analysed([0, 4, 8]), before=due)
    assert describe_position(chosen, CLASSIC) == f"Before the choice: {told} Then: {stands}"


def test_a_review_tells_the_worth_and_how_good_the_last_one_was() -> None:
    after, before = analysed([0, 4, 8, 2]), analysed([0, 4, 8])
    assert review_position(after, before, 2, CLASSIC) == [
        "After move 4: X wins in 3. Best: A3.",
        "C1 gives the draw away: X now wins in 3 moves. B1 was best.",
    ]
    assert review_position(analysed([]), None, None, CLASSIC) == [
        "At the start: X to move: a draw with best play. All moves are equal."
    ]


@given(
    st.sampled_from([CLASSIC, PRESETS["misere"], PRESETS["three-players"], PRESETS["connect-four"]]),
    st.lists(st.integers(0, 99)),
)
def test_every_position_of_every_game_has_words(rules: Rules, choices: list[int]) -> None:
    position = Position.start(rules)
    for choice in choices[:12]:
        if position.outcome is None:
            before = analysed(position.moves, rules, nodes=60)
            cell = position.legal_cells[choice % len(position.legal_cells)]
            for told in (describe_position(before, rules), compare_played(cell, before, rules)):
                assert told.endswith(".")
                assert "None" not in told
            position = position.play(cell)


def test_words_for_the_page_call_stones_black_and_white() -> None:
    rules = PRESETS["gomoku-standard"]
    options = {"X": WIN, "O": LOSS, "more": DRAW}
    due = replace(made(WIN, "O"), cells={}, best=(), options=options, best_options=("X",))
    chosen = replace(made(DRAW, a=DRAW, b=DRAW), best=(0, 1), before=due)
    choice = "White to choose. black: wins in 3; white: loses in 4; two more: a draw. Best: black."
    both = f"Before the choice: {choice} Then: Black to move: a draw with best play. All moves are equal."
    assert [add_words(one, rules, None, in_stones=True).text for one in (due, chosen)] == [choice, both]
    letters = "O to choose. X: wins in 3; O: loses in 4; two more: a draw. Best: X."
    assert add_words(due, rules, None, in_stones=False).text == letters


@pytest.mark.parametrize(
    ("played", "kind", "lost"), [(0, "best", 0.0), (1, "slip", 0.7), (2, "mistake", 1.0), (3, "mistake", 2.0)]
)
def test_the_played_move_is_judged_by_what_it_gave_away(played: int, kind: Any, lost: float) -> None:
    analysis = made(WIN, a=WIN, b=GUESS, c=DRAW, d=LOSS)
    words = add_words(analysis, CLASSIC, played, in_stones=False)
    assert words.played == PlayedMove(kind, lost, compare_played(played, analysis, CLASSIC))
    texts = ["A1 wins in 3", "B1: unclear, looks good", "C1: a draw", "A2 loses in 4"]
    assert [value.text for value in words.cells.values()] == texts
    assert [value.sign for value in words.cells.values()] == ["+3", "~+", "=", "−4"]
    assert add_words(analysis, CLASSIC, 8, in_stones=False).played is UNSET
