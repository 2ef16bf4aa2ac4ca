"""A board in the room there is for it: framed where that fits, else compact, else the part around the cursor.

Pure. The letters and numbers beside the board stay in sight when it scrolls, and arrows say where it goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tictactoe_client.board import BoardStyle, BoardView, Window, cell_at, measure_board, place_of, render_board
from tictactoe_client.tui.picture import Picture
from tictactoe_engine import BLOCKED, FREE, Rules, format_column

_MIN_WINDOW = 3


@dataclass(frozen=True, slots=True)
class Fit:
    """How a board goes into a rectangle: its style, and the window where it must scroll."""

    style: BoardStyle
    window: Window | None
    width: int
    height: int


def fit_board(rules: Rules, style: BoardStyle, width: int, height: int, centre: int | None, old: Window | None) -> Fit:
    """Return the most generous way that fits; a scrolled window moves from `old` no more than the cell needs."""
    for framed in (True, False):
        chosen = replace(style, framed=framed)
        needed_width, needed_height = measure_board(rules, replace(chosen, keys=None))
        if needed_width <= width and needed_height <= height:
            return Fit(chosen, None, needed_width, needed_height)
    compact = replace(style, framed=False)
    margin = len(str(rules.rows)) + 2
    labels = 2 if rules.columns > 26 else 1
    columns = min(rules.columns, max(_MIN_WINDOW, (width - margin - 3) // 2))
    rows = min(rules.rows, max(_MIN_WINDOW, height - labels - 1))
    row, column = divmod(centre if centre is not None else rules.size // 2, rules.columns)
    window = Window(
        _scroll(old.top if old else row - rows // 2, row, rows, rules.rows),
        _scroll(old.left if old else column - columns // 2, column, columns, rules.columns),
        rows,
        columns,
    )
    return Fit(compact, window, margin + 2 * columns + 3, rows + labels + 1)


def paint_board(picture: Picture, x: int, y: int, view: BoardView, fit: Fit, *, grey: bool = False) -> None:
    """Draw the board with its upper left corner here."""
    view = replace(view, window=fit.window)
    for number, line in enumerate(render_board(view, fit.style)):
        picture.put(x, y + number, line, "dim")
    if not grey:
        for row in view.rows:
            for column in view.columns:
                _paint_cell(picture, x, y, row * view.rules.columns + column, view, fit.style)
    if fit.window is not None:
        _paint_edges(picture, x, y, view, fit)


def find_cell(x: int, y: int, view: BoardView, fit: Fit) -> int | None:
    """Return the cell at this place of a board drawn at 0, 0, or None."""
    return cell_at(x, y, replace(view, window=fit.window), fit.style)


def mark_role(mark: str, rules: Rules, *, strong: bool = False) -> str:
    """Return the role of a player's mark."""
    return f"{'strong' if strong else 'mark'}{rules.marks.index(mark) % 6}" if mark in rules.marks else "dim"


def _paint_cell(picture: Picture, x: int, y: int, cell: int, view: BoardView, style: BoardStyle) -> None:
    place = place_of(cell, view, style)
    if place is None:
        return
    left, line = place
    mark = view.board[cell]
    strong = cell == view.last or cell in view.line
    if mark not in (FREE, BLOCKED):
        _colour(picture, x + left, y + line, mark_role(mark, view.rules, strong=strong))
    if cell == view.cursor or strong:
        role = "cursor" if cell == view.cursor else mark_role(mark, view.rules, strong=True)
        _colour(picture, x + left - 1, y + line, role)
        _colour(picture, x + left + 1, y + line, role)


def _colour(picture: Picture, x: int, y: int, role: str) -> None:
    if 0 <= x < picture.width and 0 <= y < picture.height:
        picture.rows[y][x] = (picture.rows[y][x][0], role)


def _paint_edges(picture: Picture, x: int, y: int, view: BoardView, fit: Fit) -> None:
    """Draw arrows where the board goes on, and which part of it this is."""
    rules, rows, columns = view.rules, view.rows, view.columns
    arrows = ("<", ">", "^", "v") if fit.style.ascii else ("◂", "▸", "▴", "▾")
    middle = y + fit.height - 1 - len(rows) // 2
    margin = len(str(rules.rows))
    if columns.start > 0:
        picture.put(x + margin, middle, arrows[0], "key")
    if columns.stop < rules.columns:
        picture.put(x + margin + 2 + 2 * len(columns), middle, arrows[1], "key")
    parts = []
    if len(columns) < rules.columns:
        span = f"{format_column(columns.start)}-{format_column(columns.stop - 1)}"
        parts.append(f"{span} of A-{format_column(rules.columns - 1)}")
    if len(rows) < rules.rows:
        up = arrows[2] if rows.start > 0 else " "
        down = arrows[3] if rows.stop < rules.rows else " "
        parts.append(f"{rows.start + 1}-{rows.stop} of 1-{rules.rows} {up}{down}".rstrip())
    picture.put(x + margin + 2, y + fit.height - 1, "   ".join(parts), "dim")


def _scroll(start: int, wanted: int, shown: int, total: int) -> int:
    """Return where the window begins so that the wanted line is in it, moved as little as can be."""
    margin = 1 if shown > 4 else 0
    start = min(start, max(0, wanted - margin))
    start = max(start, wanted + margin - shown + 1)
    return max(0, min(start, total - shown))
