"""Combines the analyses of the positions in a game between two players: proven values carry over to neighbours.

A search may prove the value of some positions in a game but not of the positions before or after. A move is worth as
much as the position after it, so values carry over backwards, up to the last choice in the opening, and forwards along
best play.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_protocol.pushes import AnalysisState, CellValue, ValueKind, deciding

MOST_KEPT: Final = 600
"""The largest number of analyses in a `Reviewed`; they take up to 20 MB on the largest boards."""

_FLIPPED: Final[Mapping[ValueKind, ValueKind]] = {"win": "loss", "loss": "win"}
_LOST: Final = CellValue("loss", None, -1.0)


class Reviewed:
    """A cache of the analyses of recently reviewed games, by the last position of the game and by ply."""

    def __init__(self) -> None:
        self._games: dict[tuple[Position, tuple[int, ...]], dict[int, AnalysisState]] = {}

    def of(self, last: Position) -> dict[int, AnalysisState]:
        """Return the cached analyses of a game by ply. The caller adds new analyses to this dictionary."""
        game = (last, last.moves)
        self._games[game] = self._games.pop(game, {})  # games used last are at the end
        while len(self._games) > 1 and sum(map(len, self._games.values())) > MOST_KEPT:
            del self._games[next(iter(self._games))]
        return self._games[game]


def carry(known: dict[int, AnalysisState], last: Position) -> None:
    """Update the analyses of a game with values that follow from neighbouring positions.

    Games with more than two players, and positions before the last choice of an opening such as swap2, are unchanged.

    Args:
        known: The analyses by ply.
        last: The last position of the game.
    """
    if len(last.rules.marks) != 2 or last.opening is not None:
        return
    first = last.choices[-1].ply if last.choices else 0
    pairs = [ply for ply in range(first, last.ply) if ply in known and ply + 1 in known]
    for ply in reversed(pairs):
        known[ply] = _after_reply(known[ply], last.moves[ply], known[ply + 1].value)
    for ply in pairs:
        known[ply + 1] = _as_known_before(known[ply + 1], known[ply].cells.get(last.moves[ply]))


def worth_of_move(led_to: CellValue) -> CellValue:
    """Return the value of a move, given the value of the position after it for the other side.

    >>> worth_of_move(CellValue("win", 1, 1.0))
    CellValue(kind='loss', plies=2, estimate=-1.0, text='', sign='')
    """
    return _for_other(led_to, 1)


def _for_other(value: CellValue, later: int) -> CellValue:
    plies = None if value.plies is None else value.plies + later
    return CellValue(_FLIPPED.get(value.kind, value.kind), plies, 0.0 - value.estimate)


def _after_reply(analysis: AnalysisState, cell: int, led_to: CellValue) -> AnalysisState:
    """Return the analysis of a position, given the value of the position after the move to `cell`."""
    played = analysis.cells.get(cell)
    if led_to.kind == "unknown" or played is None or played.kind != "unknown":
        return analysis
    cells = {**analysis.cells, cell: worth_of_move(led_to)}
    top, value = max(cells.values(), key=_preference), analysis.value
    if value.kind == "draw" or (value.kind == "win" and top.kind != "win"):
        return replace(analysis, cells=cells, best=_as_good(value, (*analysis.best, cell), cells))
    best = [cell for cell, worth in cells.items() if _preference(worth) == _preference(top)]
    sure = tuple(one for one in best if cells[one].kind != "unknown")
    if top.kind == "draw" and any(worth.kind == "unknown" for worth in cells.values()):
        top = CellValue("unknown")
    return replace(analysis, value=top, cells=cells, best=deciding(sure or best, cells, top))


def _as_known_before(analysis: AnalysisState, played: CellValue | None) -> AnalysisState:
    """Return the analysis of a position, given the value of the move that led to it."""
    if played is None or played.kind == "unknown" or analysis.value.kind != "unknown" or not analysis.cells:
        return analysis
    value, cells = _for_other(played, -1), analysis.cells
    if value.kind == "loss":
        cells = {cell: _LOST if worth.kind == "unknown" else worth for cell, worth in cells.items()}
    return replace(analysis, value=value, cells=cells, best=_as_good(value, analysis.best, cells))


def _as_good(value: CellValue, best: Iterable[int], cells: Mapping[int, CellValue]) -> tuple[int, ...]:
    """Return the cells in `best` that have the known `value` or may have it."""
    return tuple(sorted({cell for cell in best if cells[cell].kind in ("unknown", value.kind)}))


def _preference(value: CellValue) -> tuple[float, int]:
    """Return a sorting key: losses, quick ones first, then draws, then wins, slow ones first; unknown by estimate."""
    plies = value.plies or 0
    return (value.estimate, -plies if value.kind == "win" else plies)
