"""How cells are written and read: every style of the client, what is no cell, and what is off the board."""

from __future__ import annotations

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
    format_pair,
    has_single_keys,
    parse_cell,
)
from tictactoe_engine.notation import parse_column

CLASSIC = Rules()
FOUR = Rules(rows=4, columns=4, line=4)
LARGEST = Rules(rows=32, columns=32, line=5)

boards = st.builds(lambda rows, columns: Rules(rows, columns, line=3), st.integers(3, 32), st.integers(3, 32))
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


@pytest.mark.parametrize(("keys", "order"), [("phone", "123456789"), ("pad", "789456123"), ("letters", "qweasdzxc")])
def test_single_keys_name_the_cells_of_a_3x3_board_row_by_row(keys: str, order: str) -> None:
    assert [parse_cell(key, CLASSIC, keys=keys) for key in order] == list(range(9))


def test_digits_are_in_telephone_order_unless_told_otherwise() -> None:
    assert [parse_cell(digit, CLASSIC) for digit in "123456789"] == list(range(9))


def test_letters_by_place_may_be_upper_case() -> None:
    assert [parse_cell(key, CLASSIC, keys=Keys.LETTERS) for key in "QWEASDZXC"] == list(range(9))


def test_digits_still_work_in_telephone_order_where_letters_are_chosen() -> None:
    assert parse_cell("3", CLASSIC, keys=Keys.LETTERS) == 2


@pytest.mark.parametrize("keys", [Keys.PHONE, Keys.PAD])
def test_a_letter_by_place_is_unknown_unless_letters_are_chosen(keys: Keys) -> None:
    with pytest.raises(UnknownNotation):
        parse_cell("q", CLASSIC, keys=keys)


@pytest.mark.parametrize("word", ["q", "5"])
def test_single_keys_are_unknown_on_any_other_board(word: str) -> None:
    with pytest.raises(UnknownNotation):
        parse_cell(word, FOUR, keys=Keys.LETTERS)


@pytest.mark.parametrize(("rows", "columns", "single"), [(3, 3, True), (3, 4, False), (4, 3, False), (9, 1, False)])
def test_only_a_3x3_board_has_single_keys(rows: int, columns: int, single: bool) -> None:
    assert has_single_keys(Rules(rows=rows, columns=columns)) is single


@pytest.mark.parametrize(
    ("word", "cell"), [("a1", 0), ("A1", 0), ("c1", 2), ("b2", 4), ("B2", 4), ("a3", 6), ("C3", 8), ("b02", 4)]
)
def test_a_name_is_column_letter_and_row_number_from_the_top(word: str, cell: int) -> None:
    assert parse_cell(word, CLASSIC) == cell


@pytest.mark.parametrize("keys", Keys)
def test_names_are_read_whatever_the_keys_are(keys: Keys) -> None:
    assert parse_cell("a1", CLASSIC, keys=keys) == 0


@pytest.mark.parametrize(
    ("word", "column"), [("h1", 7), ("i1", 8), ("j1", 9), ("z1", 25), ("aa1", 26), ("Ab1", 27), ("aF1", 31)]
)
def test_column_letters_keep_i_and_go_on_after_z_with_aa(word: str, column: int) -> None:
    assert parse_cell(word, LARGEST) == column


def test_the_32_columns_are_a_to_z_and_aa_to_af() -> None:
    names = " ".join(format_column(column) for column in range(32))
    assert names == "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z AA AB AC AD AE AF"


@given(st.integers(0, 10_000))
def test_a_formatted_column_is_parsed_to_the_same_column(column: int) -> None:
    assert parse_column(format_column(column)) == column
    assert parse_column(format_column(column).lower()) == column


@each(
    ("coordinates", "cell"), [(Coordinates.ROW_COLUMN_1, 5), (Coordinates.ROW_COLUMN_0, None), (Coordinates.X_Y_1, 7)]
)
@each("word", ["2,3", "2 3", "2, 3", "2 ,3", " 2  3 ", "2\t3", "02,03"])
def test_a_pair_is_read_in_the_chosen_coordinates(word: str, coordinates: Coordinates, cell: int | None) -> None:
    if cell is None:
        assert off_board(word, CLASSIC, coordinates).endswith("is off the board: rows 0-2, columns 0-2.")
    else:
        assert parse_cell(word, CLASSIC, coordinates=coordinates) == cell


@pytest.mark.parametrize("coordinates", ["row-column-1", "row-column-0", "x-y-1"])
@pytest.mark.parametrize("separator", [",", " "])
def test_the_pairs_of_a_wide_board_name_its_cells_row_by_row(coordinates: str, separator: str) -> None:
    pairs = {
        "row-column-1": [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)],
        "row-column-0": [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)],
        "x-y-1": [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)],
    }[coordinates]
    words = [f"{first}{separator}{second}" for first, second in pairs]
    assert [parse_cell(word, Rules(rows=2), coordinates=coordinates) for word in words] == list(range(6))


def test_a_pair_means_row_and_column_from_1_unless_told_otherwise() -> None:
    assert parse_cell("2,3", CLASSIC) == 5


def test_white_space_around_a_cell_is_ignored() -> None:
    assert parse_cell("  b2\r\n", CLASSIC) == 4


@given(boards_with_a_cell)
def test_a_formatted_name_is_parsed_to_the_same_cell(board: tuple[Rules, int]) -> None:
    rules, cell = board
    name = format_cell(cell, rules)
    assert parse_cell(name, rules) == parse_cell(name.lower(), rules) == cell


@given(boards_with_a_cell, st.sampled_from(Coordinates))
def test_a_formatted_pair_is_parsed_to_the_same_cell(board: tuple[Rules, int], coordinates: Coordinates) -> None:
    rules, cell = board
    pair = format_pair(cell, rules, coordinates)
    assert parse_cell(pair, rules, coordinates=coordinates) == cell
    assert parse_cell(pair.replace(",", " "), rules, coordinates=coordinates) == cell


@given(st.integers(0, 8), st.sampled_from(Keys))
def test_a_formatted_key_is_parsed_to_the_same_cell(cell: int, keys: Keys) -> None:
    assert parse_cell(format_key(cell, keys), CLASSIC, keys=keys) == cell


@given(boards, st.text(max_size=12), st.sampled_from(Keys), st.sampled_from(Coordinates))
def test_any_text_is_a_cell_of_the_board_or_refused(
    rules: Rules, text: str, keys: Keys, coordinates: Coordinates
) -> None:
    with suppress(UnknownNotation, IllegalMove):
        assert 0 <= parse_cell(text, rules, keys=keys, coordinates=coordinates) < rules.size


def test_z9_on_a_3x3_board_is_off_it_in_the_promised_words() -> None:
    assert off_board("z9", CLASSIC) == "Z9 is off the board: columns A-C, rows 1-3."


@pytest.mark.parametrize("word", ["d1", "a4", "a0", "a999", "zz1", "aa1"])
def test_a_name_outside_the_board_is_off_it(word: str) -> None:
    assert off_board(word, CLASSIC) == f"{word.upper()} is off the board: columns A-C, rows 1-3."


def test_the_columns_of_the_largest_board_are_told_up_to_af() -> None:
    assert off_board("ag1", LARGEST) == "AG1 is off the board: columns A-AF, rows 1-32."


@pytest.mark.parametrize(
    ("rows", "columns", "word", "coordinates", "limits"),
    [
        (5, 1, "B1", Coordinates.ROW_COLUMN_1, "column A, rows 1-5"),
        (1, 5, "A2", Coordinates.ROW_COLUMN_1, "columns A-E, row 1"),
        (5, 1, "1,2", Coordinates.ROW_COLUMN_1, "rows 1-5, column 1"),
        (1, 5, "1,0", Coordinates.ROW_COLUMN_0, "row 0, columns 0-4"),
        (1, 5, "1,2", Coordinates.X_Y_1, "columns 1-5, row 1"),
    ],
)
def test_a_single_row_or_column_is_told_as_one(
    rows: int, columns: int, word: str, coordinates: Coordinates, limits: str
) -> None:
    message = off_board(word, Rules(rows=rows, columns=columns), coordinates)
    assert message == f"{word} is off the board: {limits}."


@pytest.mark.parametrize("word", ["0", "10", "99", "123", "00"])
def test_a_number_that_is_no_digit_from_1_to_9_is_off_a_3x3_board(word: str) -> None:
    assert off_board(word, CLASSIC) == f"{word} is off the board: cells 1-9."


@pytest.mark.parametrize(
    ("coordinates", "word", "limits"),
    [
        (Coordinates.ROW_COLUMN_1, "3,1", "rows 1-2, columns 1-3"),
        (Coordinates.ROW_COLUMN_1, "1,4", "rows 1-2, columns 1-3"),
        (Coordinates.ROW_COLUMN_1, "0,1", "rows 1-2, columns 1-3"),
        (Coordinates.ROW_COLUMN_1, "1 0", "rows 1-2, columns 1-3"),
        (Coordinates.ROW_COLUMN_0, "2,0", "rows 0-1, columns 0-2"),
        (Coordinates.ROW_COLUMN_0, "0,3", "rows 0-1, columns 0-2"),
        (Coordinates.X_Y_1, "4,1", "columns 1-3, rows 1-2"),
        (Coordinates.X_Y_1, "1,3", "columns 1-3, rows 1-2"),
        (Coordinates.X_Y_1, "0,1", "columns 1-3, rows 1-2"),
    ],
)
def test_a_pair_outside_the_board_is_off_it(coordinates: Coordinates, word: str, limits: str) -> None:
    assert off_board(word, Rules(rows=2), coordinates) == f"{word} is off the board: {limits}."


def test_hello_is_unknown_in_the_promised_words() -> None:
    assert unknown("hello") == 'I don\'t know "hello". A move looks like b2 or 5. ? for help.'


def test_an_unknown_word_on_a_larger_board_is_answered_without_a_digit() -> None:
    assert unknown("hello", FOUR) == 'I don\'t know "hello". A move looks like b2. ? for help.'


@each(
    "word",
    ["", " ", "2,", ",2", "2,,3", "2,3,1", "2;3", "2-3", "-1", "+1", "1.5", "b", "b2b", "2b", "b 2", "b-1", "abc1"],
)
def test_what_follows_no_style_is_unknown(word: str) -> None:
    unknown(word)


@each("word", ["１２", "１", "²", "1_0", "٣", "b２", "b²", "２,３", "1，2", "ｂ2", "а1", "1\u00a02", "1\n2"])
def test_digits_letters_and_separators_beyond_ascii_are_unknown(word: str) -> None:
    unknown(word)


def test_a_long_unknown_word_is_shortened_in_the_message() -> None:
    assert unknown("x" * 100_000) == f'I don\'t know "{"x" * 40}…". A move looks like b2 or 5. ? for help.'


def test_a_pair_far_apart_is_shortened_in_the_message() -> None:
    assert off_board(f"9{' ' * 100_000}9", CLASSIC) == f"9{' ' * 39}… is off the board: rows 1-3, columns 1-3."


def test_an_unknown_word_of_40_characters_is_quoted_whole() -> None:
    assert f'"{"x" * 40}"' in unknown("x" * 40)


@pytest.mark.parametrize("word", ["9" * 5000, f"b{'9' * 5000}", f"1,{'9' * 5000}"])
def test_numbers_too_long_to_be_cells_are_unknown(word: str) -> None:
    assert len(unknown(word)) < 100


def test_white_space_around_an_unknown_word_is_not_quoted() -> None:
    assert unknown(f"{' ' * 50}hello\n") == unknown("hello")


@pytest.mark.parametrize("word", ["b2", "1,2", "5", "hello"])
@pytest.mark.parametrize("style", [{"coordinates": "sideways"}, {"keys": "sideways"}])
def test_a_style_that_does_not_exist_is_refused_whatever_the_word(word: str, style: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="'sideways' is not a valid"):
        parse_cell(word, CLASSIC, **style)
