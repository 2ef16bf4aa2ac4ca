"""How much a search may cost: a number of nodes, seconds on the caller's clock, or both.

The engine holds no clock of its own; whoever wants a time limit passes one in. A budget of nodes alone makes every
search that it limits the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_NODES_BETWEEN_LOOKS: Final = 4
"""How many nodes pass before the clock is read again; a node takes from 5 microseconds to 10 milliseconds."""


class OutOfBudget(Exception):
    """A search has used up its budget; whoever started it answers with what was found before."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of one search: `nodes` positions visited, `seconds` on `clock` (monotonic, in seconds).

    None means no limit: a budget without any is for boards that can be solved, as on others the search does not
    end. Raises ValueError for a negative limit and for `seconds` without a clock to measure them.
    """

    nodes: int | None = None
    seconds: float | None = None
    clock: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        if self.nodes is not None and self.nodes < 0:
            raise ValueError(f"A budget of {self.nodes} nodes is none.")
        if self.seconds is None:
            return
        if self.seconds < 0:
            raise ValueError(f"A budget of {self.seconds} seconds is none.")
        if self.clock is None:
            raise ValueError("A budget in seconds needs a clock.")

    def portion(self, share: float) -> Budget:
        """Return a budget of a `share` of this one, from 0 to 1; what has no limit keeps none."""
        nodes = None if self.nodes is None else int(self.nodes * share)
        seconds = None if self.seconds is None else self.seconds * share
        return Budget(nodes, seconds, self.clock)


MODEST: Final = Budget(nodes=5_000)
"""What is spent where nobody says how much: well under a second, and all that a board of nine cells needs."""


class Meter:
    """What a running search has spent of its budget; created when the search starts."""

    __slots__ = ("_clock", "_deadline", "_limit", "_next_look", "nodes")

    def __init__(self, budget: Budget) -> None:
        self.nodes = 0
        self._limit = budget.nodes
        self._clock = budget.clock
        self._deadline: float | None = None
        if budget.seconds is not None and budget.clock is not None:
            self._deadline = budget.clock() + budget.seconds
        self._next_look = 0 if self._deadline is not None else self._limit

    def spend(self) -> None:
        """Count one node; raises `OutOfBudget` when it is one too many or the time is over."""
        nodes = self.nodes = self.nodes + 1
        if self._next_look is not None and nodes > self._next_look:
            self._look()

    def charge(self, nodes: int) -> None:
        """Count nodes that were visited on a portion of the same budget."""
        self.nodes += nodes

    def _look(self) -> None:
        if self._limit is not None and self.nodes > self._limit:
            raise OutOfBudget
        if self._deadline is None or self._clock is None:
            self._next_look = self._limit
            return
        if self._clock() >= self._deadline:
            raise OutOfBudget
        self._next_look = self.nodes + _NODES_BETWEEN_LOOKS
        if self._limit is not None:
            self._next_look = min(self._next_look, self._limit)
