"""Translates keys, typed moves and columns into cells."""

from __future__ import annotations

import re
from contextlib import suppress

from tictactoe_client.board.grid import MOST_COLUMN_KEYS
from tictactoe_engine import (
    IllegalMove,
    Keys,
    Rules,
    UnknownNotation,
    format_column,
    format_key,
    has_single_keys,
    parse_cell,
)
from tictactoe_engine.notation import parse_column
from tictactoe_engine.position import lowest_free
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say


def landing_cell(state: RoomState, cell: int) -> int | None:
    """Return the cell where a mark played at `cell` comes to lie; with gravity, None if the column is full."""
    return lowest_free(state.board, cell, state.rules.columns) if state.rules.gravity else cell


def resting_cell(state: RoomState, cell: int) -> int:
    """Return the cell where a mark played at `cell` would lie, or the top cell if the column is full."""
    landing = landing_cell(state, cell)
    return cell % state.rules.columns if landing is None else landing


def find_column(text: str, rules: Rules) -> int | None:
    """Return the top cell of the column with this letter or number (from 1), or None if there is no such column.

    >>> [find_column(text, Rules(6, 7, 4, gravity=True)) for text in ("d", "4", "h", "8")]
    [3, 3, None, None]
    """
    word = text.strip()
    if word.isascii() and word.isdigit():
        return int(word) - 1 if len(word) <= 2 and 1 <= int(word) <= rules.columns else None
    if not (word.isascii() and word.isalpha() and len(word) <= len(format_column(rules.columns - 1))):
        return None
    column = parse_column(word)
    return column if column < rules.columns else None


def describe_full_column(state: RoomState, cell: int) -> str:
    """Return a sentence which says that a cell's column is full, and which columns are free."""
    columns = state.rules.columns
    free = [format_column(column) for column in range(columns) if landing_cell(state, column) is not None]
    return say("column full", column=format_column(cell % columns), cells=" ".join(free))


def cell_of_key(key: str, rules: Rules, keys: Keys) -> int | None:
    """Return the cell that a key marks without Enter, or None if the key only types a character.

    >>> [cell_of_key(key, Rules(), keys) for key in "1q" for keys in (Keys.PHONE, Keys.LETTERS)]
    [0, None, None, 0]
    """
    if rules.gravity:
        return find_column(key, rules) if rules.columns <= MOST_COLUMN_KEYS and key.isdigit() else None
    if not has_single_keys(rules) or len(key) != 1:
        return None
    return next((cell for cell in range(rules.size) if format_key(cell, keys) == key.lower()), None)


def is_whole(text: str, rules: Rules, keys: Keys = Keys.PHONE) -> bool:
    """Return True if a text has the form of a complete move, even one outside the board.

    >>> [is_whole(text, Rules(15, 15, 5)) for text in ("h", "h1", "2,", "2 3", "z99")]
    [False, True, False, True, True]
    """
    if cell_of_key(text, rules, keys) is not None or (rules.gravity and find_column(text, rules) is not None):
        return True
    try:
        with suppress(IllegalMove):
            parse_cell(text, rules)
    except UnknownNotation:
        return False
    return True


def goes_on(text: str, rules: Rules) -> bool:
    """Return True if a text is the beginning of a move on this board."""
    letters, digits = len(format_column(rules.columns - 1)), len(str(max(rules.rows, rules.columns)))
    name = rf"[A-Za-z]{{1,{letters}}}[0-9]{{0,{digits}}}"
    number = rf"[0-9]{{1,{digits}}}"
    return re.fullmatch(rf"{name}|{number}[ \t]*,?[ \t]*|{number}(?:[ \t]*,[ \t]*|[ \t]+){number}", text) is not None
