"""Notations for cells: single digits or letters, names like ``b2``, and pairs of numbers."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from tictactoe_engine.errors import IllegalMove, UnknownNotation, shorten
from tictactoe_engine.rules import Rules


class Keys(StrEnum):
    """How single keys name the cells of a 3x3 board.

    Attributes:
        PHONE: Digits as on a telephone, with 1 2 3 at the top.
        PAD: Digits as on a numeric keypad, with 7 8 9 at the top.
        LETTERS: The letters at the left of a keyboard: q w e, a s d, z x c.
    """

    PHONE = "phone"
    PAD = "pad"
    LETTERS = "letters"


class Coordinates(StrEnum):
    """How a pair of numbers names a cell: which number comes first, and whether counting starts at 0 or 1."""

    ROW_COLUMN_1 = "row-column-1"
    ROW_COLUMN_0 = "row-column-0"
    X_Y_1 = "x-y-1"


_PHONE_ORDER: Final = "123456789"
_PAD_ORDER: Final = "789456123"
_LETTER_ORDER: Final = "qweasdzxc"

_Span = tuple[str, int | str, int | str]
"""``row``, ``column`` or ``cell``, with the first and the last one on the board."""

_NAME: Final = re.compile(r"([A-Za-z]{1,2})([0-9]{1,3})", re.ASCII)
_PAIR: Final = re.compile(r"([0-9]{1,3})(?:[ \t]*,[ \t]*|[ \t]+)([0-9]{1,3})", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,3}", re.ASCII)


def has_single_keys(rules: Rules) -> bool:
    """Return whether single digits and letters can name the cells, as on 3x3 boards."""
    return rules.rows == 3 and rules.columns == 3


def parse_cell(
    text: str,
    rules: Rules,
    *,
    keys: Keys | str = Keys.PHONE,
    coordinates: Coordinates | str = Coordinates.ROW_COLUMN_1,
) -> int:
    """Return the index of the cell that `text` names, row-major from 0. Digits must be ASCII.

    Raises `UnknownNotation` if `text` is not a cell, `IllegalMove` (``off_board``) if the cell is outside the board, or
    ValueError if `keys` or `coordinates` are unknown.

    >>> parse_cell("b2", Rules()), parse_cell("7", Rules(), keys="pad"), parse_cell("3 1", Rules(), coordinates="x-y-1")
    (4, 0, 2)
    """
    keys, coordinates = Keys(keys), Coordinates(coordinates)
    word = text.strip()
    if has_single_keys(rules):
        if len(word) == 1 and keys is Keys.LETTERS and word.lower() in _LETTER_ORDER:
            return _LETTER_ORDER.index(word.lower())
        if _NUMBER.fullmatch(word):
            cell = (_PAD_ORDER if keys is Keys.PAD else _PHONE_ORDER).find(word)
            if len(word) > 1 or cell < 0:
                raise off_board(word, ("cell", 1, 9))
            return cell
    if match := _NAME.fullmatch(word):
        row, column = int(match[2]) - 1, parse_column(match[1])
        if 0 <= row < rules.rows and column < rules.columns:
            return mirror_rows(row * rules.columns + column, rules)
        raise off_board(word.upper(), ("column", "A", format_column(rules.columns - 1)), ("row", 1, rules.rows))
    if match := _PAIR.fullmatch(word):
        return _parse_pair(int(match[1]), int(match[2]), word, rules, coordinates)
    example = "b2 or 5" if has_single_keys(rules) else "b2"
    words = 'I don\'t know "{word}". A move looks like {example}. ? for help.'
    data = {"word": shorten(word), "example": example}
    raise UnknownNotation(words.format_map(data), data)


def format_cell(cell: int, rules: Rules) -> str:
    """Return the name of a cell: the letters of its column and the number of its row.

    >>> format_cell(4, Rules()), format_cell(27, Rules(rows=1, columns=32)), format_cell(0, Rules(gravity=True))
    ('B2', 'AB1', 'A3')
    """
    return f"{format_column(cell % rules.columns)}{number_row(cell // rules.columns, rules)}"


def number_row(row: int, rules: Rules) -> int:
    """Return the number in the names of a row's cells, from 1 at the top, or with gravity from 1 at the bottom."""
    return rules.rows - row if rules.gravity else row + 1


def mirror_rows(cell: int, rules: Rules) -> int:
    """Convert a cell between rows counted as in names and rows counted from the top.

    The two differ only with gravity, where names count rows from the bottom. The function is its own inverse.
    """
    return (number_row(cell // rules.columns, rules) - 1) * rules.columns + cell % rules.columns


def format_key(cell: int, keys: Keys | str = Keys.PHONE) -> str:
    """Return the digit or letter that names a cell on a 3x3 board.

    >>> format_key(0), format_key(0, "pad"), format_key(0, "letters")
    ('1', '7', 'q')
    """
    order = {Keys.PHONE: _PHONE_ORDER, Keys.PAD: _PAD_ORDER, Keys.LETTERS: _LETTER_ORDER}[Keys(keys)]
    return order[cell]


def format_column(column: int) -> str:
    """Return the letters of a column: A to Z, then AA, AB and so on."""
    if column < 26:
        return chr(ord("A") + column)
    return format_column(column // 26 - 1) + chr(ord("A") + column % 26)


def parse_column(letters: str) -> int:
    """Return the index of a column from its ASCII letters, in either case; the inverse of `format_column`."""
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column - 1


def _parse_pair(first: int, second: int, word: str, rules: Rules, coordinates: Coordinates) -> int:
    if coordinates is Coordinates.ROW_COLUMN_0:
        if first < rules.rows and second < rules.columns:
            return mirror_rows(first * rules.columns + second, rules)
        raise off_board(word, ("row", 0, rules.rows - 1), ("column", 0, rules.columns - 1))
    row, column = (second, first) if coordinates is Coordinates.X_Y_1 else (first, second)
    if 1 <= row <= rules.rows and 1 <= column <= rules.columns:
        return mirror_rows((row - 1) * rules.columns + column - 1, rules)
    limits: list[_Span] = [("row", 1, rules.rows), ("column", 1, rules.columns)]
    if coordinates is Coordinates.X_Y_1:
        limits.reverse()
    raise off_board(word, *limits)


def off_board(word: str, *limits: _Span) -> IllegalMove:
    """Return the refusal of a typed row, column or cell; each limit is a noun with its first and last value."""
    spans = [f"{noun} {first}" if first == last else f"{noun}s {first}-{last}" for noun, first, last in limits]
    words = f"{{word}} is off the board: {', '.join(spans)}."
    return IllegalMove("off_board", words, {"why": "word", "word": shorten(word), "limits": limits})
