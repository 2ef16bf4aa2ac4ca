"""What each move is worth, drawn into the free cells of a board that lies on a picture already. Pure.

Shape says it all: ``+3`` wins in 3 moves of all players, ``-4`` loses in 4, ``=`` is a draw, ``~+``, ``~`` and ``~-``
are guesses, and a star before it marks the best. Where a cell has room for one character that is the star or the sign,
and nothing for a guess. A cell of three leaves out the number where it would hide the star.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tictactoe_client.board.board import BoardView, place_of
from tictactoe_client.board.fit import Fit
from tictactoe_client.text.worth import EVEN
from tictactoe_client.tui.picture import Picture
from tictactoe_engine import FREE
from tictactoe_protocol.pushes import AnalysisState, CellValue

_ROLES: Final = {"win": "good", "loss": "bad", "draw": "", "unknown": "dim"}
_BEST_ROLES: Final = {"win": "good", "loss": "bad", "draw": "key", "unknown": "key"}
_SIGNS: Final = {"win": "+", "loss": "-", "draw": "="}
_WIDE, _NARROW = 5, 3


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
    if room >= _WIDE:
        text = f"{'[' if is_chosen else ' '}{star}{worth if len(worth) <= _NARROW else sign}"
        return text.ljust(_WIDE - 1) + ("]" if is_chosen else " ") if len(text) < _WIDE else text
    if room >= _NARROW:
        if is_chosen:
            return f"[{'*' if is_best else sign[-1]}]"
        if len(worth) < _NARROW:
            return f"{star}{worth:<2}"
        return worth if len(worth) == _NARROW and not is_best else f"{star}{sign:<2}"
    if is_best:
        return "*"
    return sign if value.kind in _SIGNS else ""


def _room_of(view: BoardView, fit: Fit) -> int:
    """Return how many characters are a cell's own: it shares none with its neighbours."""
    first = view.rows.start * view.rules.columns + view.columns.start
    here = place_of(first, view, fit.style)
    beside = place_of(first + 1, view, fit.style) if len(view.columns) > 1 else None
    if here is None or beside is None:
        return _NARROW if fit.style.framed else 1
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
