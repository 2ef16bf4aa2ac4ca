import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tictactoe_client.input.cells import begins_anew
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, Query, Verb, parse_intent
from tictactoe_engine import PRESETS, Coordinates, Keys, Rules, format_cell, format_key, format_pair

CLASSIC = PRESETS["classic"]
WIDE = Rules(rows=32, columns=32, line=5)


@pytest.mark.parametrize(
    ("line", "intent"),
    [
        ("", Query("turn")),
        ("   ", Query("turn")),
        ("5", Place(4)),
        ("b2", Place(4)),
        ("B2", Place(4)),
        ("2,3", Place(5)),
        ("2 3", Place(5)),
        ("/b2", Place(4)),
        ("b", Query("board")),
        ("board", Query("board")),
        ("BOARD", Query("board")),
        ("/b", Query("board")),
        (":b", Query("board")),
        ("l", Query("last")),
        ("c", Query("clock")),
        ("o", Query("who")),
        ("who", Query("who")),
        ("f", Query("free")),
        ("h", Query("help")),
        ("?", Query("help")),
        ("s A", Query("column", 0)),
        ("s c", Query("column", 2)),
        ("s 1", Query("row", 0)),
        ("chat good luck", Verb("chat", "good luck")),
        ("say hello", Verb("chat", "hello")),
        ("/chat hi", Verb("chat", "hi")),
        ("save", Verb("save")),
        ("/save My Games/One.txt", Verb("save", "My Games/One.txt")),
        ("resign", Verb("resign")),
        ("rematch", Verb("rematch")),
        ("new", Verb("new")),
        ("leave", Verb("leave")),
        ("quit", Verb("quit")),
        ("draw", Verb("draw")),
        ("draw decline", Verb("draw", "decline")),
        ("undo", Verb("undo")),
        ("claim draw", Verb("claim", "draw")),
        ("s b2", Query("cell", 4)),
        ("a", Query("around", None)),
        ("around b2", Query("around", 4)),
        ("a 5", Query("around", 4)),
        ("d C3", Query("diagonals", 8)),
        ("/diagonals", Query("diagonals", None)),
        ("m", Query("marks")),
        ("marks x", Query("marks", 0)),
        ("r", Query("runs")),
        ("moves", Query("moves")),
        ("moves 6", Query("moves", 6)),
        ("value", Query("value")),
        (":review 5", Query("value", 5)),
        ("yes", Verb("yes")),
        ("mute ana 2", Verb("mute", "ana 2")),
        ("/Unmute bo", Verb("unmute", "bo")),
        ("mute", Verb("mute")),
    ],
)
def test_a_line_means(line: str, intent: Intent) -> None:
    assert parse_intent(line, CLASSIC) == intent


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("z9", "off_board", "Z9 is off the board: columns A-C, rows 1-3."),
        ("2,", "unknown", 'I don\'t know "2,". A move looks like b2 or 5. ? for help.'),
        ("hello", "unknown", 'I don\'t know "hello". A move looks like b2 or 5. ? for help.'),
        ("resing", "unknown", 'I don\'t know "resing". Did you mean resign?'),
        ("rematc", "unknown", 'I don\'t know "rematc". Did you mean rematch?'),
        ("chat " + "x" * 312, "too_long", "Too long: 312 of 200 characters."),
        ("s 9", "off_board", "There is no row 9: rows 1-3."),
        ("s D", "off_board", "There is no column D: columns A-C."),
        ("s", "bad_input", "Read what? Type s and a column, a row or a cell: s A, s 1, s b2."),
        ("s d4", "off_board", "D4 is off the board: columns A-C, rows 1-3."),
        ("a z9", "off_board", "Z9 is off the board: columns A-C, rows 1-3."),
        ("m a", "bad_input", "There is no such mark here: X O."),
        ("m xo", "bad_input", "There is no such mark here: X O."),
        ("moves many", "bad_input", "Type moves, or moves and a number: moves 5."),
        ("value -1", "bad_input", "Type value, or value and a number: value 5."),
        ("arround", "unknown", 'I don\'t know "arround". Did you mean around?'),
        ("chat", "bad_input", "Say what? Type chat and then your words."),
        ("resign now", "unknown", 'I don\'t know "resign now". Did you mean resign?'),
        ("１", "unknown", 'I don\'t know "１". A move looks like b2 or 5. ? for help.'),
    ],
)
def test_a_line_that_makes_no_sense_is_answered_with(line: str, code: str, message: str) -> None:
    with pytest.raises(BadInput) as bad:
        parse_intent(line, CLASSIC)
    assert (bad.value.code, bad.value.message) == (code, message)


@pytest.mark.parametrize(
    ("line", "intent"),
    [
        ("q", Place(0)),
        ("c", Place(8)),
        ("a", Place(3)),
        ("/c", Query("clock")),
        ("clock", Query("clock")),
        ("/s A", Query("column", 0)),
        ("/a", Query("around", None)),
        ("/d b2", Query("diagonals", 4)),
        ("/m x", Query("marks", 0)),
        ("moves", Query("moves")),
        ("?", Query("help")),
    ],
)
def test_where_letters_place_a_line_means(line: str, intent: Intent) -> None:
    assert parse_intent(line, CLASSIC, keys=Keys.LETTERS) == intent


def test_letters_place_only_where_they_were_chosen_and_on_3x3() -> None:
    with pytest.raises(BadInput):
        parse_intent("q", CLASSIC)
    with pytest.raises(BadInput):
        parse_intent("b", CLASSIC, keys=Keys.LETTERS)
    assert parse_intent("b", PRESETS["gomoku"], keys=Keys.LETTERS) == Query("board")


@pytest.mark.parametrize("line", ["h", "s 1", "b 0", "m x", "l"])
def test_where_letters_place_a_query_without_its_slash_is_recognised(line: str) -> None:
    with pytest.raises(BadInput) as bad:
        parse_intent(line, CLASSIC, keys=Keys.LETTERS)
    assert bad.value.message == f'I don\'t know "{line}". Did you mean /{line}?'
    parse_intent(f"/{line}", CLASSIC, keys=Keys.LETTERS)


def test_what_is_no_query_with_a_slash_either_gets_no_hint_of_one() -> None:
    with pytest.raises(BadInput, match="A move looks like"):
        parse_intent("k 9", CLASSIC, keys=Keys.LETTERS)


FOUR = PRESETS["connect-four"]


@pytest.mark.parametrize(
    ("line", "intent"),
    [
        ("d", Place(3)),
        ("G", Place(6)),
        ("d1", Place(3)),
        ("b2", Place(8)),
        ("/e", Place(4)),
        ("/b", Query("board")),
        ("/d", Query("diagonals", None)),
        ("d b2", Query("diagonals", 8)),
        ("s A", Query("column", 0)),
        ("b 5", Look("at", 5)),
        ("h", Query("help")),
        ("?", Query("help")),
        ("l", Query("last")),
    ],
)
def test_where_marks_fall_a_line_means(line: str, intent: Intent) -> None:
    assert parse_intent(line, FOUR) == intent


def test_where_marks_fall_a_strange_word_is_answered_with_how_to_move() -> None:
    for line in ("x", "hello"):
        with pytest.raises(BadInput) as bad:
            parse_intent(line, FOUR)
        assert bad.value.message == f'I don\'t know "{line}". A move is a column, A to G. ? for help.'


def test_for_one_who_looks_on_a_letter_is_always_a_question() -> None:
    assert parse_intent("b", FOUR, plays=False) == Query("board")
    assert parse_intent("a", CLASSIC, keys=Keys.LETTERS, plays=False) == Query("around", None)


def test_a_keypad_has_its_seven_at_the_top() -> None:
    assert parse_intent("7", CLASSIC, keys=Keys.PAD) == Place(0)
    assert parse_intent("/7", CLASSIC, keys=Keys.PAD) == Place(0)


@given(cell=st.integers(0, WIDE.size - 1), coordinates=st.sampled_from(Coordinates), lower=st.booleans())
def test_every_cell_that_is_written_is_read_as_itself(cell: int, coordinates: Coordinates, *, lower: bool) -> None:
    name = format_cell(cell, WIDE)
    assert parse_intent(name.lower() if lower else name, WIDE, coordinates=coordinates) == Place(cell)
    assert parse_intent(format_pair(cell, WIDE, coordinates), WIDE, coordinates=coordinates) == Place(cell)


@given(cell=st.integers(0, 8), keys=st.sampled_from(Keys))
def test_every_key_that_is_shown_places_where_it_is_shown(cell: int, keys: Keys) -> None:
    assert parse_intent(format_key(cell, keys), CLASSIC, keys=keys) == Place(cell)


@given(line=st.text(max_size=80), keys=st.sampled_from(Keys), rules=st.sampled_from(list(PRESETS.values())))
def test_no_line_does_worse_than_be_refused(line: str, keys: Keys, rules: Rules) -> None:
    with contextlib.suppress(BadInput):
        parse_intent(line, rules, keys=keys)


GOMOKU = PRESETS["gomoku"]
NINE = Rules(9, 9, 5)


def type_all(keys: str, rules: Rules) -> str:
    text = ""
    for key in keys:
        text = key if begins_anew(text, key, rules) else text + key
    return text


@pytest.mark.parametrize(
    ("keys", "rules", "text"),
    [
        ("h1c", GOMOKU, "c"),
        ("h10", GOMOKU, "h10"),
        ("h10c", GOMOKU, "c"),
        ("h1c3", GOMOKU, "c3"),
        ("h99", GOMOKU, "h99"),
        ("h995", GOMOKU, "5"),
        ("q1h", GOMOKU, "h"),
        ("b22", NINE, "2"),
        ("b22,3", NINE, "2,3"),
        ("2 3", GOMOKU, "2 3"),
        ("2 , 3", GOMOKU, "2 , 3"),
        ("10,12", GOMOKU, "10,12"),
        ("2,3h", GOMOKU, "h"),
        ("2,3 ", GOMOKU, "2,3 "),
        ("aa30", WIDE, "aa30"),
        ("h1ab", WIDE, "ab"),
        ("resing", GOMOKU, "resing"),
        ("h1;", GOMOKU, "h1;"),
        ("de", FOUR, "e"),
        ("d1", FOUR, "d1"),
        ("d1e", FOUR, "e"),
        ("draw", FOUR, "draw"),
    ],
)
def test_a_whole_move_is_gone_on_with_or_begun_anew(keys: str, rules: Rules, text: str) -> None:
    assert type_all(keys, rules) == text
