"""The results of searches: the values of positions and moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["win", "draw", "loss", "unknown"]


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a position or move for the player to move.

    Attributes:
        plies: For ``win`` and ``loss``, the number of moves of all players to the end of the game.
        estimate: A number from -1 (lost) to 1 (won); exact unless the kind is ``unknown``.
    """

    kind: Kind
    plies: int | None = None
    estimate: float = 0.0


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of a search.

    Attributes:
        value: The value of the position.
        cells: The value of each legal cell; empty if the game is over or a choice in an opening is due.
        best_cells: The best moves, ascending: the quickest wins, the draws, or the slowest losses.
        is_solved: Whether every value and number of plies is exact. A ``win`` or ``loss`` is always proven.
        nodes: The number of visited positions.
        options: The value of each option if a choice in an opening is due.
        best_options: The options with the best value.
    """

    value: Value
    cells: Mapping[int, Value]
    best_cells: tuple[int, ...]
    is_solved: bool
    nodes: int = field(compare=False)
    options: Mapping[str, Value] = field(default_factory=dict)
    best_options: tuple[str, ...] = ()
