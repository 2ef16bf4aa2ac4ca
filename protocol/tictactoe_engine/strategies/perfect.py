"""The strongest strategy: the best move that a search finds within a budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tictactoe_engine.position import Position
from tictactoe_engine.search.analysis import analyse, best_cells
from tictactoe_engine.search.budget import Budget
from tictactoe_engine.search.proof import Memory
from tictactoe_engine.strategies.opening_book import opening_cells
from tictactoe_engine.strategies.strategy import check_is_open, options_of

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True, slots=True)
class Perfect:
    """A `Strategy` that wins as soon as possible, loses as late as possible, and plays openings from the book.

    It chooses among equally good moves at random. With three or more active players, it assumes that all others play
    against it.

    Attributes:
        is_brief: Whether to search boards with gravity only briefly, which leaves opponents a chance.
        memory: A cache of proven values on boards with gravity, at most 30 MB.
    """

    budget: Budget
    is_brief: bool = False
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)

    def __call__(self, position: Position, rng: Random) -> int:
        """Return one of the best cells; raises ValueError if there is no move to choose."""
        check_is_open(position)
        cells = opening_cells(position)
        cells = cells or best_cells(position, self.budget, memory=self.memory, is_brief=self.is_brief)
        return rng.choice(cells)

    def choose_side(self, position: Position, rng: Random) -> str:
        """Return the best option in an opening; raises ValueError if there is nothing to choose."""
        options_of(position)
        return rng.choice(analyse(position, self.budget, memory=self.memory).best_options)
