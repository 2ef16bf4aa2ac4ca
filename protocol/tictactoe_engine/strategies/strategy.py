"""What a strategy is: something that answers a position with a legal cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tictactoe_engine.position import Position

if TYPE_CHECKING:
    from random import Random


class Strategy(Protocol):
    """Chooses moves; all its randomness comes from `rng`, so the same seed gives the same game."""

    def __call__(self, position: Position, rng: Random) -> int:
        """Return a legal cell; raises ValueError when the game is over."""


def check_is_open(position: Position) -> None:
    """Raise ValueError when there is nothing left to choose."""
    if position.outcome is not None:
        raise ValueError("The game is over: there is no move to choose.")
