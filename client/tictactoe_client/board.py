"""A board as lines of text: what a view shows and how, nothing of terminals.

Shape says everything and colour only repeats it: the last move is ``(O)``, a deciding line ``<X>``, the cursor
``[ ]``. Every line of a compact board of 32 columns fits 80 characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tictactoe_engine import BLOCKED, FREE, Keys, Rules, format_column, format_key, has_single_keys
from tictactoe_protocol.pushes import RoomState

_COLOURS: Final = (36, 33, 35, 32, 34, 31)
_CORNERS: Final = {"top": ("┌", "┬", "┐"), "middle": ("├", "┼", "┤"), "bottom": ("└", "┴", "┘")}
_DIM: Final = 2
_BOLD: Final = 1
_RESET: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a board that is shown: its first row and column, from 0, and how many of each."""

    top: int
    left: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class BoardView:
    """What is shown: the rules' board, the last move, the cells of a deciding line, and a cursor, if any.

    `pending` is the cell of a move that the server has not confirmed, by the mark to move: ``x?``. A `window` shows a
    part of the board.
    """

    rules: Rules
    board: str
    last: int | None = None
    line: frozenset[int] = frozenset()
    cursor: int | None = None
    pending: tuple[int, str] | None = None
    window: Window | None = None

    @property
    def rows(self) -> range:
        """The rows that are shown."""
        return range(self.rules.rows) if self.window is None else _span(self.window.top, self.window.rows)

    @property
    def columns(self) -> range:
        """The columns that are shown."""
        return range(self.rules.columns) if self.window is None else _span(self.window.left, self.window.columns)

    @classmethod
    def of(cls, state: RoomState, cursor: int | None = None) -> BoardView:
        """Return the view of a state."""
        line = frozenset(state.result.line) if state.result else frozenset()
        return cls(state.rules.to_rules(), state.board, state.last, line, cursor)


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """How it is shown.

    `framed` draws the grid, with the free cells' keys inside on 3x3; otherwise the board is compact, with those keys
    beside it. `keys` None shows no keys. `mark_last` puts the last move in parentheses.
    """

    framed: bool = False
    ascii: bool = False
    colour: bool = False
    keys: Keys | None = None
    mark_last: bool = True


def render_board(view: BoardView, style: BoardStyle | None = None) -> list[str]:
    """Return the board as lines without trailing spaces.

    >>> print("\\n".join(render_board(BoardView(Rules(), "X...O....", last=4))))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    """
    style = style or BoardStyle()
    return _render_framed(view, style) if style.framed else _render_compact(view, style)


def place_of(cell: int, view: BoardView, style: BoardStyle) -> tuple[int, int] | None:
    """Return (column, line) of a cell's mark in what `render_board` returns, or None where the window leaves it out."""
    row, column = divmod(cell, view.rules.columns)
    if row not in view.rows or column not in view.columns:
        return None
    down, right = row - view.rows.start, column - view.columns.start
    margin = len(str(view.rules.rows)) + 1
    if style.framed:
        wide = _cell_width(view.rules)
        return margin + 1 + right * (wide + 1) + wide // 2, 2 + 2 * down
    return margin + 2 * right + 1, len(_column_labels(view)) + down


def cell_at(x: int, y: int, view: BoardView, style: BoardStyle) -> int | None:
    """Return the cell that stands at this column and line of the drawing, the inverse of `place_of`, or None."""
    reach = _cell_width(view.rules) // 2 if style.framed else 0
    for row in view.rows:
        for column in view.columns:
            cell = row * view.rules.columns + column
            place = place_of(cell, view, style)
            if place is not None and place[1] == y and abs(place[0] - x) <= reach:
                return cell
    return None


def measure_board(rules: Rules, style: BoardStyle | None = None) -> tuple[int, int]:
    """Return (width, height) in characters that a board of these rules needs at most."""
    style = style or BoardStyle()
    lines = render_board(BoardView(rules, FREE * rules.size), BoardStyle(framed=style.framed, ascii=True))
    beside = 9 if style.keys and not style.framed and has_single_keys(rules) else 0
    return max(map(len, lines)) + 1 + beside, len(lines)


def _render_compact(view: BoardView, style: BoardStyle) -> list[str]:
    rules = view.rules
    width = len(str(rules.rows))
    lines = _column_labels(view)
    for row in view.rows:
        cells = _cells_of_row(row, view)
        text = f"{row + 1:>{width}} "
        before = ""
        for cell in cells:
            left, right = _brackets(view, cell, style)
            text += _separator(before, left) + _paint(view, cell, _mark_at(view, cell), style)
            before = right
        text += _separator(before, "")
        lines.append(f"{text.rstrip()}{_keys_beside(view, cells, style, missing_right=not before.strip())}")
    return lines


def _column_labels(view: BoardView) -> list[str]:
    """Return one line of column letters, or two where letters pair up (AA, AB), read downwards."""
    names = [format_column(column) for column in view.columns]
    height = len(format_column(view.rules.columns - 1))
    gap = " " * (len(str(view.rules.rows)) + 1)
    return [(gap + "".join(f" {name.rjust(height)[level]}" for name in names)).rstrip() for level in range(height)]


def _brackets(view: BoardView, cell: int, style: BoardStyle) -> tuple[str, str]:
    if view.pending is not None and cell == view.pending[0]:
        return ("[", "?") if cell == view.cursor else ("", "?")
    if cell == view.cursor:
        return "[", "]"
    if cell in view.line:
        return "<", ">"
    if cell == view.last and style.mark_last and not view.line:
        return "(", ")"
    return "", ""


def _separator(right_of_left: str, left_of_right: str) -> str:
    """Return the character between two cells; between two cells of a line it stays blank: ``<X X X>``."""
    if right_of_left == ">" and left_of_right == "<":
        return " "
    return left_of_right or right_of_left or " "


def _keys_beside(view: BoardView, cells: range, style: BoardStyle, *, missing_right: bool) -> str:
    if style.keys is None or not has_single_keys(view.rules):
        return ""
    keys = (format_key(cell, style.keys) if view.board[cell] == FREE else FREE for cell in cells)
    return f"{'    ' if missing_right else '   '} {' '.join(keys)}"


def _paint(view: BoardView, cell: int, text: str, style: BoardStyle) -> str:
    if not style.colour:
        return text
    mark = view.board[cell]
    if mark in (FREE, BLOCKED):
        return f"\x1b[{_DIM}m{text}{_RESET}"
    colour = _COLOURS[view.rules.marks.index(mark) % len(_COLOURS)]
    strong = f"{_BOLD};" if cell in view.line or cell == view.last else ""
    return f"\x1b[{strong}{colour}m{text}{_RESET}"


def _render_framed(view: BoardView, style: BoardStyle) -> list[str]:
    rules = view.rules
    wide = _cell_width(rules)
    width = len(str(rules.rows))
    gap = " " * (width + 1)
    names = "".join(format_column(column).center(wide + 1) for column in view.columns)
    count = len(view.columns)
    lines = [f"{gap} {names}".rstrip()]
    bar = "|" if style.ascii else "│"
    lines.append(gap + _rule(count, wide, "top", ascii_only=style.ascii))
    for row in view.rows:
        cells = _cells_of_row(row, view)
        inner = bar.join(_framed_cell(view, cell, wide, style) for cell in cells)
        lines.append(f"{row + 1:>{width}} {bar}{inner}{bar}")
        level = "bottom" if row == view.rows[-1] else "middle"
        lines.append(gap + _rule(count, wide, level, ascii_only=style.ascii))
    return lines


def _cell_width(rules: Rules) -> int:
    """Return how wide a framed cell is inside."""
    return 5 if has_single_keys(rules) else 3


def _cells_of_row(row: int, view: BoardView) -> range:
    start = row * view.rules.columns
    return range(start + view.columns.start, start + view.columns.stop)


def _mark_at(view: BoardView, cell: int) -> str:
    """Return what lies on a cell, a move that is not confirmed in small."""
    if view.pending is not None and cell == view.pending[0] and view.board[cell] == FREE:
        return view.pending[1].lower()
    return view.board[cell]


def _span(start: int, count: int) -> range:
    return range(start, start + count)


def _framed_cell(view: BoardView, cell: int, wide: int, style: BoardStyle) -> str:
    left, right = _brackets(view, cell, style)
    mark = _mark_at(view, cell)
    if mark == FREE:
        mark = format_key(cell, style.keys) if style.keys and has_single_keys(view.rules) else " "
    margin = " " * ((wide - 3) // 2)
    return f"{margin}{left or ' '}{_paint(view, cell, mark, style)}{right or ' '}{margin}"


def _rule(columns: int, wide: int, level: str, *, ascii_only: bool) -> str:
    if ascii_only:
        return "+" + "+".join(["-" * wide] * columns) + "+"
    left, between, right = _CORNERS[level]
    return left + between.join(["─" * wide] * columns) + right
