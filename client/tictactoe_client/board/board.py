"""Draws a board, or a part of it, as characters with roles.

Everything can be read without colours: the last move is ``(O)``, the winning line ``<X>``, the cursor ``[ ]``, and a
pending move ``x?``. A compact board of 32 columns fits into 80 characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import count, groupby
from typing import Final

from tictactoe_client.board.glyphs import draw_glyph
from tictactoe_client.board.grid import BoardStyle, Grid
from tictactoe_engine import BLOCKED, FREE, Rules, format_column, format_key, number_row
from tictactoe_engine.position import free_cells
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say

Cell = tuple[str, str]
"""A character and its role: ``mark0``, ``strong0`` for an emphasised mark, ``cursor`` or ``dim``."""

_BOLD, _DIM, _RESET = 1, 2, "\x1b[0m"
_COLOURS: Final = (36, 33, 35, 32, 34, 31)
_BLANK: Final[Cell] = (" ", "")
_STAR: Final = "+"
_STROKES: Final = ((0, 1, "━", "-"), (1, 0, "┃", "|"), (1, 1, "▀█▄", "\\"), (1, -1, "▄█▀", "/"))
"""For each direction of a winning line: the steps down and right, and the stroke in Unicode and in ASCII."""
_ARROWS: Final = ("◂", "▸", "▴", "▾"), ("<", ">", "^", "v")
_ASCII_LINES: Final = str.maketrans("│─┌┬┐├┼┤└┴┘", "|-+++++++++")


@dataclass(frozen=True, slots=True)
class BoardView:
    """What to draw on a board.

    Attributes:
        line: The cells of the winning line.
        pending: The cell and mark of a move that the server has not confirmed yet, or None.
    """

    rules: Rules
    board: str
    last: int | None = None
    line: frozenset[int] = frozenset()
    cursor: int | None = None
    pending: tuple[int, str] | None = None

    @classmethod
    def of(cls, state: RoomState, cursor: int | None = None) -> BoardView:
        line = frozenset(state.result.line) if state.result else frozenset()
        return cls(state.rules.to_rules(), state.board, state.last, line, cursor)


def drop_frames(board: str, columns: int, cell: int, most: int) -> list[str]:
    """Return at most `most` animation frames of a mark falling from the top into its cell.

    >>> drop_frames("....X.", 2, 4, 9)
    ['X.....', '..X...']
    """
    above = list(range(cell % columns, cell, columns))
    step = max(1, -(-len(above) // max(1, most)))
    hollow = f"{board[:cell]}{FREE}{board[cell + 1 :]}"
    return [f"{hollow[:place]}{board[cell]}{hollow[place + 1 :]}" for place in above[::step]]


def mark_role(mark: str, rules: Rules, *, strong: bool = False) -> str:
    """Return the role of a player's mark, such as ``mark0``; "dim" for a blocked or free cell."""
    return f"{'strong' if strong else 'mark'}{rules.marks.index(mark) % 6}" if mark in rules.marks else "dim"


def render_board(view: BoardView, style: BoardStyle | None = None) -> list[str]:
    """Return the board as lines without trailing spaces.

    >>> print("\\n".join(render_board(BoardView(Rules(), "X...O....", last=4))))
       A B C
    1  X . .
    2  .(O).
    3  . . .
    """
    grid = Grid.of(view.rules, style or BoardStyle())
    rows = draw_board(view, grid)
    lines = ["".join(character for character, _ in row).rstrip() for row in rows]
    if not grid.style.colour:
        return lines
    top = grid.top
    return [*lines[:top], *(_colour(row[: len(line)]) for row, line in zip(rows[top:], lines[top:], strict=True))]


def draw_board(view: BoardView, grid: Grid) -> list[list[Cell]]:
    """Return the board as rows of cells; a part of a board also has arrows, and a line with its coordinates."""
    drawing = _Drawing(view, grid)
    drawing.draw_marks()
    if grid.style.shows_keys(view.rules):
        drawing.draw_keys()
    drawing.draw_line()
    drawing.draw_single()
    if not grid.is_whole:
        drawing.draw_edges()
    return drawing.rows


class _Drawing:
    def __init__(self, view: BoardView, grid: Grid) -> None:
        self.view = view
        self.grid = grid
        self.rows = [list(row) for row in _draw_frame(grid)]

    def put(self, cell: int, text: str, role: str, right: int = 0, down: int = 0) -> None:
        """Write characters centred on a cell's middle, shifted by `right` and `down`, if the cell is visible."""
        if self.grid.shows(cell):
            x, y = self.grid.middle_of(cell)
            x += right - len(text) // 2
            cells = [_BLANK if character == " " else (character, role) for character in text]
            self.rows[y + down][x : x + len(cells)] = cells

    def role_of(self, cell: int) -> str:
        return mark_role(self.view.board[cell], self.view.rules, strong=True)

    def draw_marks(self) -> None:
        """Draw the marks; small marks are drawn a whole row at a time, which is faster.

        A large last mark is not emphasised, since redrawing the previous one would double the output of a move.
        """
        grid, board, rules = self.grid, self.view.board, self.view.rules
        signs: dict[str, Cell] = {mark: (mark, mark_role(mark, rules)) for mark in (*rules.marks, BLOCKED)}
        signs[FREE] = _BLANK if grid.style.scale else (FREE, "dim")
        signs[_STAR] = (_STAR, "dim")
        last = self.view.last if grid.tall == 1 else None
        outstanding = {cell for cell in (*self.view.line, last) if cell is not None and board[cell] != FREE}
        if grid.tall > 1:
            for cell, mark in enumerate(board):
                glyph = () if mark == FREE else draw_glyph(mark, grid.tall, ascii_only=grid.style.ascii)
                role = self.role_of(cell) if cell in outstanding else signs[mark][1]
                for down, line in enumerate(glyph, -(grid.tall // 2)):
                    self.put(cell, line, role, down=down)
            return
        width, cells = len(grid.columns), list(board)
        for star in _star_points(rules) if grid.style.stars else ():
            if board[star] == FREE:
                cells[star] = _STAR
        x, top = grid.middle_of(grid.rows.start * rules.columns + grid.columns.start)
        for row in grid.rows:
            first, y = row * rules.columns + grid.columns.start, top + (row - grid.rows.start) * grid.down
            marks = cells[first : first + width]
            self.rows[y][x : x + (grid.wide + 1) * len(marks) : grid.wide + 1] = [signs[mark] for mark in marks]
        for cell in outstanding:
            self.put(cell, board[cell], self.role_of(cell))

    def draw_keys(self) -> None:
        board, rules, style = self.view.board, self.view.rules, self.grid.style
        assert style.keys is not None
        if rules.gravity:
            keys = {cell: str(cell % rules.columns + 1) for cell in free_cells(board, rules)}
        else:
            keys = {cell: format_key(cell, style.keys) for cell, mark in enumerate(board) if mark == FREE}
        if style.scale:
            for cell, key in keys.items():
                self.put(cell, key, "dim")
            return
        for row, line in enumerate(self.rows[self.grid.top :]):
            cells = range(row * rules.columns, (row + 1) * rules.columns)
            line += _dim(f"    {' '.join(keys.get(cell, FREE) for cell in cells)}")

    def draw_line(self) -> None:
        """Draw the winning line: as brackets (``<X X X>``), or as a stroke through large marks."""
        if self.grid.tall > 1:
            self._strike_line()
            return
        for cell in sorted(cell for cell in self.view.line if self.grid.shows(cell)):
            x, y = self.grid.middle_of(cell)
            self.put(cell, " " if self.rows[y][x - 1][0] == ">" else "<", self.role_of(cell), -1)
            self.put(cell, ">", self.role_of(cell), 1)

    def _strike_line(self) -> None:
        grid, rules = self.grid, self.view.rules
        cells = {divmod(cell, rules.columns) for cell in self.view.line}
        for down, right, *strokes in _STROKES:
            stroke = strokes[grid.style.ascii]
            for row, column in cells:
                steps = next(n for n in count(1) if (row + n * down, column + n * right) not in cells) - 1
                if steps + 1 < rules.line or (row - down, column - right) in cells:
                    continue
                first = row * rules.columns + column
                (x, y), role = grid.middle_of(first), self.role_of(first)
                across, along = steps * right * (grid.wide + 1), steps * down * grid.down
                points = along or across
                for point in range(points + 1):
                    line = self.rows[y + round(along * point / points)]
                    middle = x + round(across * point / points)
                    for place, sign in enumerate(stroke, middle - len(stroke) // 2):
                        if line[place][0] == " " or line[place][1] == "dim":
                            line[place] = (sign, role)

    def draw_single(self) -> None:
        view, grid = self.view, self.grid
        if view.last is not None and grid.style.mark_last and not view.line:
            reach, role = 2 if grid.tall > 3 else 1, self.role_of(view.last)
            self.put(view.last, "(", role, -reach)
            self.put(view.last, ")", role, reach)
        if view.pending is not None:
            self.put(view.pending[0], f" {view.pending[1].lower()}?", "")
        if view.cursor is None:
            return
        is_large = grid.tall > 1
        half, sides = grid.wide // 2 if is_large else 1, ("[" * grid.tall, "]" * grid.tall)
        if is_large and not grid.style.ascii:
            between = "┃" * (grid.tall - 2) if grid.tall <= 5 else f"┃{'':{grid.tall - 4}}┃"
            sides = f"┏{between}┗", f"┓{between}┛"
        for line, (left, right) in enumerate(zip(*sides, strict=True), -(grid.tall // 2)):
            self.put(view.cursor, left, "cursor", -half, line)
            if is_large or view.pending is None or view.cursor != view.pending[0]:
                self.put(view.cursor, right, "cursor", half, line)

    def draw_edges(self) -> None:
        grid = self.grid
        left, right, up, down = _ARROWS[grid.style.ascii]
        middle = self.rows[grid.middle_of(grid.middle)[1]]
        if grid.columns.start > 0:
            middle[grid.left - 2] = (left, "key")
        if grid.columns.stop < grid.rules.columns:
            middle.append((right, "key"))
        notices = [f"{'':{grid.left}}{_describe_part(grid, up, down, total=total)}" for total in (True, False)]
        self.rows.append(_dim(next((notice for notice in notices if len(notice) <= grid.width + 2), "")))


def _describe_part(grid: Grid, up: str, down: str, *, total: bool) -> str:
    """Return a line about the visible columns and rows, such as ``A-J of A-O   1-12 of 1-15  ▾``."""
    rules, parts = grid.rules, []
    if len(grid.columns) < rules.columns:
        part = f"{format_column(grid.columns[0])}-{format_column(grid.columns[-1])}"
        parts.append(say("part of", part=part, whole=f"A-{format_column(rules.columns - 1)}") if total else part)
    if len(grid.rows) < rules.rows:
        first, last = sorted(number_row(row, rules) for row in (grid.rows[0], grid.rows[-1]))
        part = f"{first}-{last}"
        part = say("part of", part=part, whole=f"1-{rules.rows}") if total else part
        arrows = (up if grid.rows.start > 0 else " ") + (down if grid.rows.stop < rules.rows else "")
        parts.append(f"{part} {arrows}".rstrip())
    return ("   " if total else " ").join(parts)


@lru_cache(maxsize=8)
def _draw_frame(grid: Grid) -> list[list[Cell]]:
    """Return a board without marks; in a compact board, double letters (AA) are written downwards."""
    names, dashes = [format_column(column) for column in grid.columns], ["─" * grid.wide] * len(grid.columns)
    lines: list[str] = []

    def add(signs: str, cells: list[str], label: object = "") -> None:
        lines.append(f"{label:>{grid.left - 2}} {signs[0]}{signs[1].join(cells)}{signs[2]}")

    if grid.style.scale:
        heads = [[name.center(grid.wide) for name in names]] if grid.top else []
    else:
        heads = [[name.rjust(grid.top)[level] for name in names] for level in range(grid.top)]
    for head in heads:
        add("   ", head)
    if grid.above:
        add(grid.above, dashes)
    for row in grid.rows:
        for line in range(grid.tall):
            add(
                grid.sides,
                [" " * grid.wide] * len(names),
                number_row(row, grid.rules) if line == grid.tall // 2 else "",
            )
        if grid.between and row != grid.rows[-1]:
            add(grid.between, dashes)
    if grid.below:
        add(grid.below, dashes if grid.top else [name.center(grid.wide, "─") for name in names])
    return [_dim(line.translate(_ASCII_LINES) if grid.style.ascii else line) for line in lines]


def _dim(line: str) -> list[Cell]:
    return [_BLANK if character == " " else (character, "dim") for character in line]


@lru_cache(maxsize=8)
def _star_points(rules: Rules) -> frozenset[int]:
    rows, columns = rules.rows, rules.columns
    if rules.gravity or min(rows, columns) < 13:
        return frozenset()
    corners = {row * columns + column for row in (3, rows - 4) for column in (3, columns - 4)}
    return frozenset(corners | ({rows * columns // 2} if rows % 2 and columns % 2 else set()))


def _colour(row: list[Cell]) -> str:
    text = ""
    for role, group in groupby(row, key=lambda cell: cell[1]):
        run = "".join(character for character, _ in group)
        is_mark = role.startswith(("mark", "strong"))
        codes = f"{f'{_BOLD};' if role.startswith('strong') else ''}{_COLOURS[int(role[-1])]}" if is_mark else _DIM
        text += f"\x1b[{codes}m{run}{_RESET}" if role else run
    return text
