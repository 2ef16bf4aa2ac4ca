import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_client.input import intents
from tictactoe_client.input.intents import BadInput, parse_intent
from tictactoe_engine import PRESETS, Keys, Rules
from tictactoe_words.commands import Place, Query

CLASSIC = PRESETS["classic"]
FOUR = PRESETS["connect-four"]
WIDE = Rules(rows=32, columns=32, line=5)
BOARDS = {**PRESETS, "nine": Rules(9, 9, 5), "wide": WIDE, "letters": CLASSIC}
"""Boards by their names in the tables; at the last board letters place."""
TABLES = json.loads(Path(__file__).with_suffix(".json").read_bytes())
REFUSED = TABLES["refused"]


@each(("board", "line"), [(board, line) for board, lines in TABLES["meant"].items() for line in lines])
def test_a_line_means(board: str, line: str) -> None:
    kind, *content = TABLES["meant"][board][line]
    keys = Keys.LETTERS if board == "letters" else Keys.PHONE
    assert parse_intent(line, BOARDS[board], keys=keys) == getattr(intents, kind)(*content)


@each("line", REFUSED)
def test_a_line_that_makes_no_sense_is_answered_with(line: str) -> None:
    with pytest.raises(BadInput) as bad:
        parse_intent(line, CLASSIC)
    assert [bad.value.message, bad.value.code] == REFUSED[line]


def test_letters_place_marks_only_if_chosen_and_on_3x3() -> None:
    with pytest.raises(BadInput):
        parse_intent("q", CLASSIC)
    with pytest.raises(BadInput):
        parse_intent("b", CLASSIC, keys=Keys.LETTERS)
    assert parse_intent("b", PRESETS["gomoku"], keys=Keys.LETTERS) == Query("board")


@pytest.mark.parametrize("line", ["h", "s 1", "b 0", "m x", "l"])
def test_a_query_without_a_slash_is_suggested_if_letters_place_marks(line: str) -> None:
    with pytest.raises(BadInput) as bad:
        parse_intent(line, CLASSIC, keys=Keys.LETTERS)
    assert bad.value.message == f'I don\'t know "{line}". Did you mean /{line}?'
    parse_intent(f"/{line}", CLASSIC, keys=Keys.LETTERS)


def test_an_unknown_line_gets_no_hint_of_a_slash() -> None:
    with pytest.raises(BadInput, match="A move looks like"):
        parse_intent("k 9", CLASSIC, keys=Keys.LETTERS)


def test_with_gravity_an_unknown_word_is_answered_with_how_to_move() -> None:
    for line in ("x", "hello"):
        with pytest.raises(BadInput) as bad:
            parse_intent(line, FOUR)
        assert bad.value.message == f'I don\'t know "{line}". A move is a column, A to G. ? for help.'


def test_for_watchers_a_letter_is_always_a_query() -> None:
    assert parse_intent("b", FOUR, plays=False) == Query("board")
    assert parse_intent("a", CLASSIC, keys=Keys.LETTERS, plays=False) == Query("around", None)


def test_a_keypad_has_its_seven_at_the_top() -> None:
    assert parse_intent("7", CLASSIC, keys=Keys.PAD) == Place(0)
    assert parse_intent("/7", CLASSIC, keys=Keys.PAD) == Place(0)


@given(line=st.text(max_size=80), keys=st.sampled_from(Keys), rules=st.sampled_from(list(PRESETS.values())))
def test_no_line_does_worse_than_be_refused(line: str, keys: Keys, rules: Rules) -> None:
    with contextlib.suppress(BadInput):
        parse_intent(line, rules, keys=keys)
