"""A board as lines of text: compact or with a grid, whole or a part of it; nothing of terminals.

`place_of` and `cell_at` say where a cell stands in these lines, and which cell stands at a place. Every line of a
compact board of 32 columns fits 80 characters.
"""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board_view import BoardStyle, BoardView, Scale, Window, brackets_about, paint_mark
from tictactoe_client.board.framed_board import (
    CURSOR_REACH,
    find_in_frame,
    measure_frame,
    place_in_frame,
    render_framed,
)
from tictactoe_engine import FREE, Rules, format_column, format_key

__all__ = [
    "CURSOR_REACH",
    "BoardStyle",
    "BoardView",
    "Scale",
    "Window",
    "cell_at",
    "measure_board",
    "place_of",
    "render_board",
]

_KEYS_BESIDE: Final = 9
"""How much wider the keys make a compact board of 3x3."""


def render_board(view: BoardView, style: BoardStyle | None = None) -> list[str]:
    """Return the board as lines without trailing spaces.

    >>> print("\\n".join(render_board(BoardView(Rules(), "X...O....", last=4))))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    """
    style = style or BoardStyle()
    return render_framed(view, style) if style.framed else _render_compact(view, style)


def place_of(cell: int, view: BoardView, style: BoardStyle) -> tuple[int, int] | None:
    """Return (column, line) of a cell's mark in what `render_board` returns, or None where the window leaves it out."""
    row, column = divmod(cell, view.rules.columns)
    if row not in view.rows or column not in view.columns:
        return None
    down, right = row - view.rows.start, column - view.columns.start
    if style.framed:
        return place_in_frame(down, right, view.rules, style)
    return len(str(view.rules.rows)) + 2 + 2 * right, _label_lines(view.rules) + down


def cell_at(x: int, y: int, view: BoardView, style: BoardStyle) -> int | None:
    """Return the cell that stands at this column and line of the drawing, the inverse of `place_of`, or None.

    The whole inside of a framed cell is that cell; between two cells, on the grid and beside the board is none.
    """
    if style.framed:
        place = find_in_frame(x, y, view.rules, style)
    else:
        right, between = divmod(x - len(str(view.rules.rows)) - 2, 2)
        place = None if between else (y - _label_lines(view.rules), right)
    if place is None or place[0] not in range(len(view.rows)) or place[1] not in range(len(view.columns)):
        return None
    return view.rows[place[0]] * view.rules.columns + view.columns[place[1]]


def measure_board(rules: Rules, style: BoardStyle | None = None) -> tuple[int, int]:
    """Return (width, height) in characters that a board of these rules needs at most."""
    style = style or BoardStyle()
    if style.framed:
        width, height = measure_frame(rules, style)
        return width + 1, height
    beside = _KEYS_BESIDE if style.shows_keys(rules) else 0
    return len(str(rules.rows)) + 2 + 2 * rules.columns + beside, _label_lines(rules) + rules.rows


def _render_compact(view: BoardView, style: BoardStyle) -> list[str]:
    width = len(str(view.rules.rows))
    lines = _column_labels(view)
    for row in view.rows:
        cells = view.cells_of(row)
        text = f"{row + 1:>{width}} "
        before = ""
        for cell in cells:
            left, right = brackets_about(view, cell, style)
            text += _separator(before, left) + paint_mark(view, cell, view.mark_at(cell), style)
            before = right
        text += _separator(before, "")
        lines.append(f"{text.rstrip()}{_keys_beside(view, cells, style, missing_right=not before.strip())}")
    return lines


def _label_lines(rules: Rules) -> int:
    return len(format_column(rules.columns - 1))


def _column_labels(view: BoardView) -> list[str]:
    """Return one line of column letters, or two where letters pair up (AA, AB), read downwards."""
    names = [format_column(column) for column in view.columns]
    height = _label_lines(view.rules)
    gap = " " * (len(str(view.rules.rows)) + 1)
    return [(gap + "".join(f" {name.rjust(height)[level]}" for name in names)).rstrip() for level in range(height)]


def _separator(right_of_left: str, left_of_right: str) -> str:
    """Return the character between two cells; between two cells of a line it stays blank: ``<X X X>``.

    The cursor's brackets are whole beside whatever they stand.
    """
    if right_of_left == "]":
        return right_of_left
    if right_of_left == ">" and left_of_right == "<":
        return " "
    return left_of_right or right_of_left or " "


def _keys_beside(view: BoardView, cells: range, style: BoardStyle, *, missing_right: bool) -> str:
    if style.keys is None or not style.shows_keys(view.rules):
        return ""
    keys = (format_key(cell, style.keys) if view.board[cell] == FREE else FREE for cell in cells)
    return f"{'    ' if missing_right else '   '} {' '.join(keys)}"
