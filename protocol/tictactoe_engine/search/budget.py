"""The cost limits of a search: a number of nodes, seconds on the caller's clock, or both.

The engine has no clock; callers pass one in for a time limit. With a limit of nodes alone a search is deterministic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

_NODES_BETWEEN_LOOKS: Final = 4
"""The number of nodes between two readings of the clock; a node takes 5 microseconds to 10 milliseconds."""


class OutOfBudget(Exception):
    """A search has used up its budget; its caller returns the results found so far."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits of a search: `nodes` positions visited, `seconds` on `clock` (monotonic, in seconds).

    None is no limit. Without any limit a search ends only on boards that can be solved. Raises ValueError for a
    negative limit and for `seconds` without a clock.
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
        """Return a budget with a `share` of these limits, from 0 to 1."""
        nodes = None if self.nodes is None else int(self.nodes * share)
        seconds = None if self.seconds is None else self.seconds * share
        return Budget(nodes, seconds, self.clock)


MODEST: Final = Budget(nodes=5_000)
"""The default: well under a second, and enough to solve a board of nine cells."""


class Meter:
    """The expenses of a running search; created when the search starts."""

    __slots__ = ("_clock", "_deadline", "_limit", "_next_look", "nodes")

    def __init__(self, budget: Budget) -> None:
        self.nodes = 0
        self._limit = inf if budget.nodes is None else budget.nodes
        self._clock = budget.clock if budget.seconds is not None else None
        self._deadline = self._clock() + (budget.seconds or 0) if self._clock is not None else inf
        self._next_look = self._limit if self._clock is None else 0

    def spend(self) -> None:
        """Count one node; raises `OutOfBudget` beyond the limit of nodes or time."""
        nodes = self.nodes = self.nodes + 1
        if nodes > self._next_look:
            if nodes > self._limit or (self._clock is not None and self._clock() >= self._deadline):
                raise OutOfBudget
            self._next_look = min(nodes + _NODES_BETWEEN_LOOKS, self._limit)

    def charge(self, nodes: int) -> None:
        """Count nodes that were visited on a portion of the same budget."""
        self.nodes += nodes
