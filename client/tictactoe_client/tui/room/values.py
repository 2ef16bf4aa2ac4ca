"""The worth of moves in the free cells of a board. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board import BoardView
from tictactoe_client.board.grid import Grid
from tictactoe_client.text.worth import EVEN
from tictactoe_client.tui.picture import Picture
from tictactoe_engine import FREE
from tictactoe_protocol.pushes import AnalysisState, CellValue

_ROLES: Final = {"win": "good", "loss": "bad", "draw": "", "unknown": "dim"}
_BEST_ROLES: Final = {"win": "good", "loss": "bad", "draw": "key", "unknown": "key"}
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}
_WIDE_CELL, _NARROW_CELL = 5, 3


def paint_values(picture: Picture, x: int, y: int, view: BoardView, grid: Grid, analysis: AnalysisState) -> None:
    """Write the values over the free cells of the board that was drawn with its upper left corner here.

    ``+3`` wins in 3 moves of all players, ``-4`` loses in 4, ``=`` is a draw, ``~+``, ``~`` and ``~-`` are guesses, and
    a star before it marks the best. A cell of three leaves out the number where it would hide the star.
    """
    for cell, value in analysis.cells.items():
        if not grid.shows(cell) or view.board[cell] != FREE:
            continue
        is_best = cell in analysis.best
        text = format_value(value, grid.wide, is_best=is_best, is_chosen=cell == view.cursor and grid.tall == 1)
        role = (_BEST_ROLES if is_best else _ROLES).get(value.kind, "dim")
        across, down = grid.middle_of(cell)
        picture.put(x + across - len(text) // 2, y + down, text, role)


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
