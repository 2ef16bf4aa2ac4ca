"""Lays out a board's cells, and chooses the largest layout that fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from tictactoe_engine import Keys, Rules, format_column, has_single_keys

Scale = Literal[0, 1, 2, 3, 4]
"""0 is a compact board; 1 to 4 have cells that are 1, 3, 5 or 9 lines high. From 2 on, marks fill their cells."""

MOST_COLUMN_KEYS: Final = 9
"""In a game with gravity, keys 1 to 9 choose a column if the board has at most this number of columns."""

_KEYS_BESIDE: Final = 9
_LEAST_PART: Final = 3
_EDGES: Final = (3, 1)
"""The extra width and height of the arrows and the line of coordinates around a part of a board."""


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """How to draw a board.

    Attributes:
        keys: The keys to show in the free cells, or at the right of a compact board; None shows no keys.
        mark_last: Whether to put the last move in parentheses.
        stars: Whether to mark star points on large boards, as in Go.
    """

    scale: Scale = 0
    ascii: bool = False
    colour: bool = False
    keys: Keys | None = None
    mark_last: bool = True
    stars: bool = False

    def shows_keys(self, rules: Rules) -> bool:
        if self.keys is None:
            return False
        return self.scale > 0 and rules.columns <= MOST_COLUMN_KEYS if rules.gravity else has_single_keys(rules)


@dataclass(frozen=True, slots=True)
class Grid:
    """The layout of a board, or of a part of a compact board.

    Attributes:
        rows, columns: The visible rows and columns.
        left, top: The position of the first visible cell.
        wide, tall: The size of a cell; there is one character between columns.
        down: The distance from one row to the next.
        sides: The characters before, between and after the cells of a row.
        above, between, below: The characters of the line above, between and below the rows, or "" for no line.
    """

    rules: Rules
    style: BoardStyle
    rows: range
    columns: range
    left: int
    top: int
    wide: int = 1
    tall: int = 1
    down: int = 1
    sides: str = "   "
    above: str = ""
    between: str = ""
    below: str = ""

    @classmethod
    def of(cls, rules: Rules, style: BoardStyle, rows: range | None = None, columns: range | None = None) -> Grid:
        rows, columns = rows or range(rules.rows), columns or range(rules.columns)
        place, left = (rules, style, rows, columns), len(str(rules.rows)) + 2
        tall = {2: 3, 3: 5}.get(style.scale, 9)
        match style.scale:
            case 0:
                return cls(*place, left, len(format_column(rules.columns - 1)))
            case 1:
                return cls(*place, left, 2, 5 if has_single_keys(rules) else 3, 1, 2, "│││", "┌┬┐", "├┼┤", "└┴┘")
            case _ if rules.gravity:
                return cls(*place, left, 0, 5 if tall == 3 else 2 * tall + 1, tall, tall, "│││", below="└┴┘")
        return cls(*place, left, 1, 2 * tall + 1, tall, tall + 1, " │ ", between=" ┼ ")

    @property
    def is_whole(self) -> bool:
        return len(self.rows) == self.rules.rows and len(self.columns) == self.rules.columns

    @property
    def width(self) -> int:
        beside = _KEYS_BESIDE if not self.style.scale and self.style.shows_keys(self.rules) else 1 if self.below else 0
        return self.left + len(self.columns) * (self.wide + 1) + beside + (0 if self.is_whole else _EDGES[0])

    @property
    def height(self) -> int:
        edge = (1 if self.below else 0) + (0 if self.is_whole else _EDGES[1])
        return self.top + (len(self.rows) - 1) * self.down + self.tall + edge

    @property
    def middle(self) -> int:
        return self.rows[len(self.rows) // 2] * self.rules.columns + self.columns[len(self.columns) // 2]

    def shows(self, cell: int) -> bool:
        row, column = divmod(cell, self.rules.columns)
        return row in self.rows and column in self.columns

    def middle_of(self, cell: int) -> tuple[int, int]:
        """Return the column and line of a cell's middle, even if the cell is not visible."""
        row, column = divmod(cell, self.rules.columns)
        x = self.left + (column - self.columns.start) * (self.wide + 1) + self.wide // 2
        return x, self.top + (row - self.rows.start) * self.down + self.tall // 2

    def find_cell(self, x: int, y: int) -> int | None:
        right, aside = divmod(x - self.left, self.wide + 1)
        below, along = divmod(y - self.top, self.down)
        is_inside = aside < self.wide and along < self.tall
        if not is_inside or not (0 <= below < len(self.rows) and 0 <= right < len(self.columns)):
            return None
        return self.rows[below] * self.rules.columns + self.columns[right]

    def scroll(self, centre: int | None, old: Grid | None) -> Grid:
        """Return the grid scrolled from the part that `old` shows, as little as possible, so that it shows `centre`."""
        if self.is_whole:
            return self
        row, column = divmod(self.rules.size // 2 if centre is None else centre, self.rules.columns)
        rows, columns = (None, None) if old is None or old.is_whole else (old.rows, old.columns)
        rows = _scroll(self.rows, rows, row, self.rules.rows)
        return replace(self, rows=rows, columns=_scroll(self.columns, columns, column, self.rules.columns))


def fit_board(rules: Rules, style: BoardStyle, width: int, height: int) -> Grid:
    """Return the grid with the largest cells that fit; if no whole board fits, a part of a compact board."""
    compact = replace(style, scale=0, keys=None)
    framed = (replace(style, scale=scale) for scale in (4, 3, 2, 1, 0))
    for chosen in (*framed, compact):
        grid = Grid.of(rules, chosen)
        if grid.width <= width and grid.height + (1 if chosen.scale > 1 else 0) <= height:
            return grid
    columns = min(rules.columns, max(_LEAST_PART, (width - grid.left - _EDGES[0]) // 2))
    rows = min(rules.rows, max(_LEAST_PART, height - grid.top - _EDGES[1]))
    return Grid.of(rules, compact, range(rows), range(columns))


def smallest_board(rules: Rules) -> tuple[int, int]:
    """Return the width and height of the smallest usable drawing of a board, which may have to scroll."""
    rows, columns = range(min(rules.rows, _LEAST_PART)), range(min(rules.columns, _LEAST_PART))
    whole, part = Grid.of(rules, BoardStyle()), Grid.of(rules, BoardStyle(), rows, columns)
    best = whole if whole.width <= part.width and whole.height <= part.height else part
    return best.width, best.height


def _scroll(part: range, old: range | None, wanted: int, total: int) -> range:
    shown = len(part)
    margin = 1 if shown > 4 else 0
    start = old.start if old is not None else wanted - shown // 2
    start = max(min(start, max(0, wanted - margin)), wanted + margin - shown + 1)
    start = max(0, min(start, total - shown))
    return range(start, start + shown)
