"""The interface of strategies, which choose moves and sides of openings, and random legal choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tictactoe_engine.position import Position

if TYPE_CHECKING:
    from random import Random

Strategy = Callable[[Position, "Random"], int]
"""Returns a legal cell, the same one for the same seed; raises ValueError if there is no move to choose."""
SideChooser = Callable[[Position, "Random"], str]
"""Returns one of the options of the position's opening; raises ValueError if there are none."""


def check_is_open(position: Position) -> None:
    """Raise ValueError if there is no move to choose."""
    if position.outcome is not None:
        raise ValueError("The game is over: there is no move to choose.")
    if position.options:
        raise ValueError("A side is chosen next: there is no move to choose.")


def options_of(position: Position) -> tuple[str, ...]:
    """Return the options of the opening; raises ValueError if there are none."""
    if not position.options:
        raise ValueError("There is no side to choose.")
    return position.options


def choose_at_random(position: Position, rng: Random) -> int:
    """Return any legal cell; raises ValueError if there is no move to choose."""
    check_is_open(position)
    return rng.choice(position.legal_cells)


def choose_side_at_random(position: Position, rng: Random) -> str:
    """Return any option of the opening; raises ValueError if there are none."""
    return rng.choice(options_of(position))
