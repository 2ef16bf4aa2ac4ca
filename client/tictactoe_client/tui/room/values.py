"""The worth of moves in the free cells of a board. Pure."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board import BoardView
from tictactoe_client.board.grid import Grid
from tictactoe_client.text.worth import EVEN
from tictactoe_client.tui.picture import Picture
from tictactoe_engine import FREE
from tictactoe_protocol.pushes import AnalysisState, CellValue

_ROLES: Final = {"win": "good", "loss": "bad"}
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}


def paint_values(picture: Picture, x: int, y: int, view: BoardView, grid: Grid, analysis: AnalysisState) -> None:
    """Write the values over the free cells of the board that was drawn with its upper left corner here.

    ``+3`` wins in 3 moves of all players, ``-4`` loses in 4, ``=`` is a draw, ``~+``, ``~`` and ``~-`` are guesses, and
    a star before it marks the best. A cell of three leaves out the number where it would hide the star.
    """
    for cell, value in analysis.cells.items():
        if not grid.shows(cell) or view.board[cell] != FREE:
            continue
        is_best, (across, down) = cell in analysis.best, grid.middle_of(cell)
        text = format_value(value, grid.wide, is_best=is_best, is_chosen=cell == view.cursor and grid.tall == 1)
        role = _ROLES.get(value.kind, "key" if is_best else "dim" if value.kind == "unknown" else "")
        picture.put(x + across - len(text) // 2, y + down, text, role)


def sign_of(value: CellValue) -> str:
    """Return the sign of a worth: ``+``, ``-``, ``=``, or for a guess ``~+``, ``~``, ``~-``."""
    guess = "~+" if value.estimate > EVEN else "~-" if value.estimate < -EVEN else "~"
    return _SIGNS.get(value.kind, guess)


def format_value(value: CellValue, room: int, *, is_best: bool, is_chosen: bool = False) -> str:
    """Return what stands in a cell with room for so many characters: 5, 3 or 1 of them, or "" for nothing.

    >>> [format_value(CellValue("win", 3, 1.0), room, is_best=True) for room in (5, 3, 1)]
    [' *+3 ', '*+3', '*']
    """
    sign, star, (left, right) = sign_of(value), "*" if is_best else " ", ("[", "]") if is_chosen else (" ", " ")
    worth = f"{sign}{'' if value.plies is None else value.plies}"
    if room == 1:
        return "*" if is_best else _SIGNS.get(value.kind, "")
    if room > 3:
        return f"{left}{star}{worth if len(worth) <= 3 else sign:<2}{right}"[:5]
    if is_chosen:
        return f"[{'*' if is_best else sign[-1]}]"
    ways = (f"{star}{worth}", f"{star}{sign}") if is_best else (f" {worth}", worth, f" {sign}")
    return f"{next(way for way in ways if len(way) <= 3):<3}"
