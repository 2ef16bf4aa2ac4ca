from hypothesis import given
from hypothesis import strategies as st

from tictactoe_client.board.board import BoardView, draw_board
from tictactoe_client.board.grid import BoardStyle, fit_board
from tictactoe_client.tui.picture import Picture, measure, shorten, wrap
from tictactoe_engine import FREE, Rules

EVIL = "\x1b]0;x\x07\x1b[2J\x9b31m\u202eabc\u200b\u3164"
SHAPES = st.builds(
    lambda rows, columns: Rules(rows, columns, min(rows, columns)), st.integers(2, 32), st.integers(2, 32)
)


def test_nothing_that_steers_a_terminal_gets_onto_a_picture() -> None:
    picture = Picture(40, 1)
    picture.put(0, 0, EVIL)
    assert picture.lines() == ["]0;x[2J31mabc"]


def test_wide_characters_take_two_cells_and_marks_join() -> None:
    picture = Picture(6, 1)
    assert picture.put(0, 0, "日e\u0301x") == 4
    assert picture.rows[0][:4] == [("日", ""), ("", ""), ("e\u0301", ""), ("x", "")]
    assert picture.put(5, 0, "日") == 5
    assert picture.lines() == ["日e\u0301x"]


@given(st.text(max_size=30), st.integers(1, 12))
def test_shortened_and_wrapped_text_fits(text: str, width: int) -> None:
    assert measure(shorten(text, max(width, 2))) <= max(width, 2)
    assert all(measure(line) <= max(width, 2) for line in wrap(text, max(width, 2)))


@given(SHAPES, st.integers(20, 120), st.integers(7, 50), st.data())
def test_a_board_fits_and_shows_the_chosen_cell(rules: Rules, width: int, height: int, data: st.DataObject) -> None:
    cell = data.draw(st.integers(0, rules.size - 1))
    grid = fit_board(rules, BoardStyle(), width, height).scroll(cell, None)
    assert grid.width <= width
    assert grid.height <= height
    view = BoardView(rules, FREE * rules.size, cursor=cell)
    picture = Picture(width, height)
    picture.paste(0, 0, draw_board(view, grid))
    y, x = next(
        (y, row.index((sign, "cursor")))
        for y, row in enumerate(picture.rows)
        for sign in "[┃"
        if (sign, "cursor") in row
    )
    assert grid.find_cell(x + 1, y) == cell
