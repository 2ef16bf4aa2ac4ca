from hypothesis import given
from hypothesis import strategies as st

from tictactoe_client.tui.picture import Picture, fold, measure, shorten, shorten_left, shorten_words, wrap

EVIL = "\x1b]0;x\x07\x1b[2J\x9b31m\u202eabc\u200b\u3164"


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


@given(st.text(max_size=60), st.integers(2, 30), st.integers(1, 4))
def test_shortened_wrapped_and_folded_text_fits(text: str, width: int, most: int) -> None:
    folded = fold(text, width, most)
    assert 1 <= len(folded) <= most
    for shown in (*folded, *wrap(text, width), *(cut(text, width) for cut in (shorten, shorten_left, shorten_words))):
        assert measure(shown) <= width
