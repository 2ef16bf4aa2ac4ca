"""The beginner: any legal cell and any side, each as likely as the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tictactoe_engine.position import Position
from tictactoe_engine.strategies.strategy import check_is_open, options_of

if TYPE_CHECKING:
    from random import Random


def choose_at_random(position: Position, rng: Random) -> int:
    """Return any legal cell; raises ValueError when the game is over, or a choice of the opening is due."""
    check_is_open(position)
    return rng.choice(position.legal_cells)


def choose_side_at_random(position: Position, rng: Random) -> str:
    """Return any option of the opening; raises ValueError when there is none."""
    return rng.choice(options_of(position))
