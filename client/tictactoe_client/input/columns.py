"""Boards on which marks fall: a move is a column there, whatever cell of it was meant. Pure."""

from __future__ import annotations

from tictactoe_engine import FREE, Rules, format_column
from tictactoe_engine.notation import parse_column
from tictactoe_protocol.pushes import RoomState


def landing_cell(state: RoomState, cell: int) -> int | None:
    """Return where a mark comes to lie that is dropped into the column of this cell, or None where that is full."""
    columns = state.rules.columns
    column = range(cell % columns, len(state.board), columns)
    return next((below for below in reversed(column) if state.board[below] == FREE), None)


def resting_cell(state: RoomState, cell: int) -> int:
    """Return where a cursor in the column of this cell stands: where a mark would land, at the top of a full one."""
    landing = landing_cell(state, cell)
    return cell % state.rules.columns if landing is None else landing


def find_column(text: str, rules: Rules) -> int | None:
    """Return the top cell of the column that a letter or a number from 1 names, or None where it names none.

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
    """Return that nothing falls into the column of this cell any more, and into which something does."""
    columns = state.rules.columns
    free = [format_column(column) for column in range(columns) if landing_cell(state, column) is not None]
    return f"Column {format_column(cell % columns)} is full. Free: {' '.join(free)}."
