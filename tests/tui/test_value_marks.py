import pytest

from tests.protocol.test_worth import DRAW, GUESS, LOSS, WIN, analysed
from tictactoe_client.board.board import BoardView, draw_board
from tictactoe_client.board.grid import BoardStyle, fit_board
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.picture import paint_values
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.pushes import AnalysisState, CellValue
from tictactoe_words.worth import format_value


def draw(
    rules: Rules, board: str, analysis: AnalysisState, *, size: tuple[int, int] = (80, 9), cursor: int | None = None
) -> Picture:
    picture = Picture(*size)
    view = BoardView(rules, board, cursor=cursor)
    grid = fit_board(rules, BoardStyle(ascii=True), *size).scroll(cursor, None)
    picture.paste(0, 0, draw_board(view, grid))
    paint_values(picture, 0, 0, view, grid, analysis)
    return picture


def test_the_cursor_is_drawn_around_a_value() -> None:
    picture = draw(PRESETS["classic"], "X...O...X", analysed([0, 4, 8]), cursor=2)
    assert picture.lines()[2].endswith("|  X  | *=  |[ -4]|")


def test_in_a_large_cell_the_cursor_leaves_the_worth_alone() -> None:
    lines = draw(PRESETS["classic"], "X...O...X", analysed([0, 4, 8]), size=(80, 24), cursor=2).lines()
    assert lines[3].endswith("|[    -4   ]")


def test_a_cell_of_three_keeps_its_star_and_gives_up_a_long_number() -> None:
    rules = Rules(4, 4, 4)
    far = CellValue("win", 12, 1.0)
    cells = {0: far, 1: CellValue("win", 14, 1.0), 2: DRAW, 3: GUESS, 4: LOSS, 5: CellValue("unknown", None, -0.5)}
    picture = draw(rules, "." * 16, AnalysisState(0, "X", far, cells, (0,), solved=True), size=(80, 12))
    assert picture.lines()[2].endswith("|*+ |+14| = | ~+|")
    assert picture.lines()[4].endswith("| -4| ~-|   |   |")
    chosen = draw(rules, "." * 16, AnalysisState(0, "X", far, cells, (0,), solved=True), cursor=0, size=(80, 12))
    assert chosen.lines()[2].endswith("|[*]|+14| = | ~+|")


def test_a_compact_board_has_one_sign_for_each_cell_and_none_for_guesses() -> None:
    rules = PRESETS["gomoku"]
    cells = {0: WIN, 1: CellValue("win", 5, 1.0), 2: LOSS, 3: DRAW, 4: GUESS}
    picture = draw(rules, "." * 225, AnalysisState(0, "X", WIN, cells, (0,), solved=False), size=(80, 24))
    assert picture.lines()[1].startswith(" 1  * + - = . .")


def test_a_board_that_scrolls_shows_the_values_of_its_window() -> None:
    rules = Rules(32, 32, 5)
    last = rules.size - 1
    analysis = AnalysisState(0, "X", WIN, {0: WIN, last: WIN}, (0, last), solved=False)
    lines = draw(rules, "." * rules.size, analysis, size=(40, 12), cursor=last).lines()
    assert sum(line.count("*") for line in lines) == 1
    assert any("[*]" in line for line in lines)


@pytest.mark.parametrize("room", [1, 3, 5])
def test_a_worth_never_needs_more_than_its_room(room: int) -> None:
    for value in (WIN, LOSS, DRAW, GUESS, CellValue("win", 999, 1.0), CellValue("win", 40, 1.0)):
        for is_best in (True, False):
            for is_chosen in (True, False):
                assert len(format_value(value, room, is_best=is_best, is_chosen=is_chosen)) in (0, room)
