"""A board in the room there is for it: framed, in cells as large as fit, else compact, else the part around the cursor.

The letters and numbers beside the board stay in sight when it scrolls, and arrows say where it goes on. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from tictactoe_client.board.board import (
    BoardStyle,
    BoardView,
    Cell,
    Grid,
    Scale,
    Window,
    draw_board,
    measure_board,
)
from tictactoe_engine import Rules, format_column

_MIN_WINDOW: Final = 3
_EDGES: Final = (3, 1)
"""What the arrows at the sides and the line below take of a board that scrolls."""
_BESIDE: Final = 2
"""How far the line below may reach beyond the board."""
_SPARE: Final = 1
"""How many lines are left below large cells, for what there is to say."""
_SCALES: Final[tuple[Scale, ...]] = (3, 2, 1)


@dataclass(frozen=True, slots=True)
class Fit:
    """How a board goes into a rectangle: its style, and the window where it must scroll."""

    style: BoardStyle
    window: Window | None
    width: int
    height: int

    def draw(self, view: BoardView) -> list[list[Cell]]:
        """Return the drawing of the board, with arrows and words where it is a part of it."""
        view = replace(view, window=self.window)
        rows = draw_board(view, self.style)
        if self.window is not None:
            rows += [[] for _ in range(self.height - len(rows))]
            _draw_edges(rows, view, self)
        return rows

    def find_cell(self, x: int, y: int, view: BoardView) -> int | None:
        """Return the cell at this place of the drawing, or None."""
        return Grid.of(view.rules, self.style).find_cell(x, y, replace(view, window=self.window))

    def scroll(self, rules: Rules, centre: int | None, old: Window | None) -> Fit:
        """Return it with a window that has moved from `old` no more than `centre` needs; as it is where all is seen."""
        part = self.window
        if part is None:
            return self
        row, column = divmod(centre if centre is not None else rules.size // 2, rules.columns)
        top = _scroll(old.top if old else row - part.rows // 2, row, part.rows, rules.rows)
        left = _scroll(old.left if old else column - part.columns // 2, column, part.columns, rules.columns)
        return replace(self, window=replace(part, top=top, left=left))


def fit_board(rules: Rules, style: BoardStyle, width: int, height: int) -> Fit:
    """Return the most generous way that fits, a window that has to scroll at its beginning."""
    compact = replace(style, framed=False, keys=None, scale=1)
    framed = (replace(style, framed=True, scale=scale) for scale in _SCALES)
    for chosen in (*framed, replace(compact, keys=style.keys), compact):
        needed_width, needed_height = measure_board(rules, chosen)
        spare = _SPARE if chosen.scale > 1 else 0
        if needed_width <= width and needed_height + spare <= height:
            return Fit(chosen, None, needed_width, needed_height)
    beside, above = _measure_part(rules, 0, 0)
    columns = min(rules.columns, max(_MIN_WINDOW, (width - beside) // 2))
    rows = min(rules.rows, max(_MIN_WINDOW, height - above))
    return Fit(compact, Window(0, 0, rows, columns), *_measure_part(rules, rows, columns))


def smallest_board(rules: Rules) -> tuple[int, int]:
    """Return the least width and height in which a board can be shown: whole, or a part that scrolls."""
    whole = measure_board(rules)
    part = _measure_part(rules, min(rules.rows, _MIN_WINDOW), min(rules.columns, _MIN_WINDOW))
    return whole if whole[0] <= part[0] and whole[1] <= part[1] else part


def _measure_part(rules: Rules, rows: int, columns: int) -> tuple[int, int]:
    """Return the width and height of a part of a board, with its labels, its arrows and the line below."""
    width, height = Grid.of(rules, BoardStyle()).size(rows, columns)
    return width + _EDGES[0], height + _EDGES[1]


def _draw_edges(rows: list[list[Cell]], view: BoardView, fit: Fit) -> None:
    """Draw arrows where the board goes on, and which part of it this is."""
    arrows = ("<", ">", "^", "v") if fit.style.ascii else ("◂", "▸", "▴", "▾")
    middle = rows[fit.height - 1 - len(view.rows) // 2]
    margin = len(str(view.rules.rows))
    if view.columns.start > 0:
        middle[margin] = (arrows[0], "key")
    if view.columns.stop < view.rules.columns:
        place = margin + 2 + 2 * len(view.columns)
        middle += [(" ", "")] * (place + 1 - len(middle))
        middle[place] = (arrows[1], "key")
    space = fit.width + _BESIDE - margin - 2
    ways = [_describe_part(view, arrows, total=total) for total in (True, False)]
    text = next((way for way in ways if len(way) <= space), "")
    rows[fit.height - 1] = [(character, "dim") for character in f"{'':{margin + 2}}{text}"]


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
