"""A board in the room there is for it: framed, in cells as large as fit, else compact, else the part around the cursor.

Pure. The letters and numbers beside the board stay in sight when it scrolls, and arrows say where it goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tictactoe_client.board.board import (
    CURSOR_REACH,
    BoardStyle,
    BoardView,
    Scale,
    Window,
    cell_at,
    measure_board,
    place_of,
    render_board,
)
from tictactoe_client.tui.picture import Picture, measure
from tictactoe_engine import FREE, Rules, format_column

_MIN_WINDOW: Final = 3
_EDGES: Final = (3, 1)
"""What the arrows at the sides and the line below take of a board that scrolls."""
_BESIDE: Final = 2
"""How far the line below may reach beyond the board."""

_SCALES: Final[tuple[Scale, ...]] = (3, 2, 1)


@dataclass(frozen=True, slots=True)
class Fit:
    """How a board goes into a rectangle: its style, and the window where it must scroll."""

    style: BoardStyle
    window: Window | None
    width: int
    height: int


def fit_board(
    rules: Rules,
    style: BoardStyle,
    width: int,
    height: int,
    centre: int | None,
    old: Window | None,
    *,
    largest: Scale = 1,
) -> Fit:
    """Return the most generous way that fits, with cells no larger than `largest`.

    A scrolled window moves from `old` no more than the cell `centre` needs.
    """
    for chosen in _ways(style, largest):
        needed_width, needed_height = measure_board(rules, chosen)
        if needed_width <= width and needed_height <= height:
            return Fit(chosen, None, needed_width, needed_height)
    margin, labels = len(str(rules.rows)) + 2, len(format_column(rules.columns - 1))
    columns = min(rules.columns, max(_MIN_WINDOW, (width - margin - _EDGES[0]) // 2))
    rows = min(rules.rows, max(_MIN_WINDOW, height - labels - _EDGES[1]))
    row, column = divmod(centre if centre is not None else rules.size // 2, rules.columns)
    window = Window(
        _scroll(old.top if old else row - rows // 2, row, rows, rules.rows),
        _scroll(old.left if old else column - columns // 2, column, columns, rules.columns),
        rows,
        columns,
    )
    compact = replace(style, framed=False, keys=None, scale=1)
    return Fit(compact, window, margin + 2 * columns + _EDGES[0], labels + rows + _EDGES[1])


def smallest_board(rules: Rules) -> tuple[int, int]:
    """Return the least width and height in which a board can be shown: whole, or a part that scrolls."""
    whole = measure_board(rules)
    rows, columns = min(rules.rows, _MIN_WINDOW), min(rules.columns, _MIN_WINDOW)
    margin, labels = len(str(rules.rows)) + 2, len(format_column(rules.columns - 1))
    part = margin + 2 * columns + _EDGES[0], labels + rows + _EDGES[1]
    return whole if whole[0] <= part[0] and whole[1] <= part[1] else part


def _ways(style: BoardStyle, largest: Scale) -> Iterator[BoardStyle]:
    """Yield the styles of a whole board, the most generous one first."""
    for scale in _SCALES:
        if scale <= largest:
            yield replace(style, framed=True, scale=scale)
    yield replace(style, framed=False, scale=1)
    yield replace(style, framed=False, scale=1, keys=None)


def paint_board(picture: Picture, x: int, y: int, view: BoardView, fit: Fit, *, grey: bool = False) -> None:
    """Draw the board with its upper left corner here."""
    view = replace(view, window=fit.window)
    for number, line in enumerate(render_board(view, fit.style)):
        picture.put(x, y + number, line, "dim")
    if not grey:
        shown = [row * view.rules.columns + column for row in view.rows for column in view.columns]
        for cell in sorted(shown, key=lambda cell: cell == view.cursor):
            _paint_cell(picture, x, y, cell, view, fit.style)
    if fit.window is not None:
        _paint_edges(picture, x, y, view, fit)


def find_cell(x: int, y: int, view: BoardView, fit: Fit) -> int | None:
    """Return the cell at this place of a board drawn at 0, 0, or None."""
    return cell_at(x, y, replace(view, window=fit.window), fit.style)


def mark_role(mark: str, rules: Rules, *, strong: bool = False) -> str:
    """Return the role of a player's mark."""
    return f"{'strong' if strong else 'mark'}{rules.marks.index(mark) % 6}" if mark in rules.marks else "dim"


def _paint_cell(picture: Picture, x: int, y: int, cell: int, view: BoardView, style: BoardStyle) -> None:
    mark = view.board[cell]
    strong = cell == view.last or cell in view.line
    place = place_of(cell, view, style)
    if place is None or (mark == FREE and cell != view.cursor):
        return
    x, y = x + place[0], y + place[1]
    if mark in view.rules.marks:
        _colour(picture, x, y, mark_role(mark, view.rules, strong=strong))
    if strong:
        _colour_beside(picture, x, y, 1, mark_role(mark, view.rules, strong=True))
    if cell == view.cursor:
        tall = style.framed and style.scale > 1
        for line in (y - 1, y, y + 1) if tall else (y,):
            _colour_beside(picture, x, line, CURSOR_REACH if tall else 1, "cursor")


def _colour_beside(picture: Picture, x: int, y: int, reach: int, role: str) -> None:
    _colour(picture, x - reach, y, role)
    _colour(picture, x + reach, y, role)


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
    left = x + margin + 2
    space = min(fit.width + _BESIDE - margin - 2, picture.width - left)
    ways = [_describe_part(view, arrows, total=total) for total in (True, False)]
    text = next((way for way in ways if measure(way) <= space), "")
    picture.put(left, y + fit.height - 1, text, "dim")


def _describe_part(view: BoardView, arrows: tuple[str, ...], *, total: bool) -> str:
    """Return which columns and rows are shown, and perhaps of how many: ``A-J of A-O   1-12 of 1-15  ▾``."""
    rules, rows, columns = view.rules, view.rows, view.columns
    parts = []
    if len(columns) < rules.columns:
        whole = f" of A-{format_column(rules.columns - 1)}" if total else ""
        parts.append(f"{format_column(columns.start)}-{format_column(columns.stop - 1)}{whole}")
    if len(rows) < rules.rows:
        whole = f" of 1-{rules.rows}" if total else ""
        up = arrows[2] if rows.start > 0 else " "
        down = arrows[3] if rows.stop < rules.rows else " "
        parts.append(f"{rows.start + 1}-{rows.stop}{whole} {up}{down}".rstrip())
    return ("   " if total else " ").join(parts)


def _scroll(start: int, wanted: int, shown: int, total: int) -> int:
    """Return where the window begins so that the wanted line is in it, moved as little as can be."""
    margin = 1 if shown > 4 else 0
    start = min(start, max(0, wanted - margin))
    start = max(start, wanted + margin - shown + 1)
    return max(0, min(start, total - shown))
