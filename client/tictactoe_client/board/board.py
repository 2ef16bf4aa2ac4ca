"""A board as text: compact or with a grid, whole or a part of it, each character with the role it plays. Pure.

Shape says everything and colour only repeats it: the last move is ``(O)``, a deciding line ``<X>``, the cursor
``[ ]``, a move on its way ``x?``. Every line of a compact board of 32 columns fits 80 characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count as count_from
from itertools import groupby
from typing import Final, Literal

from tictactoe_client.board.glyphs import draw_glyph
from tictactoe_engine import BLOCKED, FREE, Keys, Rules, format_column, format_key, has_single_keys
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
    """What is shown; `pending` is the cell of a move that the server has not confirmed, by the mark to move: ``x?``."""

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
        part = self.window
        return range(part.top, part.top + part.rows) if part is not None else range(self.rules.rows)

    @property
    def columns(self) -> range:
        """The columns that are shown."""
        part = self.window
        return range(part.left, part.left + part.columns) if part is not None else range(self.rules.columns)

    @classmethod
    def of(cls, state: RoomState, cursor: int | None = None) -> BoardView:
        """Return the view of a state."""
        line = frozenset(state.result.line) if state.result else frozenset()
        return cls(state.rules.to_rules(), state.board, state.last, line, cursor)

    def cells_of(self, row: int) -> range:
        """Return the cells of a row that are shown."""
        start = row * self.rules.columns
        return range(start + self.columns.start, start + self.columns.stop)

    def shows(self, cell: int) -> bool:
        """Tell whether a cell is in the part that is shown."""
        return cell in self.cells_of(cell // self.rules.columns) and cell // self.rules.columns in self.rows


@dataclass(frozen=True, slots=True)
class BoardStyle:
    """How it is shown: with a grid around cells as large as `scale` says, or compact, with keys beside it on 3x3.

    `mark_last` puts the last move in parentheses, `stars` shows the points that lead the eye on a large board.
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


@dataclass(frozen=True, slots=True)
class Grid:
    """The first cell's inside begins at `left`, `top` and is `wide` by `tall`; the next is `across` or `down` from it.

    A compact board has cells of one character; a framed one has lines between and around them. Large cells stand as on
    paper, without an edge, or where marks fall in slots. `edge` is how many lines the frame has below the last row.
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

    def find_cell(self, x: int, y: int, view: BoardView) -> int | None:
        """Return the cell whose inside has this column and line, or None between cells and beside them."""
        right, aside = divmod(x - self.left, self.across)
        below, along = divmod(y - self.top, self.down)
        is_inside = aside < self.wide and along < self.tall
        if not is_inside or not (0 <= below < len(view.rows) and 0 <= right < len(view.columns)):
            return None
        return view.rows[below] * view.rules.columns + view.columns[right]

    def size(self, rows: int, columns: int) -> tuple[int, int]:
        """Return the width and height of a drawing of so many rows and columns."""
        width = self.left + columns * self.across - (1 if self.edge == 0 and self.is_drawn_large else 0)
        return width, self.top + rows * self.down - (self.down - self.tall) + self.edge


def measure_board(rules: Rules, style: BoardStyle | None = None) -> tuple[int, int]:
    """Return (width, height) in characters that a board of these rules needs at most."""
    style = style or BoardStyle()
    width, height = Grid.of(rules, style).size(rules.rows, rules.columns)
    beside = 1 if style.framed else _KEYS_BESIDE if style.shows_keys(rules) else 0
    return width + beside, height


Cell = tuple[str, str]
"""A character and its role: ``mark0``, ``strong0`` for a mark that stands out, ``cursor``, ``dim`` for all others."""

_KEYS_BESIDE: Final = 9
_LEAST_STARS: Final = 13
_BOLD, _DIM, _RESET = 1, 2, "\x1b[0m"
_COLOURS: Final = (36, 33, 35, 32, 34, 31)
_BLANK: Final[Cell] = (" ", "")
_WAYS: Final = ((0, 1), (1, 0), (1, 1), (1, -1))
_STROKES: Final = ("━", "┃", "▀█▄", "▄█▀")
_ASCII_STROKES: Final = ("-", "|", "\\", "/")
_SIDES: Final = ("┏┃┃┃┗", "┓┃┃┃┛")


def render_board(view: BoardView, style: BoardStyle | None = None) -> list[str]:
    """Return the board as lines without trailing spaces.

    >>> print("\\n".join(render_board(BoardView(Rules(), "X...O....", last=4))))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    """
    style = style or BoardStyle()
    rows = draw_board(view, style)
    lines = ["".join(character for character, _ in row).rstrip() for row in rows]
    if not style.colour:
        return lines
    top = Grid.of(view.rules, style).top
    return [*lines[:top], *(_colour(row[: len(line)]) for row, line in zip(rows[top:], lines[top:], strict=True))]


def draw_board(view: BoardView, style: BoardStyle) -> list[list[Cell]]:
    """Return the board as rows of characters with their roles."""
    grid = Grid.of(view.rules, style)
    rows = _draw_frame(view, grid, style) if style.framed else _draw_margins(view, grid)
    for row in view.rows:
        _draw_row(rows, row, view, grid, style)
    if style.shows_keys(view.rules):
        _draw_keys(rows, view, grid, style)
    if grid.is_drawn_large:
        _strike_line(rows, view, grid, ascii_only=style.ascii)
    else:
        _bracket_line(rows, view, grid)
    _draw_single(rows, view, grid, style)
    return rows


def mark_role(mark: str, rules: Rules, *, strong: bool = False) -> str:
    """Return the role of a player's mark."""
    return f"{'strong' if strong else 'mark'}{rules.marks.index(mark) % 6}" if mark in rules.marks else "dim"


def _draw_margins(view: BoardView, grid: Grid) -> list[list[Cell]]:
    """Return a compact board without its marks; letters that pair up (AA, AB) are read downwards."""
    margin, width = grid.left - 2, grid.left + grid.across * len(view.columns)
    names = [format_column(column).rjust(grid.top) for column in view.columns]
    heads = [" " * grid.left + " ".join(name[level] for name in names) for level in range(grid.top)]
    return [_dim(line.ljust(width)) for line in (*heads, *(f"{row + 1:>{margin}}" for row in view.rows))]


def _draw_frame(view: BoardView, grid: Grid, style: BoardStyle) -> list[list[Cell]]:
    """Return a framed board without its marks: all around, or with lines between large cells alone, or slots."""
    count, margin, rules = len(view.columns), grid.left - 2, view.rules
    bar = "|" if style.ascii else "│"
    edge = " " if grid.is_drawn_large and not rules.gravity else bar
    inside = f"{edge}{bar.join([' ' * grid.wide] * count)}{edge}"
    gap, middle = " " * (margin + 1), grid.tall // 2
    names = [format_column(column) for column in view.columns]
    lines = [f"{gap} {''.join(name.center(grid.across) for name in names)}"] if grid.top else []
    if grid.top > 1:
        lines.append(gap + _rule(count, grid.wide, "┌┬┐", ascii_only=style.ascii))
    for row in view.rows:
        lines += [f"{row + 1 if line == middle else '':>{margin}} {inside}" for line in range(grid.tall)]
        if row != view.rows[-1] and grid.down > grid.tall:
            ends = "├┼┤" if grid.edge else " ┼ "
            lines.append(gap + _rule(count, grid.wide, ends, ascii_only=style.ascii))
    if grid.edge:
        rule = _rule(count, grid.wide, "└┴┘", ascii_only=style.ascii)
        for number, name in enumerate(names if not grid.top else ()):
            middle = 1 + number * grid.across + (grid.wide - len(name)) // 2
            rule = rule[:middle] + name + rule[middle + len(name) :]
        lines.append(gap + rule)
    return [_dim(line) for line in lines]


def _rule(columns: int, wide: int, corners: str, *, ascii_only: bool) -> str:
    left, between, right = (corner if corner == " " or not ascii_only else "+" for corner in corners)
    return left + between.join([("-" if ascii_only else "─") * wide] * columns) + right


def _dim(line: str) -> list[Cell]:
    return [_BLANK if character == " " else (character, "dim") for character in line]


def _draw_row(rows: list[list[Cell]], row: int, view: BoardView, grid: Grid, style: BoardStyle) -> None:
    """Draw the marks of one row of the board."""
    cells, rules = view.cells_of(row), view.rules
    x, y = grid.middle_of(cells[0], view)
    if grid.is_drawn_large:
        for cell in cells:
            if view.board[cell] != FREE:
                _draw_large(rows, cell, view, grid, ascii_only=style.ascii)
        return
    signs: dict[str, Cell] = {mark: (mark, mark_role(mark, rules)) for mark in (*rules.marks, BLOCKED)}
    signs[FREE] = _BLANK if style.framed else (FREE, "dim")
    rows[y][x : x + grid.across * len(cells) : grid.across] = [signs[view.board[cell]] for cell in cells]
    for cell in (*view.line, *(() if view.last is None else (view.last,))):
        if cell in cells and view.board[cell] in rules.marks:
            _put(rows, x + (cell - cells[0]) * grid.across, y, view.board[cell], _strong(view, cell))
    for star in _star_points(rules) if style.stars else ():
        if star in cells and view.board[star] == FREE:
            _put(rows, x + (star - cells[0]) * grid.across, y, "+", "dim")


def _draw_large(rows: list[list[Cell]], cell: int, view: BoardView, grid: Grid, *, ascii_only: bool) -> None:
    """Let a mark fill its cell."""
    glyph = draw_glyph(view.board[cell], grid.tall, ascii_only=ascii_only)
    role = mark_role(view.board[cell], view.rules, strong=cell == view.last or cell in view.line)
    x, y = grid.middle_of(cell, view)
    for line, text in enumerate(glyph, y - grid.tall // 2):
        for place, character in enumerate(text, x - len(text) // 2):
            if character != " ":
                rows[line][place] = (character, role)


def _draw_keys(rows: list[list[Cell]], view: BoardView, grid: Grid, style: BoardStyle) -> None:
    """Draw the keys that place: in the free cells, or beside a compact board."""
    assert style.keys is not None
    rules, board = view.rules, view.board
    if rules.gravity:
        tops = {lowest_free(board, column, rules.columns): str(column + 1) for column in view.columns}
        keys = {cell: key for cell, key in tops.items() if cell is not None and view.shows(cell)}
    else:
        keys = {
            cell: format_key(cell, style.keys) for cell, mark in enumerate(board) if mark == FREE and view.shows(cell)
        }
    for cell, key in keys.items() if style.framed else ():
        _put(rows, *grid.middle_of(cell, view), key, "dim")
    for row in () if style.framed else view.rows:
        cells = view.cells_of(row)
        rows[grid.middle_of(cells[0], view)[1]] += _dim(f"    {' '.join(keys.get(cell, FREE) for cell in cells)}")


def _bracket_line(rows: list[list[Cell]], view: BoardView, grid: Grid) -> None:
    """Put a deciding line into angle brackets; between two of its cells it stays blank: ``<X X X>``."""
    for cell in sorted(view.line):
        if view.shows(cell):
            x, y = grid.middle_of(cell, view)
            is_next = rows[y][x - 1][0] == ">"
            _put(rows, x - 1, y, " " if is_next else "<", _strong(view, cell))
            _put(rows, x + 1, y, ">", _strong(view, cell))


def _strike_line(rows: list[list[Cell]], view: BoardView, grid: Grid, *, ascii_only: bool) -> None:
    """Draw a line through the cells that decided, from the middle of the first to that of the last."""
    columns = view.rules.columns
    cells = {divmod(cell, columns) for cell in view.line}
    right_of = min(grid.left + len(view.columns) * grid.across, len(rows[0]))
    below = min(grid.top + len(view.rows) * grid.down, len(rows))
    for (down, right), stroke in zip(_WAYS, _ASCII_STROKES if ascii_only else _STROKES, strict=True):
        for row, column in cells:
            count = next(n for n in count_from(1) if (row + n * down, column + n * right) not in cells)
            if count < view.rules.line or (row - down, column - right) in cells:
                continue
            first = row * columns + column
            start, end = (grid.middle_of(first + n * (down * columns + right), view) for n in (0, count - 1))
            for middle, y in _points(start, end):
                for x, sign in enumerate(stroke, middle - len(stroke) // 2):
                    if grid.top <= y < below and grid.left <= x < right_of and rows[y][x][1] in ("", "dim"):
                        _put(rows, x, y, sign, _strong(view, first))


def _draw_single(rows: list[list[Cell]], view: BoardView, grid: Grid, style: BoardStyle) -> None:
    """Draw the shapes about single cells: the last move, one that is on its way, the cursor."""
    if view.last is not None and style.mark_last and not view.line and view.shows(view.last):
        (x, y), reach = grid.middle_of(view.last, view), 2 if grid.tall > 3 else 1
        _put(rows, x - reach, y, "(", _strong(view, view.last))
        _put(rows, x + reach, y, ")", _strong(view, view.last))
    pending = None if view.pending is None else view.pending[0]
    if pending is not None and view.shows(pending):
        x, y = grid.middle_of(pending, view)
        for place, sign in enumerate(f" {view.mark_at(pending)}?", x - 1):
            _put(rows, place, y, sign, "")
    if view.cursor is None or not view.shows(view.cursor):
        return
    x, y = grid.middle_of(view.cursor, view)
    half, span = (grid.wide // 2, grid.tall // 2) if grid.is_drawn_large else (1, 0)
    for line in range(-span, span + 1):
        end = 0 if line == -span else 4 if line == span else 2
        left, right = (side[end] for side in _SIDES) if span and not style.ascii else "[]"
        _put(rows, x - half, y + line, left, "cursor")
        if span or view.cursor != pending:
            _put(rows, x + half, y + line, right, "cursor")


def _put(rows: list[list[Cell]], x: int, y: int, character: str, role: str) -> None:
    row = rows[y]
    if x >= len(row):
        row += [_BLANK] * (x + 1 - len(row))
    row[x] = (character, role)


def _strong(view: BoardView, cell: int) -> str:
    return mark_role(view.board[cell], view.rules, strong=True)


def _points(start: tuple[int, int], end: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the places on a straight way, one in each column of a level one, else one in each line."""
    (x, y), (to_x, to_y) = start, end
    count = to_y - y or to_x - x
    for number in range(count + 1):
        yield x + round((to_x - x) * number / count), y + round((to_y - y) * number / count)


@lru_cache(maxsize=8)
def _star_points(rules: Rules) -> frozenset[int]:
    """Return the points of large boards for five in a row: the middle, and the fourth from two edges."""
    rows, columns = rules.rows, rules.columns
    if rules.gravity or min(rows, columns) < _LEAST_STARS:
        return frozenset()
    corners = {row * columns + column for row in (3, rows - 4) for column in (3, columns - 4)}
    return frozenset(corners | ({rows * columns // 2} if rows % 2 and columns % 2 else set()))


def _colour(row: list[Cell]) -> str:
    """Return a row with escape sequences for the colours of its marks."""
    text = ""
    for role, group in groupby(row, key=lambda cell: cell[1]):
        run = "".join(character for character, _ in group)
        is_mark = role.startswith(("mark", "strong"))
        codes = f"{f'{_BOLD};' if role.startswith('strong') else ''}{_COLOURS[int(role[-1])]}" if is_mark else _DIM
        text += f"\x1b[{codes}m{run}{_RESET}" if role else run
    return text
