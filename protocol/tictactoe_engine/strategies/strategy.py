"""The types of the functions that choose moves and, in openings, sides; and two functions that choose at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tictactoe_engine.position import Position

if TYPE_CHECKING:
    from random import Random

Strategy = Callable[[Position, "Random"], int]
"""Returns a legal cell, the same one for the same seed; raises ValueError if there is no move to choose."""
SideChooser = Callable[[Position, "Random"], str]
"""Returns one of the options of a choice in an opening; raises ValueError if no choice is due."""


def check_is_open(position: Position) -> None:
    """Raise ValueError if there is no move to choose."""
    if position.outcome is not None:
        raise ValueError("The game is over: there is no move to choose.")
    if position.options:
        raise ValueError("A side is chosen next: there is no move to choose.")


def options_of(position: Position) -> tuple[str, ...]:
    """Return the options of the choice that is due in the opening; raises ValueError if no choice is due."""
    if not position.options:
        raise ValueError("There is no side to choose.")
    return position.options


def choose_at_random(position: Position, rng: Random) -> int:
    """Return a random legal cell; raises ValueError if there is no move to choose."""
    check_is_open(position)
    return rng.choice(position.legal_cells)


def choose_side_at_random(position: Position, rng: Random) -> str:
    """Return a random option in an opening; raises ValueError if there is nothing to choose."""
    return rng.choice(options_of(position))
