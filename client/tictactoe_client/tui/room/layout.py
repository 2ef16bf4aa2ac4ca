"""Where the board and what is beside it stand in a window, and how much of the window they use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tictactoe_client.board.grid import BoardStyle, Grid, fit_board, smallest_board
from tictactoe_engine import Rules

LEFT: Final = 2
"""The column of the board."""
MIN_WIDTH: Final = 24
"""The least that the panel is worth having in, as a window is."""
MAX_WIDTH: Final = 52
"""The panel is no wider, so that a clock stands near its player's name."""
_GAP: Final = 4
_HEAD_AND_FOOT: Final = 4
"""Lines that are not the board's: the head, what asks for an answer, the status, the keys."""
NARROW: Final = 60
"""In windows narrower than this the frame stays rather than the panel."""
_PANEL_WANTED: Final = 40
_LEAST_STAGE: Final = (80, 24)


@dataclass(frozen=True, slots=True)
class RoomLayout:
    """How a board is drawn and in which line it begins, the panel's column, None without one, and the stage's size."""

    grid: Grid
    top: int
    panel: int | None
    width: int
    height: int

    @property
    def below_board(self) -> int:
        """The first line under the board."""
        return self.top + self.grid.height


@lru_cache(maxsize=16)
def lay_out_room(rules: Rules, style: BoardStyle, width: int, height: int) -> RoomLayout:
    """Return the layout for a window of this size; its own width and height are how much of the window it uses."""
    area, narrower = height - _HEAD_AND_FOOT, width - 2 * LEFT - _GAP - MIN_WIDTH
    beside, alone = fit_board(rules, style, narrower, area), fit_board(rules, style, width - 2 * LEFT, area)
    gains = beside != alone if width < NARROW else alone.is_whole and not beside.is_whole
    has_panel = not gains and beside.width <= narrower
    grid = beside if has_panel else alone
    panel = LEFT + grid.width + _GAP
    stage_width = min(width, max(_LEAST_STAGE[0], panel + (_PANEL_WANTED + 1 if has_panel else 0)))
    stage_height = min(height, max(_LEAST_STAGE[1], grid.height + _HEAD_AND_FOOT + 2))
    top = 2 if grid.height + 1 < stage_height - _HEAD_AND_FOOT else 1
    return RoomLayout(grid, top, panel if has_panel else None, stage_width, stage_height)


def needed_for_room(rules: Rules) -> tuple[int, int]:
    """Return the width and height of the smallest window in which the board can be played."""
    width, height = smallest_board(rules)
    return max(MIN_WIDTH, 2 * LEFT + width), height + _HEAD_AND_FOOT
