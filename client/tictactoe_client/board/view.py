"""What a drawing of a board shows, and how: values only.

Shape says everything and colour only repeats it: the last move is ``(O)``, a deciding line ``<X>``, the cursor
``[ ]``, a move on its way ``x?``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tictactoe_engine import FREE, Keys, Rules, has_single_keys
from tictactoe_protocol.pushes import RoomState

Scale = Literal[1, 2, 3]
"""How large the cells of a framed board are: one line high, three or five; from three on marks fill their cells."""

MOST_COLUMN_KEYS = 9
"""Where marks fall, a digit names a column of a board with no more columns than this."""


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

    def mark_at(self, cell: int) -> str:
        """Return what lies on a cell, a move that is not confirmed in small."""
        if self.pending is not None and cell == self.pending[0] and self.board[cell] == FREE:
            return self.pending[1].lower()
        return self.board[cell]

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

    def shows(self, cell: int | None) -> bool:
        """Tell whether a cell is in the part that is shown."""
        if cell is None:
            return False
        row, column = divmod(cell, self.rules.columns)
        return row in self.rows and column in self.columns


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """How it is shown.

    `framed` draws the grid, with the free cells' keys inside, in cells as large as `scale` says; otherwise the board is
    compact, with those keys beside it on 3x3. `keys` None shows no keys. `mark_last` puts the last move in parentheses,
    `stars` shows the points by which one finds one's way on a large board.
    """

    framed: bool = False
    ascii: bool = False
    colour: bool = False
    keys: Keys | None = None
    mark_last: bool = True
    scale: Scale = 1
    stars: bool = False

    def shows_keys(self, rules: Rules) -> bool:
        """Tell whether the keys of free cells are drawn: of each on 3x3, where marks fall of those they fall on."""
        if self.keys is None:
            return False
        return self.framed and rules.columns <= MOST_COLUMN_KEYS if rules.gravity else has_single_keys(rules)


def drop_frames(board: str, columns: int, cell: int, most: int) -> list[str]:
    """Return boards on which the mark of this cell falls to it from the top, at most so many; none from the top row.

    >>> drop_frames("....X.", 2, 4, 9)
    ['X.....', '..X...']
    """
    above = list(range(cell % columns, cell, columns))
    step = max(1, -(-len(above) // max(1, most)))
    rest = f"{board[:cell]}{FREE}{board[cell + 1 :]}"
    return [f"{rest[:place]}{board[cell]}{rest[place + 1 :]}" for place in above[::step]]


def lowest_free(board: str, cell: int, columns: int) -> int | None:
    """Return where a mark comes to lie that is dropped into the column of this cell, or None where that is full."""
    column = range(cell % columns, len(board), columns)
    return next((below for below in reversed(column) if board[below] == FREE), None)


def _span(start: int, count: int) -> range:
    return range(start, start + count)
