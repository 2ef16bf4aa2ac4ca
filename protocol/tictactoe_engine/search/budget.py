"""The cost limits of a search: a number of nodes, seconds on the caller's clock, or both.

The engine has no clock, so a caller that sets a time limit passes one in. A search that is limited only by nodes is
deterministic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

_NODES_BETWEEN_LOOKS: Final = 4
"""The number of nodes between two readings of the clock; a node takes 5 microseconds to 10 milliseconds."""


class OutOfBudget(Exception):
    """Raised when a search has used up its budget. Callers catch it and return the results found so far."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a search. Without any limit, a search ends only on boards that can be solved.

    The constructor raises ValueError if a limit is negative, or if `seconds` is given without a clock.

    Attributes:
        nodes: The largest number of positions to visit, or None for no limit.
        seconds: The longest time on `clock`, or None for no limit.
        clock: Returns the seconds on a monotonic clock.
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
        """Return a budget whose limits are these limits times `share`, which is from 0 to 1."""
        nodes = None if self.nodes is None else int(self.nodes * share)
        seconds = None if self.seconds is None else self.seconds * share
        return Budget(nodes, seconds, self.clock)


MODEST: Final = Budget(nodes=5_000)
"""The default budget: it takes well under a second, and is enough to solve a board of nine cells."""


class Meter:
    """Counts the nodes of a running search against its budget. Its time starts when it is created."""

    __slots__ = ("_clock", "_deadline", "_limit", "_next_look", "nodes")

    def __init__(self, budget: Budget) -> None:
        self.nodes = 0
        self._limit = inf if budget.nodes is None else budget.nodes
        self._clock = budget.clock if budget.seconds is not None else None
        self._deadline = self._clock() + (budget.seconds or 0) if self._clock is not None else inf
        self._next_look = self._limit if self._clock is None else 0

    def spend(self) -> None:
        """Count one node; raises `OutOfBudget` if the limit of nodes or seconds is exceeded."""
        nodes = self.nodes = self.nodes + 1
        if nodes > self._next_look:
            if nodes > self._limit or (self._clock is not None and self._clock() >= self._deadline):
                raise OutOfBudget
            self._next_look = min(nodes + _NODES_BETWEEN_LOOKS, self._limit)

    def charge(self, nodes: int) -> None:
        """Add the nodes of a search that ran with its own meter, on a portion of the same budget."""
        self.nodes += nodes
