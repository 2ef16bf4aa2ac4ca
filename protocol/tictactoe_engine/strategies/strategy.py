"""The interface of strategies, which choose moves and sides of openings, and the beginner: random legal choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tictactoe_engine.position import Position

if TYPE_CHECKING:
    from random import Random


class Strategy(Protocol):
    """Chooses moves; all its randomness comes from `rng`, so the same seed gives the same game."""

    def __call__(self, position: Position, rng: Random) -> int:
        """Return a legal cell; raises ValueError when the game is over, or a choice of the opening is due."""


class SideChooser(Protocol):
    """Chooses in openings: which side to take, or to place more; its randomness comes from `rng`, too."""

    def __call__(self, position: Position, rng: Random) -> str:
        """Return one of the options of the position's opening; raises ValueError when there are none."""


def check_is_open(position: Position) -> None:
    """Raise ValueError when there is no move to choose."""
    if position.outcome is not None:
        raise ValueError("The game is over: there is no move to choose.")
    if position.options:
        raise ValueError("A side is chosen next: there is no move to choose.")


def options_of(position: Position) -> tuple[str, ...]:
    """Return what there is to choose in the opening; raises ValueError when that is nothing."""
    if not position.options:
        raise ValueError("There is no side to choose.")
    return position.options


def choose_at_random(position: Position, rng: Random) -> int:
    """Return any legal cell; raises ValueError when the game is over, or a choice of the opening is due."""
    check_is_open(position)
    return rng.choice(position.legal_cells)


def choose_side_at_random(position: Position, rng: Random) -> str:
    """Return any option of the opening; raises ValueError when there is none."""
    return rng.choice(options_of(position))
