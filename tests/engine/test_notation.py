from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_engine import (
    Coordinates,
    IllegalMove,
    Keys,
    Rules,
    UnknownNotation,
    format_cell,
    format_column,
    format_key,
    has_single_keys,
    number_row,
    parse_cell,
)

CLASSIC = Rules()
FOUR = Rules(rows=4, columns=4, line=4)
WIDE = Rules(rows=2)
LARGEST = Rules(rows=32, columns=32, line=5)

boards = st.builds(
    lambda rows, columns, gravity: Rules(rows, columns, line=3, gravity=gravity),
    *(st.integers(3, 32), st.integers(3, 32), st.booleans()),
)
boards_with_a_cell = boards.flatmap(lambda rules: st.tuples(st.just(rules), st.integers(0, rules.size - 1)))


def off_board(text: str, rules: Rules, coordinates: Coordinates = Coordinates.ROW_COLUMN_1) -> str:
    with pytest.raises(IllegalMove) as caught:
        parse_cell(text, rules, coordinates=coordinates)
    assert caught.value.code == "off_board"
    return caught.value.message


def unknown(text: str, rules: Rules = CLASSIC) -> str:
    with pytest.raises(UnknownNotation) as caught:
        parse_cell(text, rules)
    assert caught.value.code == "bad_input"
    return caught.value.message


@each(
    ("keys", "order"),
    [
        ({}, "123456789"),
        ({"keys": "phone"}, "123456789"),
        ({"keys": "pad"}, "789456123"),
        ({"keys": "letters"}, "qweasdzxc"),
        ({"keys": "letters"}, "QWEASDZXC"),
        ({"keys": "letters"}, "123456789"),
    ],
)
def test_single_keys_name_the_cells_of_a_3x3_board_row_by_row(keys: dict[str, str], order: str) -> None:
    assert [parse_cell(key, CLASSIC, **keys) for key in order] == list(range(9))


@each(
    ("word", "rules", "keys"),
    [("q", CLASSIC, Keys.PHONE), ("q", CLASSIC, Keys.PAD), ("q", FOUR, Keys.LETTERS), ("5", FOUR, Keys.LETTERS)],
)
def test_a_single_key_is_unknown_unless_it_was_chosen_for_the_board(word: str, rules: Rules, keys: Keys) -> None:
    with pytest.raises(UnknownNotation):
        parse_cell(word, rules, keys=keys)


@pytest.mark.parametrize(("rows", "columns", "single"), [(3, 3, True), (3, 4, False), (4, 3, False), (9, 1, False)])
def test_only_a_3x3_board_has_single_keys(rows: int, columns: int, single: bool) -> None:
    assert has_single_keys(Rules(rows=rows, columns=columns)) is single


@each(
    ("word", "rules", "cell"),
    [
        *((word, CLASSIC, cell) for word, cell in (("a1", 0), ("A1", 0), ("c1", 2), ("b2", 4), ("a3", 6), ("C3", 8))),
        *(("b02", CLASSIC, 4), ("  b2\r\n", CLASSIC, 4), ("2,3", CLASSIC, 5)),
        *(("h1", LARGEST, 7), ("i1", LARGEST, 8), ("j1", LARGEST, 9), ("z1", LARGEST, 25)),
        *(("aa1", LARGEST, 26), ("Ab1", LARGEST, 27), ("aF1", LARGEST, 31)),
    ],
)
def test_a_name_is_column_and_row_and_a_pair_is_row_and_column(word: str, rules: Rules, cell: int) -> None:
    for keys in Keys:
        assert parse_cell(word, rules, keys=keys) == cell


def test_the_32_columns_are_a_to_z_and_aa_to_af() -> None:
    names = " ".join(format_column(column) for column in range(32))
    assert names == "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z AA AB AC AD AE AF"


@given(boards_with_a_cell)
def test_a_formatted_name_is_parsed_to_the_same_cell(board: tuple[Rules, int]) -> None:
    rules, cell = board
    name = format_cell(cell, rules)
    assert parse_cell(name, rules) == parse_cell(name.lower(), rules) == cell


@given(boards_with_a_cell)
def test_a_pair_of_numbers_is_parsed_in_every_style(board: tuple[Rules, int]) -> None:
    rules, cell = board
    row, column = number_row(cell // rules.columns, rules) - 1, cell % rules.columns
    pairs = {
        Coordinates.ROW_COLUMN_0: f"{row},{column}",
        Coordinates.ROW_COLUMN_1: f"{row + 1},{column + 1}",
        Coordinates.X_Y_1: f"{column + 1},{row + 1}",
    }
    for coordinates, pair in pairs.items():
        assert parse_cell(pair, rules, coordinates=coordinates) == cell
        assert parse_cell(pair.replace(",", " "), rules, coordinates=coordinates) == cell


@given(st.integers(0, 8), st.sampled_from(Keys))
def test_a_formatted_key_is_parsed_to_the_same_cell(cell: int, keys: Keys) -> None:
    assert parse_cell(format_key(cell, keys), CLASSIC, keys=keys) == cell


@given(boards, st.text(max_size=12), st.sampled_from(Keys), st.sampled_from(Coordinates))
def test_every_text_is_a_cell_or_refused(rules: Rules, text: str, keys: Keys, coordinates: Coordinates) -> None:
    with suppress(UnknownNotation, IllegalMove):
        assert 0 <= parse_cell(text, rules, keys=keys, coordinates=coordinates) < rules.size


@each(
    ("word", "rules", "coordinates", "limits"),
    [
        *((word, CLASSIC, None, "columns A-C, rows 1-3") for word in ("z9", "d1", "a4", "a0", "a999", "zz1", "aa1")),
        *((word, CLASSIC, None, "cells 1-9") for word in ("0", "10", "99", "123", "00")),
        ("ag1", LARGEST, None, "columns A-AF, rows 1-32"),
        ("b1", Rules(5, 1), None, "column A, rows 1-5"),
        ("a2", Rules(1, 5), None, "columns A-E, row 1"),
        ("1,2", Rules(5, 1), None, "rows 1-5, column 1"),
        ("1,0", Rules(1, 5), Coordinates.ROW_COLUMN_0, "row 0, columns 0-4"),
        ("1,2", Rules(1, 5), Coordinates.X_Y_1, "columns 1-5, row 1"),
        *((word, WIDE, None, "rows 1-2, columns 1-3") for word in ("3,1", "1,4", "0,1", "1 0")),
        *((word, WIDE, Coordinates.ROW_COLUMN_0, "rows 0-1, columns 0-2") for word in ("2,0", "0,3")),
        *((word, WIDE, Coordinates.X_Y_1, "columns 1-3, rows 1-2") for word in ("4,1", "1,3", "0,1")),
    ],
)
def test_a_cell_off_the_board_is_refused_with_its_limits(
    word: str, rules: Rules, coordinates: Coordinates | None, limits: str
) -> None:
    message = off_board(word, rules, coordinates or Coordinates.ROW_COLUMN_1)
    assert message == f"{word.upper()} is off the board: {limits}."


@each(
    ("word", "rules", "told"),
    [
        ("hello", CLASSIC, 'I don\'t know "hello". A move looks like b2 or 5. ? for help.'),
        ("hello", FOUR, 'I don\'t know "hello". A move looks like b2. ? for help.'),
        (f"{' ' * 50}hello\n", FOUR, 'I don\'t know "hello". A move looks like b2. ? for help.'),
        ("x" * 40, FOUR, f'I don\'t know "{"x" * 40}". A move looks like b2. ? for help.'),
        ("x" * 100_000, FOUR, f'I don\'t know "{"x" * 40}…". A move looks like b2. ? for help.'),
    ],
)
def test_an_unknown_word_is_quoted_with_an_example_of_a_move(word: str, rules: Rules, told: str) -> None:
    assert unknown(word, rules) == told


@each(
    "word",
    [
        *(
            "",
            " ",
            "2,",
            ",2",
            "2,,3",
            "2,3,1",
            "2;3",
            "2-3",
            "-1",
            "+1",
            "1.5",
            "b",
            "b2b",
            "2b",
            "b 2",
            "b-1",
            "abc1",
        ),
        *("１２", "１", "²", "1_0", "٣", "b２", "b²", "２,３", "1，2", "ｂ2", "а1", "1\u00a02", "1\n2"),
        *("9" * 5000, f"b{'9' * 5000}", f"1,{'9' * 5000}"),
    ],
)
def test_malformed_or_long_words_are_unknown(word: str) -> None:
    assert len(unknown(word)) < 100


@pytest.mark.parametrize("word", ["b2", "1,2", "5", "hello"])
@pytest.mark.parametrize("style", [{"coordinates": "sideways"}, {"keys": "sideways"}])
def test_a_style_that_does_not_exist_is_refused_whatever_the_word(word: str, style: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="'sideways' is not a valid"):
        parse_cell(word, CLASSIC, **style)
