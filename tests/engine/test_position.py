"""Positions by example. `test_oracle` compares the result of every move with another engine."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_games import finished_games, open_games, rule_sets
from tictactoe_engine import PRESETS, IllegalMove, Outcome, Position, Rules

CLASSIC = PRESETS["classic"]
MISERE = PRESETS["misere"]


def after(*moves: int, rules: Rules = CLASSIC) -> Position:
    return Position.replay(rules, moves)


def everything_of(position: Position) -> dict[str, object]:
    """Return all values that a position holds, including those ignored by equality."""
    return position._asdict()


def refusal(position: Position, cell: int) -> IllegalMove:
    with pytest.raises(IllegalMove) as caught:
        position.play(cell)
    return caught.value


def one_by_one(
    rules: Rules, moves: Sequence[int], passed: Sequence[tuple[int, str]] = (), chosen: Sequence[str] = ()
) -> Position:
    position, waiting, choices = Position.start(rules), list(passed), list(chosen)
    for cell in [*moves, None]:
        if position.options and choices:
            position = position.choose(choices.pop(0))
        while waiting and (cell is None or waiting[0][0] <= position.ply):
            position = position.pass_over(waiting.pop(0)[1])
        if cell is not None:
            position = position.play(cell)
    return position


@given(open_games(rule_sets(), least_played=0.5) | finished_games(rule_sets()))
def test_replaying_equals_playing_move_by_move(played: Position) -> None:
    game = (played.rules, played.moves, played.passed, played.chosen)
    assert everything_of(Position.replay(*game)) == everything_of(one_by_one(*game)) == everything_of(played)


@given(st.data(), open_games(rule_sets(), least_played=0.5) | finished_games(rule_sets()))
def test_replay_refuses_the_same_moves_as_play_for_the_same_reason(data: st.DataObject, played: Position) -> None:
    moves = list(played.moves)
    moves.insert(data.draw(st.integers(0, len(moves))), data.draw(st.integers(-1, played.rules.size)))
    refusals: list[tuple[str, str] | None] = []
    for play in (Position.replay, one_by_one):
        try:
            play(played.rules, moves, (), played.chosen)
        except IllegalMove as refused:
            refusals.append((refused.code, refused.message))
        else:
            refusals.append(None)
    assert refusals[0] == refusals[1]


@pytest.mark.parametrize(
    ("rules", "moves"),
    [
        (
            Rules(rows=4, columns=10, line=10),
            [cell for pair in zip(range(10), range(20, 30), strict=True) for cell in pair],
        ),
        (Rules(rows=3, columns=6, line=6), [*range(18), 0]),
    ],
    ids=["line", "full"],
)
def test_replaying_past_the_end_is_refused(rules: Rules, moves: list[int]) -> None:
    assert after(*moves[:-1], rules=rules).outcome is not None
    with pytest.raises(IllegalMove, match="The game is over"):
        after(*moves, rules=rules)


@pytest.mark.parametrize("cell", [10**5000, -(10**4000)], ids=["unprintable", "long"])
def test_a_cell_with_thousands_of_digits_is_off_the_board_in_a_short_message(cell: int) -> None:
    error = refusal(after(4), cell)
    assert (error.code, len(error.message) < 120) == ("off_board", True)


def test_a_line_ends_a_game_on_the_largest_board_too() -> None:
    diagonal = tuple(cell * 33 for cell in range(32))
    moves = [cell for pair in zip(diagonal, range(1, 33), strict=True) for cell in pair][:-1]
    position = after(*moves, rules=Rules(32, 32, 32))
    assert (position.outcome, position.turn, position.legal_cells) == (Outcome("line", "X", diagonal), None, ())


@pytest.mark.parametrize("mark", ["Z", "x", "", "XO", "OA", "XOA"])
def test_passing_over_an_unknown_mark_is_refused(mark: str) -> None:
    with pytest.raises(ValueError, match=f"'{mark}' does not play"):
        Position.start(PRESETS["three-players"]).pass_over(mark)


@given(st.data())
def test_an_earlier_position_equals_a_replay_of_its_moves(data: st.DataObject) -> None:
    last = data.draw(open_games(rule_sets()) | finished_games(rule_sets()))
    for ply in range(last.ply + 1):
        passed = tuple(entry for entry in last.passed if entry[0] <= ply)
        chosen = last.chosen if ply else ()
        game = (last.rules, last.moves[:ply], passed, chosen)
        assert everything_of(last.at(ply)) == everything_of(Position.replay(*game))


@pytest.mark.parametrize("ply", [-1, 3])
def test_there_is_no_position_as_it_was_before_the_start_or_after_the_last_move(ply: int) -> None:
    with pytest.raises(ValueError, match=f"no position after {ply} of 2 moves"):
        after(0, 4).at(ply)


def test_positions_are_equal_whose_rules_board_turn_and_marks_are() -> None:
    start = Position.start(PRESETS["three-players"])
    assert {after(0, 4, 8)} == {after(8, 4, 0)}
    different = {after(0), after(1), after(0, rules=MISERE), start, *map(start.pass_over, "XOA")}
    assert len(different) == 7
    assert after(0) != after(0).board


def test_a_position_prints_its_shape_ply_board_and_turn() -> None:
    assert repr(after(4)) == "<Position 3x3 ply 1 '....X....' turn O>"
