"""Positions by example: playing, refusing, winning, drawing, misère, gravity, many marks and passing over."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.random_games import finished_games, open_games, rule_sets
from tictactoe_engine import PRESETS, IllegalMove, Outcome, Position, Rules

CLASSIC = PRESETS["classic"]
DRAWN_GAME = (0, 1, 2, 4, 3, 5, 7, 6, 8)


def after(*moves: int, rules: Rules = CLASSIC) -> Position:
    return Position.replay(rules, moves)


def everything_of(position: Position) -> dict[str, object]:
    """Return all that a position holds, whatever equality makes of it."""
    return position._asdict()


def refusal(position: Position, cell: int) -> IllegalMove:
    with pytest.raises(IllegalMove) as caught:
        position.play(cell)
    return caught.value


def test_the_start_is_an_empty_board_with_the_first_mark_to_move() -> None:
    start = Position.start(CLASSIC)
    assert (start.board, start.turn, start.ply, start.moves, start.last) == (".........", "X", 0, (), None)


def test_the_start_is_open_and_every_cell_may_be_played() -> None:
    start = Position.start(CLASSIC)
    assert (start.outcome, start.legal_cells) == (None, tuple(range(9)))


def test_a_move_puts_the_mark_on_its_cell_and_gives_the_turn_to_the_next() -> None:
    position = Position.start(CLASSIC).play(4)
    assert (position.board, position.turn) == ("....X....", "O")


def test_a_move_is_counted_and_remembered() -> None:
    position = after(4, 0)
    assert (position.ply, position.moves, position.last) == (2, (4, 0), 0)


def test_a_played_cell_may_not_be_played_again() -> None:
    assert after(4, 0).legal_cells == (1, 2, 3, 5, 6, 7, 8)


def test_playing_leaves_the_earlier_position_as_it_was() -> None:
    start = Position.start(CLASSIC)
    start.play(4)
    assert (start.board, start.turn, start.moves) == (".........", "X", ())


def test_replay_gives_what_playing_one_by_one_gives() -> None:
    assert after(4, 0, 8) == Position.start(CLASSIC).play(4).play(0).play(8)


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
def test_replay_gives_all_that_playing_one_by_one_gives(played: Position) -> None:
    game = (played.rules, played.moves, played.passed, played.chosen)
    assert everything_of(Position.replay(*game)) == everything_of(one_by_one(*game)) == everything_of(played)


@given(st.data(), open_games(rule_sets(), least_played=0.5) | finished_games(rule_sets()))
def test_replay_refuses_what_playing_one_by_one_refuses_and_for_the_same_reason(
    data: st.DataObject, played: Position
) -> None:
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
def test_replay_of_a_long_game_goes_no_further_than_its_end(rules: Rules, moves: list[int]) -> None:
    assert after(*moves[:-1], rules=rules).outcome is not None
    with pytest.raises(IllegalMove, match="The game is over"):
        after(*moves, rules=rules)


def test_replay_refuses_an_illegal_move_among_others() -> None:
    with pytest.raises(IllegalMove, match="B2 is taken by X"):
        after(4, 4)


@pytest.mark.parametrize(
    ("position", "cell", "code", "message"),
    [
        (after(4), 9, "off_board", "Cell 9 is off the board: cells are 0 to 8."),
        (after(4), -1, "off_board", "Cell -1 is off the board: cells are 0 to 8."),
        (after(0, 4), 4, "occupied", "B2 is taken by O."),
        (after(rules=PRESETS["blocker"]), 4, "blocked", "B2 is blocked: nobody may take it."),
        (after(38, rules=PRESETS["connect-four"]), 3, "floating", "D1 hangs in the air."),
        (after(0, 3, 1, 4, 2), 5, "game_over", "The game is over."),
    ],
    ids=["past-the-end", "negative", "taken", "blocked", "floating", "after-the-end"],
)
def test_an_illegal_move_is_refused_and_changes_nothing(position: Position, cell: int, code: str, message: str) -> None:
    before = (position.board, position.turn, position.moves, position.outcome, position.legal_cells)
    error = refusal(position, cell)
    assert (error.code, error.message.startswith(message)) == (code, True)
    assert (position.board, position.turn, position.moves, position.outcome, position.legal_cells) == before


@pytest.mark.parametrize("cell", [10**5000, -(10**4000)], ids=["unprintable", "long"])
def test_a_cell_with_thousands_of_digits_is_off_the_board_in_a_short_message(cell: int) -> None:
    error = refusal(after(4), cell)
    assert (error.code, len(error.message) < 120) == ("off_board", True)


def test_a_finished_game_refuses_even_a_cell_off_the_board_as_over() -> None:
    assert refusal(after(0, 3, 1, 4, 2), 99).code == "game_over"


@pytest.mark.parametrize(
    "line", [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
)
def test_each_of_the_eight_lines_wins(line: tuple[int, ...]) -> None:
    first_reply, second_reply, *_ = (cell for cell in range(9) if cell not in line)
    position = after(line[0], first_reply, line[1], second_reply, line[2])
    assert position.outcome == Outcome("line", "X", line)


def test_the_second_mark_wins_too() -> None:
    assert after(0, 3, 1, 4, 8, 5).outcome == Outcome("line", "O", (3, 4, 5))


def test_a_finished_game_has_no_turn_and_no_legal_cells() -> None:
    position = after(0, 3, 1, 4, 2)
    assert (position.turn, position.legal_cells) == (None, ())


def test_three_cells_in_a_row_across_an_edge_are_no_line() -> None:
    assert after(1, 0, 2, 5, 3).outcome is None


def test_a_full_board_without_a_line_is_a_draw() -> None:
    position = after(*DRAWN_GAME)
    assert (position.board, position.outcome) == ("XOXXOOOXX", Outcome("full", None, ()))


def test_a_game_that_can_only_be_drawn_goes_on_until_the_board_is_full() -> None:
    position = after(*DRAWN_GAME[:-1])
    assert (position.outcome, position.turn, position.legal_cells) == (None, "X", (8,))


def test_a_board_is_full_when_only_blocked_cells_are_left() -> None:
    position = after(0, 1, 2, 3, 5, 6, 7, 8, rules=PRESETS["blocker"])
    assert (position.board, position.outcome) == ("XOXO#XOXO", Outcome("full", None, ()))


def test_a_line_made_on_the_last_free_cell_is_a_win_and_no_draw() -> None:
    position = after(0, 1, 2, 3, 4, 5, 7, 6, 8)
    assert (position.board, position.outcome) == ("XOXOXOOXX", Outcome("line", "X", (0, 4, 8)))


def test_a_blocked_cell_completes_no_line() -> None:
    position = after(0, 1, 8, rules=PRESETS["blocker"])
    assert (position.board, position.outcome) == ("XO..#...X", None)


@pytest.mark.parametrize("lines", [1, 2, 3, 4])
def test_a_move_that_completes_several_lines_reports_every_cell_of_them(lines: int) -> None:
    arms = ((13, 14), (7, 2), (18, 24), (16, 20))[:lines]
    elsewhere = (0, 1, 3, 4, 10, 11, 21, 22)
    stones = [cell for arm in arms for cell in arm]
    moves = [cell for pair in zip(stones, elsewhere, strict=False) for cell in pair]
    position = after(*moves, 12, rules=Rules(rows=5, columns=5))
    assert position.outcome == Outcome("line", "X", tuple(sorted([12, *stones])))


def test_a_row_longer_than_the_line_wins_with_all_of_it() -> None:
    rules = Rules(rows=2, columns=7, line=4)
    position = after(0, 7, 1, 8, 2, 9, 4, 11, 5, 12, 6, 13, 3, rules=rules)
    assert position.outcome == Outcome("line", "X", (0, 1, 2, 3, 4, 5, 6))


@pytest.mark.parametrize(("rows", "columns"), [(1, 5), (5, 1)])
def test_a_board_of_a_single_row_or_column_can_be_won(rows: int, columns: int) -> None:
    assert after(0, 4, 1, rules=Rules(rows=rows, columns=columns, line=2)).outcome == Outcome("line", "X", (0, 1))


def test_the_largest_board_is_won_from_corner_to_corner() -> None:
    rules = Rules(rows=32, columns=32, line=32)
    diagonal = [cell * 33 for cell in range(32)]
    moves = [cell for pair in zip(diagonal, range(1, 32), strict=False) for cell in pair]
    assert after(*moves, 1023, rules=rules).outcome == Outcome("line", "X", tuple(diagonal))


def test_in_misere_whoever_completes_a_line_loses_and_the_line_is_theirs() -> None:
    assert after(0, 3, 1, 4, 2, rules=PRESETS["misere"]).outcome == Outcome("line", "O", (0, 1, 2))


def test_in_misere_the_second_mark_loses_by_its_own_line() -> None:
    assert after(0, 3, 1, 4, 8, 5, rules=PRESETS["misere"]).outcome == Outcome("line", "X", (3, 4, 5))


def test_in_misere_a_full_board_without_a_line_is_a_draw() -> None:
    assert after(*DRAWN_GAME, rules=PRESETS["misere"]).outcome == Outcome("full", None, ())


def test_with_gravity_the_legal_cells_are_the_lowest_free_of_each_column() -> None:
    assert after(38, 31, rules=PRESETS["connect-four"]).legal_cells == (24, 35, 36, 37, 39, 40, 41)


def test_with_gravity_a_floating_cell_is_refused_with_the_place_where_it_would_fall() -> None:
    error = refusal(after(38, rules=PRESETS["connect-four"]), 10)
    assert error.message == "D2 hangs in the air. A mark in this column falls to D5."


def test_with_gravity_a_full_column_is_taken_and_offers_nothing() -> None:
    position = after(6, 3, 0, rules=Rules(rows=3, columns=3, gravity=True))
    assert (position.legal_cells, refusal(position, 0).code) == ((7, 8), "occupied")


def test_with_gravity_marks_stack_on_a_blocked_cell_at_the_bottom() -> None:
    rules = Rules(rows=4, columns=3, blocked=frozenset({9}), gravity=True)
    assert after(rules=rules).legal_cells == (6, 10, 11)


def test_with_gravity_the_cell_below_a_blocked_one_comes_before_the_cell_above() -> None:
    rules = Rules(rows=4, columns=3, blocked=frozenset({6}), gravity=True)
    start = after(rules=rules)
    assert (start.legal_cells, refusal(start, 3).code) == ((9, 10, 11), "floating")
    assert start.play(9).legal_cells == (3, 10, 11)


def test_with_gravity_four_upward_win() -> None:
    position = after(35, 36, 28, 29, 21, 22, 14, rules=PRESETS["connect-four"])
    assert position.outcome == Outcome("line", "X", (14, 21, 28, 35))


@pytest.mark.parametrize("marks", ["XO", "XOA", "XOAB", "XOABC", "XOABCD"])
def test_every_mark_moves_in_turn_and_then_the_first_again(marks: str) -> None:
    position = Position.start(Rules(rows=10, columns=10, line=5, marks=marks))
    turns = []
    for cell in range(len(marks) + 1):
        turns.append(position.turn)
        position = position.play(cell)
    assert turns == [*marks, marks[0]]


def test_the_third_mark_can_win() -> None:
    position = after(0, 5, 10, 1, 7, 11, 4, 8, 12, 20, 21, 13, rules=PRESETS["three-players"])
    assert position.outcome == Outcome("line", "A", (10, 11, 12, 13))


def test_stones_of_different_marks_make_no_line_together() -> None:
    assert after(0, 1, 2, 3, rules=PRESETS["three-players"]).outcome is None


def test_a_mark_that_is_passed_over_gets_no_more_turns() -> None:
    position = after(0, rules=PRESETS["three-players"]).pass_over("A")
    turns = []
    for cell in (6, 12, 18):
        turns.append(position.turn)
        position = position.play(cell)
    assert turns == ["O", "X", "O"]


def test_passing_over_the_mark_to_move_gives_the_turn_to_the_next() -> None:
    assert Position.start(PRESETS["three-players"]).pass_over("X").turn == "O"


def test_passing_over_the_last_mark_in_its_turn_gives_the_turn_to_the_first() -> None:
    assert after(0, 1, rules=PRESETS["three-players"]).pass_over("A").turn == "X"


def test_passing_over_skips_every_mark_that_is_gone() -> None:
    rules = Rules(rows=5, columns=5, marks="XOAB")
    position = Position.start(rules).pass_over("O").pass_over("A")
    assert (position.turn, position.play(0).turn) == ("X", "B")


def test_passing_over_keeps_the_stones_the_moves_and_the_board() -> None:
    before = after(0, 6, rules=PRESETS["three-players"])
    position = before.pass_over("X")
    assert (position.board, position.moves, position.stones("X")) == (before.board, before.moves, 1)


def test_passing_over_leaves_the_earlier_position_as_it_was() -> None:
    start = Position.start(PRESETS["three-players"])
    start.pass_over("X")
    assert (start.turn, start.passed, start.active_marks) == ("X", (), "XOA")


def test_passing_over_is_noted_with_its_ply() -> None:
    position = after(0, 6, rules=PRESETS["three-players"]).pass_over("X")
    assert (position.passed, position.active_marks) == (((2, "X"),), "OA")


def test_stones_of_a_mark_that_is_gone_still_stand_in_the_way() -> None:
    position = after(0, 6, rules=PRESETS["three-players"]).pass_over("X")
    assert refusal(position, 0).message == "A1 is taken by X."


@pytest.mark.parametrize("mark", ["Z", "x", "", "XO", "OA", "XOA"])
def test_passing_over_what_is_no_single_known_mark_is_refused(mark: str) -> None:
    with pytest.raises(ValueError, match=f"'{mark}' does not play"):
        Position.start(PRESETS["three-players"]).pass_over(mark)


def test_passing_over_a_mark_twice_is_refused() -> None:
    position = Position.start(Rules(rows=5, columns=5, marks="XOAB")).pass_over("O")
    with pytest.raises(ValueError, match="'O' does not play"):
        position.pass_over("O")


def test_passing_over_one_of_the_last_two_is_refused() -> None:
    with pytest.raises(ValueError, match="Without 'X' nobody would be left"):
        Position.start(CLASSIC).pass_over("X")


def test_passing_over_after_the_end_is_refused() -> None:
    position = after(0, 6, 12, 1, 7, 13, 2, 8, 14, 3, rules=PRESETS["three-players"])
    with pytest.raises(ValueError, match="The game is over"):
        position.pass_over("O")


def test_replay_passes_over_at_the_noted_ply() -> None:
    rules = PRESETS["three-players"]
    played = Position.start(rules).play(0).play(6).pass_over("X").play(12).play(7)
    assert Position.replay(rules, played.moves, played.passed) == played


def test_replay_passes_over_before_the_first_and_after_the_last_move() -> None:
    rules = Rules(rows=5, columns=5, marks="XOAB")
    played = Position.start(rules).pass_over("X").play(0).play(1).pass_over("B")
    replayed = Position.replay(rules, played.moves, played.passed)
    assert (replayed, replayed.passed, replayed.turn) == (played, ((0, "X"), (2, "B")), "O")


@given(st.data())
def test_a_position_as_it_was_is_what_a_replay_of_so_many_moves_gives(data: st.DataObject) -> None:
    last = data.draw(open_games(rule_sets()) | finished_games(rule_sets()))
    for ply in range(last.ply + 1):
        passed = tuple(entry for entry in last.passed if entry[0] <= ply)
        chosen = last.chosen if ply else ()
        game = (last.rules, last.moves[:ply], passed, chosen)
        assert everything_of(last.at(ply)) == everything_of(Position.replay(*game))


def test_a_position_as_it_was_can_be_played_on_and_leaves_the_later_one_as_it_is() -> None:
    won = after(0, 3, 1, 4, 2)
    assert won.at(4).play(8) == after(0, 3, 1, 4, 8)
    assert (won.outcome, won.at(5)) == (Outcome("line", "X", (0, 1, 2)), won)


@pytest.mark.parametrize("ply", [-1, 3])
def test_there_is_no_position_as_it_was_before_the_start_or_after_the_last_move(ply: int) -> None:
    with pytest.raises(ValueError, match=f"no position after {ply} of 2 moves"):
        after(0, 4).at(ply)


def test_positions_reached_by_different_orders_are_equal_and_hash_alike() -> None:
    assert {after(0, 4, 8)} == {after(8, 4, 0)}


def test_positions_with_different_boards_are_not_equal() -> None:
    assert after(0) != after(1)


def test_positions_of_different_rules_are_not_equal() -> None:
    assert after(0) != after(0, rules=PRESETS["misere"])


def test_positions_with_another_mark_to_move_are_not_equal() -> None:
    start = Position.start(PRESETS["three-players"])
    assert start.pass_over("X") != start.pass_over("O")


def test_positions_with_other_marks_gone_are_not_equal() -> None:
    start = Position.start(PRESETS["three-players"])
    assert start.pass_over("A") != start


def test_a_position_does_not_equal_its_own_board() -> None:
    assert after(0) != after(0).board


@pytest.mark.parametrize(
    "position",
    [
        after(),
        after(4, 0),
        after(0, 3, 1, 4, 2),
        after(38, 31, rules=PRESETS["connect-four"]),
        after(0, 6, rules=PRESETS["three-players"]).pass_over("X").play(7),
    ],
    ids=["start", "open", "won", "gravity", "passed-over"],
)
def test_a_position_survives_pickling_and_copying(position: Position) -> None:
    for twin in (pickle.loads(pickle.dumps(position)), copy.deepcopy(position)):
        assert twin == position
        assert (twin.moves, twin.outcome, twin.passed) == (position.moves, position.outcome, position.passed)


@pytest.mark.parametrize("name", ["board", "moves", "outcome", "rules", "passed", "turn", "ply", "last", "legal_cells"])
def test_a_position_cannot_be_changed(name: str) -> None:
    position = after(4)
    with pytest.raises(AttributeError):
        setattr(position, name, None)


def test_an_outcome_cannot_be_changed() -> None:
    outcome = Outcome("full", None, ())
    with pytest.raises(AttributeError):
        outcome.winner = "X"  # type: ignore[misc]


def test_a_position_prints_its_shape_ply_board_and_turn() -> None:
    assert repr(after(4)) == "<Position 3x3 ply 1 '....X....' turn O>"
