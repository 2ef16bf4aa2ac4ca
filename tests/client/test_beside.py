import pytest

from tictactoe_client.board.grid import BoardStyle
from tictactoe_client.tui.boards import GAP, SAMPLES, draw_beside, sample_board
from tictactoe_engine import PRESETS, Position


@pytest.mark.parametrize("preset", PRESETS)
def test_the_sample_of_a_game_is_a_position_of_it_in_which_it_goes_on(preset: str) -> None:
    rules = PRESETS[preset]
    position = Position.replay(rules, SAMPLES[preset], (), ("O",) if rules.opening else ())
    assert position.outcome is None
    assert sample_board(preset)[1].board == position.board


@pytest.mark.parametrize(("width", "many"), [(100, 3), (60, 3), (30, 2), (12, 1), (5, 0)])
def test_as_many_boards_are_drawn_as_have_room(width: int, many: int) -> None:
    boards = [(name, sample_board("classic")[1]) for name in ("one", "two", "three")]
    drawn = draw_beside(boards, BoardStyle(), width, 20)
    assert [board.title for board in drawn] == ["one", "two", "three"][:many]
    assert sum(board.wide for board in drawn) + GAP * (many - 1) <= max(width, 0 if many else width)
    assert all(len(row) <= board.wide for board in drawn for row in board.rows)
