"""What a position is worth to the player to move: the words in which searches answer.

Values know nothing of how they were found, nor of the integers that searches compare inside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["win", "draw", "loss", "unknown"]


@dataclass(frozen=True, slots=True)
class Value:
    """What the player to move can reach.

    `plies` counts the moves of all players until the game ends, the next one included; for ``win`` and ``loss``
    only, else None. `estimate` runs from -1 (lost) to 1 (won); it is exact but for ``unknown``.
    """

    kind: Kind
    plies: int | None = None
    estimate: float = 0.0


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a search found: the position's `value` and the value of each legal cell, all for the player to move.

    `best_cells` are the equally good moves, ascending: the quickest wins, else the draws, else the slowest
    losses. `is_solved` tells whether every value and length is exact; otherwise a ``win`` or ``loss`` is still
    proven, though a shorter way may exist. `nodes` is how many positions were visited this time. A finished game has no
    cells. Where a choice of an opening is due there are `options` instead, and `best_options` are the best of them.
    """

    value: Value
    cells: Mapping[int, Value]
    best_cells: tuple[int, ...]
    is_solved: bool
    nodes: int = field(compare=False)
    options: Mapping[str, Value] = field(default_factory=dict)
    best_options: tuple[str, ...] = ()
