"""The beginner: any legal cell, each as likely as the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tictactoe_engine.position import Position
from tictactoe_engine.strategies.strategy import check_is_open

if TYPE_CHECKING:
    from random import Random


def choose_at_random(position: Position, rng: Random) -> int:
    """Return any legal cell; raises ValueError when the game is over."""
    check_is_open(position)
    return rng.choice(position.legal_cells)
