"""Where the board and what is about it stand, and the worth of moves, written into the free cells of a board. Pure.

Shape says it all: ``+3`` wins in 3 moves of all players, ``-4`` loses in 4, ``=`` is a draw, ``~+``, ``~`` and ``~-``
are guesses, and a star before it marks the best. A cell of three leaves out the number where it would hide the star.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from tictactoe_client.board.board import BoardStyle, BoardView, Window, place_of
from tictactoe_client.board.fit import Fit, fit_board, smallest_board
from tictactoe_client.text.worth import EVEN
from tictactoe_client.tui.picture import Picture
from tictactoe_client.tui.room.panel import MIN_WIDTH as PANEL_MIN
from tictactoe_engine import FREE, Rules
from tictactoe_protocol.pushes import AnalysisState, CellValue


@dataclass(frozen=True, slots=True)
class Stage:
    """A rectangle of the window: its upper left corner and its size, in characters."""

    x: int
    y: int
    width: int
    height: int

    def find(self, x: int, y: int) -> tuple[int, int] | None:
        """Return what a place of the window is on the stage, or None beside it."""
        x, y = x - self.x, y - self.y
        return (x, y) if 0 <= x < self.width and 0 <= y < self.height else None

    def show(self, picture: Picture, width: int, height: int) -> Picture:
        """Return the window's picture with this one, of the stage's size, in its place."""
        if (picture.width, picture.height) == (width, height):
            return picture
        whole = Picture(width, height)
        for y, row in enumerate(picture.rows, self.y):
            whole.rows[y][self.x : self.x + picture.width] = row
        return whole


def place_stage(size: tuple[int, int], window: tuple[int, int]) -> Stage:
    """Return where something of this size stands; of what the window has left over above and below, 2/5 are above.

    >>> place_stage((100, 30), (200, 50))
    Stage(x=50, y=8, width=100, height=30)
    """
    width, height = min(size[0], window[0]), min(size[1], window[1])
    return Stage((window[0] - width) // 2, (window[1] - height) * 2 // 5, width, height)


LEFT: Final = 2
"""The column of the board."""

_GAP: Final = 4
_HEAD_AND_FOOT: Final = 4
"""Lines that are not the board's: the head, what asks for an answer, the status, the keys."""

_NARROW: Final = 60
"""In windows narrower than this the frame stays rather than the panel."""

_PANEL_WANTED: Final = 40
_LEAST_STAGE: Final = (80, 24)
_LEAST_WIDTH: Final = 24


@dataclass(frozen=True, slots=True)
class RoomLayout:
    """How a board is drawn and in which line it begins, the panel's column, None without one, and the stage's size."""

    fit: Fit
    top: int
    panel: int | None
    width: int
    height: int

    @property
    def below_board(self) -> int:
        """The first line under the board."""
        return self.top + self.fit.height


def lay_out_room(
    rules: Rules, style: BoardStyle, width: int, height: int, centre: int | None, old: Window | None
) -> RoomLayout:
    """Return the layout for a window of this size; its own width and height are how much of the window it uses."""
    fit, has_panel = _fit(rules, style, width, height, centre, old)
    beside = LEFT + fit.width + _GAP
    wanted_width = beside + _PANEL_WANTED + 1 if has_panel else beside
    stage_width = min(width, max(_LEAST_STAGE[0], wanted_width))
    stage_height = min(height, max(_LEAST_STAGE[1], fit.height + _HEAD_AND_FOOT + 2))
    top = 2 if fit.height + 1 < stage_height - _HEAD_AND_FOOT else 1
    return RoomLayout(fit, top, beside if has_panel else None, stage_width, stage_height)


def needed_for_room(rules: Rules) -> tuple[int, int]:
    """Return the width and height of the smallest window in which the board can be played."""
    width, height = smallest_board(rules)
    return max(_LEAST_WIDTH, 2 * LEFT + width), height + _HEAD_AND_FOOT


def _fit(
    rules: Rules, style: BoardStyle, width: int, height: int, centre: int | None, old: Window | None
) -> tuple[Fit, bool]:
    """Return how the board is drawn, and whether the panel stands beside it."""
    area = height - _HEAD_AND_FOOT
    narrower = width - 2 * LEFT - _GAP - PANEL_MIN
    beside = fit_board(rules, style, narrower, area, centre, old)
    alone = fit_board(rules, style, width - 2 * LEFT, area, centre, old)
    gains = beside != alone if width < _NARROW else beside.window is not None and alone.window is None
    return (alone, False) if gains or beside.width > narrower else (beside, True)


_ROLES: Final = {"win": "good", "loss": "bad", "draw": "", "unknown": "dim"}
_BEST_ROLES: Final = {"win": "good", "loss": "bad", "draw": "key", "unknown": "key"}
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}
_WIDE_CELL, _NARROW_CELL = 5, 3


def paint_values(picture: Picture, x: int, y: int, view: BoardView, fit: Fit, analysis: AnalysisState) -> None:
    """Write the values over the free cells of the board that was drawn with its upper left corner here."""
    view = replace(view, window=fit.window)
    room = _room_of(view, fit)
    for cell, left, line in _places(view, fit):
        value = analysis.cells.get(cell)
        if value is None or view.board[cell] != FREE:
            continue
        is_best = cell in analysis.best
        text = format_value(value, room, is_best=is_best, is_chosen=cell == view.cursor and fit.style.scale == 1)
        role = (_BEST_ROLES if is_best else _ROLES).get(value.kind, "dim")
        picture.put(x + left - len(text) // 2, y + line, text, role)


def sign_of(value: CellValue) -> str:
    """Return the sign of a worth: ``+``, ``-``, ``=``, or for a guess ``~+``, ``~``, ``~-``."""
    if value.kind in _SIGNS:
        return _SIGNS[value.kind]
    return "~+" if value.estimate > EVEN else "~-" if value.estimate < -EVEN else "~"


def format_value(value: CellValue, room: int, *, is_best: bool, is_chosen: bool = False) -> str:
    """Return what stands in a cell with room for so many characters: 5, 3 or 1 of them, or "" for nothing.

    >>> [format_value(CellValue("win", 3, 1.0), room, is_best=True) for room in (5, 3, 1)]
    [' *+3 ', '*+3', '*']
    """
    sign, star = sign_of(value), "*" if is_best else " "
    worth = f"{sign}{'' if value.plies is None else value.plies}"
    if room >= _WIDE_CELL:
        text = f"{'[' if is_chosen else ' '}{star}{worth if len(worth) <= _NARROW_CELL else sign}"
        return text.ljust(_WIDE_CELL - 1) + ("]" if is_chosen else " ") if len(text) < _WIDE_CELL else text
    if room >= _NARROW_CELL:
        if is_chosen:
            return f"[{'*' if is_best else sign[-1]}]"
        if len(worth) < _NARROW_CELL:
            return f"{star}{worth:<2}"
        return worth if len(worth) == _NARROW_CELL and not is_best else f"{star}{sign:<2}"
    if is_best:
        return "*"
    return sign if value.kind in _SIGNS else ""


def _room_of(view: BoardView, fit: Fit) -> int:
    """Return how many characters are a cell's own: it shares none with its neighbours."""
    first = view.rows.start * view.rules.columns + view.columns.start
    here = place_of(first, view, fit.style)
    beside = place_of(first + 1, view, fit.style) if len(view.columns) > 1 else None
    if here is None or beside is None:
        return _NARROW_CELL if fit.style.framed else 1
    return beside[0] - here[0] - 1


def _places(view: BoardView, fit: Fit) -> Iterator[tuple[int, int, int]]:
    """Yield each shown cell with the column and line of its mark."""
    rows, columns, style = view.rows, view.columns, fit.style
    across = [place_of(rows.start * view.rules.columns + column, view, style) for column in columns]
    down = [place_of(row * view.rules.columns + columns.start, view, style) for row in rows]
    for row, at_row in zip(rows, down, strict=True):
        for column, at_column in zip(columns, across, strict=True):
            if at_row is not None and at_column is not None:
                yield row * view.rules.columns + column, at_column[0], at_row[1]
