"""Where the cells of a board stand in its drawing, for every style. Pure.

A compact board has cells of one character, one apart; a framed one has lines between its cells, and those of one line
are framed all around. Larger cells stand as on paper, without an edge, or where marks fall in slots side by side, with
the columns' names below.
"""

from __future__ import annotations

from dataclasses import dataclass

from tictactoe_client.board.view import BoardStyle, BoardView
from tictactoe_engine import Rules, format_column, has_single_keys

_KEYS_BESIDE = 9
"""How much wider the keys make a compact board of 3x3."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The first cell's inside begins at `left`, `top` and is `wide` by `tall`; the next is `across` or `down` from it.

    `edge` is how many lines the frame has below the last row.
    """

    left: int
    top: int
    wide: int
    tall: int
    across: int
    down: int
    edge: int

    @classmethod
    def of(cls, rules: Rules, style: BoardStyle) -> Grid:
        """Return the grid of a board in this style."""
        left = len(str(rules.rows)) + 2
        if not style.framed:
            return cls(left, len(format_column(rules.columns - 1)), 1, 1, 2, 1, 0)
        if style.scale == 1:
            wide = 5 if has_single_keys(rules) else 3
            return cls(left, 2, wide, 1, wide + 1, 2, 1)
        wide, tall = (7, 3) if style.scale == 2 else (11, 5)
        if rules.gravity:
            wide = 5 if style.scale == 2 else wide
            return cls(left, 0, wide, tall, wide + 1, tall, 1)
        return cls(left, 1, wide, tall, wide + 1, tall + 1, 0)

    @property
    def is_drawn_large(self) -> bool:
        """Whether marks fill their cells."""
        return self.tall > 1

    def middle_of(self, cell: int, view: BoardView) -> tuple[int, int]:
        """Return (column, line) of the middle of a cell, wherever the window is."""
        row, column = divmod(cell, view.rules.columns)
        right, below = column - view.columns.start, row - view.rows.start
        return self.left + right * self.across + self.wide // 2, self.top + below * self.down + self.tall // 2

    def size(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the width and height of a drawing of so many rows and columns."""
        width = self.left + columns * self.across - (1 if self.edge == 0 and self.is_drawn_large else 0)
        return width, self.top + rows * self.down - (self.down - self.tall) + self.edge


def place_of(cell: int, view: BoardView, style: BoardStyle) -> tuple[int, int] | None:
    """Return (column, line) of a cell's middle in what is drawn, or None where the window leaves it out."""
    return Grid.of(view.rules, style).middle_of(cell, view) if view.shows(cell) else None


def cell_at(x: int, y: int, view: BoardView, style: BoardStyle) -> int | None:
    """Return the cell that stands at this column and line of the drawing, the inverse of `place_of`, or None.

    The whole inside of a framed cell is that cell; between two cells, on the grid and beside the board is none.
    """
    grid = Grid.of(view.rules, style)
    right, aside = divmod(x - grid.left, grid.across)
    below, along = divmod(y - grid.top, grid.down)
    is_inside = aside < grid.wide and along < grid.tall
    if not is_inside or below not in range(len(view.rows)) or right not in range(len(view.columns)):
        return None
    return view.rows[below] * view.rules.columns + view.columns[right]


def measure_board(rules: Rules, style: BoardStyle | None = None) -> tuple[int, int]:
    """Return (width, height) in characters that a board of these rules needs at most."""
    style = style or BoardStyle()
    width, height = Grid.of(rules, style).size(rules.rows, rules.columns)
    if style.framed:
        return width + 1, height
    return width + (_KEYS_BESIDE if style.shows_keys(rules) else 0), height
