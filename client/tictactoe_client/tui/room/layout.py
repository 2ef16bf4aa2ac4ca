"""Where the parts of a room stand: the board, the panel beside it, the lines at the foot, and the stage for all. Pure.

In a small window the panel goes before the frame: players and clocks then stand in one line above the board.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tictactoe_client.board.board import BoardStyle, Window
from tictactoe_client.board.fit import Fit, fit_board, smallest_board
from tictactoe_client.tui.room.panel import MIN_WIDTH as PANEL_MIN
from tictactoe_engine import Rules

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
