"""The results of searches: values of positions and moves for the player to move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["win", "draw", "loss", "unknown"]


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a position or move for the player to move.

    Attributes:
        plies: For ``win`` and ``loss``, the number of moves until the end, by all players.
        estimate: From -1 (lost) to 1 (won); exact unless the kind is ``unknown``.
    """

    kind: Kind
    plies: int | None = None
    estimate: float = 0.0


@dataclass(frozen=True, slots=True)
class Analysis:
    """The result of a search.

    Attributes:
        cells: The value of each legal cell; empty for a finished game and if a choice of an opening is due.
        best_cells: The best moves, ascending: the quickest wins, or the draws, or the slowest losses.
        is_solved: Whether every value and length is exact. A ``win`` or ``loss`` is always proven.
        nodes: The number of visited positions.
        options: The value of each choice if one is due; `best_options` are the best ones.
    """

    value: Value
    cells: Mapping[int, Value]
    best_cells: tuple[int, ...]
    is_solved: bool
    nodes: int = field(compare=False)
    options: Mapping[str, Value] = field(default_factory=dict)
    best_options: tuple[str, ...] = ()
