"""The board with its grid, in three sizes: cells of one line, of three and of five. Pure.

The mark stands in the middle of its cell with its shape about it. In the larger cells the cursor's brackets stand
further out and are three lines high, so that both are seen: ``[ (O) ]``.
"""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board_view import BoardStyle, BoardView, brackets_about, paint_mark, shape_about
from tictactoe_engine import FREE, Rules, format_column, format_key, has_single_keys

CURSOR_REACH: Final = 3
"""How far from the mark the cursor's brackets stand in the larger cells; they reach one line up and down."""

_SIZES: Final = {2: (7, 3), 3: (11, 5)}
_CORNERS: Final = {"top": ("┌", "┬", "┐"), "middle": ("├", "┼", "┤"), "bottom": ("└", "┴", "┘")}


def render_framed(view: BoardView, style: BoardStyle) -> list[str]:
    """Return a line of column letters, then the grid with the row numbers before it."""
    wide, tall = cell_size(view.rules, style)
    width = len(str(view.rules.rows))
    gap = " " * (width + 1)
    names = "".join(format_column(column).center(wide + 1) for column in view.columns)
    count = len(view.columns)
    lines = [f"{gap} {names}".rstrip(), gap + _rule(count, wide, "top", ascii_only=style.ascii)]
    bar = "|" if style.ascii else "│"
    for row in view.rows:
        for offset in range(-(tall // 2), tall // 2 + 1):
            label = "" if offset else str(row + 1)
            inner = bar.join(_cell_line(view, cell, wide, offset, style) for cell in view.cells_of(row))
            lines.append(f"{label:>{width}} {bar}{inner}{bar}")
        level = "bottom" if row == view.rows[-1] else "middle"
        lines.append(gap + _rule(count, wide, level, ascii_only=style.ascii))
    return lines


def cell_size(rules: Rules, style: BoardStyle) -> tuple[int, int]:
    """Return how wide and how tall a cell is inside its frame."""
    return _SIZES.get(style.scale, (5 if has_single_keys(rules) else 3, 1))


def place_in_frame(down: int, right: int, rules: Rules, style: BoardStyle) -> tuple[int, int]:
    """Return (column, line) of the mark in the cell of the shown row `down` and the shown column `right`, from 0."""
    wide, tall = cell_size(rules, style)
    return len(str(rules.rows)) + 2 + right * (wide + 1) + wide // 2, 2 + down * (tall + 1) + tall // 2


def find_in_frame(x: int, y: int, rules: Rules, style: BoardStyle) -> tuple[int, int] | None:
    """Return (down, right) of the cell in which this place lies, perhaps beyond the board, or None on the grid."""
    wide, tall = cell_size(rules, style)
    right, across = divmod(x - len(str(rules.rows)) - 2, wide + 1)
    down, along = divmod(y - 2, tall + 1)
    return (down, right) if across < wide and along < tall else None


def measure_frame(rules: Rules, style: BoardStyle) -> tuple[int, int]:
    """Return the width and height of the whole board."""
    wide, tall = cell_size(rules, style)
    return len(str(rules.rows)) + 2 + rules.columns * (wide + 1), 2 + rules.rows * (tall + 1)


def _cell_line(view: BoardView, cell: int, wide: int, offset: int, style: BoardStyle) -> str:
    """Return one line of a cell's inside, `offset` lines below the mark's."""
    if style.scale == 1:
        margin = " " * ((wide - 3) // 2)
        left, right = brackets_about(view, cell, style)
        return f"{margin}{left or ' '}{_mark(view, cell, style)}{right or ' '}{margin}"
    if abs(offset) > 1:
        return " " * wide
    left, right = shape_about(view, cell, style)
    inside = "   " if offset else f"{left or ' '}{_mark(view, cell, style)}{right or ' '}"
    before, after = ("[", "]") if cell == view.cursor else (" ", " ")
    margin, gap = " " * (wide // 2 - CURSOR_REACH), " " * (CURSOR_REACH - 2)
    return f"{margin}{before}{gap}{inside}{gap}{after}{margin}"


def _mark(view: BoardView, cell: int, style: BoardStyle) -> str:
    """Return a cell's mark, or the key of a free cell."""
    mark = view.mark_at(cell)
    if mark == FREE:
        mark = format_key(cell, style.keys) if style.keys and style.shows_keys(view.rules) else " "
    return paint_mark(view, cell, mark, style)


def _rule(columns: int, wide: int, level: str, *, ascii_only: bool) -> str:
    if ascii_only:
        return "+" + "+".join(["-" * wide] * columns) + "+"
    left, between, right = _CORNERS[level]
    return left + between.join(["─" * wide] * columns) + right
