"""What a drawing of a board shows and how: the values, and the shapes that stand about a mark. No drawing yet.

Shape says everything and colour only repeats it: the last move is ``(O)``, a deciding line ``<X>``, the cursor
``[ ]``, a move on its way ``x?``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tictactoe_engine import BLOCKED, FREE, Keys, Rules, has_single_keys
from tictactoe_protocol.pushes import RoomState

Scale = Literal[1, 2, 3]
"""How large the cells of a framed board are."""

_COLOURS: Final = (36, 33, 35, 32, 34, 31)
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

    def cells_of(self, row: int) -> range:
        """Return the cells of a row that are shown."""
        start = row * self.rules.columns
        return range(start + self.columns.start, start + self.columns.stop)

    def mark_at(self, cell: int) -> str:
        """Return what lies on a cell, a move that is not confirmed in small."""
        if self.pending is not None and cell == self.pending[0] and self.board[cell] == FREE:
            return self.pending[1].lower()
        return self.board[cell]


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """How it is shown.

    `framed` draws the grid, with the free cells' keys inside on 3x3, in cells as large as `scale` says; otherwise the
    board is compact, with those keys beside it. `keys` None shows no keys. `mark_last` puts the last move in
    parentheses.
    """

    framed: bool = False
    ascii: bool = False
    colour: bool = False
    keys: Keys | None = None
    mark_last: bool = True
    scale: Scale = 1

    def shows_keys(self, rules: Rules) -> bool:
        """Tell whether the keys of free cells are drawn."""
        return self.keys is not None and has_single_keys(rules)


def shape_about(view: BoardView, cell: int, style: BoardStyle) -> tuple[str, str]:
    """Return what stands left and right of a mark, whether or not the cursor is there; empty for nothing."""
    if view.pending is not None and cell == view.pending[0]:
        return "", "?"
    if cell in view.line:
        return "<", ">"
    if cell == view.last and style.mark_last and not view.line:
        return "(", ")"
    return "", ""


def brackets_about(view: BoardView, cell: int, style: BoardStyle) -> tuple[str, str]:
    """Return what stands left and right of a mark where there is room for one thing: the cursor before all others."""
    left, right = shape_about(view, cell, style)
    if cell != view.cursor:
        return left, right
    return "[", right if right == "?" else "]"


def paint_mark(view: BoardView, cell: int, text: str, style: BoardStyle) -> str:
    """Return the text of a cell's mark, in that mark's colour where the style has colour."""
    if not style.colour:
        return text
    mark = view.board[cell]
    if mark in (FREE, BLOCKED):
        return f"\x1b[{_DIM}m{text}{_RESET}"
    colour = _COLOURS[view.rules.marks.index(mark) % len(_COLOURS)]
    strong = f"{_BOLD};" if cell in view.line or cell == view.last else ""
    return f"\x1b[{strong}{colour}m{text}{_RESET}"


def _span(start: int, count: int) -> range:
    return range(start, start + count)
