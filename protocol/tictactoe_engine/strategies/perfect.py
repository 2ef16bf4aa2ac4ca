"""The master: the best move that its budget lets it find, and on small boards the best there is."""

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
    """Wins as soon and loses as late as it can; a `Strategy` once it is made.

    With two players left it solves what can be solved within `budget` and plays the strongest it finds elsewhere.
    With more it plays as if all others had joined against it (the paranoid algorithm, Sturtevant and Korf, 2000).
    Among equally good moves it takes the first, or any of them if it `varies`. Openings it plays from a book where one
    fits (see `opening_book`). On boards with gravity it remembers what it has proven, at most 30 MB; if it `is_brief`
    it proves nothing there, and can be beaten.
    """

    budget: Budget
    varies: bool = False
    is_brief: bool = False
    memory: Memory = field(default_factory=Memory, compare=False, repr=False)

    def __call__(self, position: Position, rng: Random) -> int:
        """Return a best cell; raises ValueError when the game is over, or a choice of the opening is due."""
        check_is_open(position)
        cells = opening_cells(position)
        cells = cells or best_cells(position, self.budget, memory=self.memory, is_brief=self.is_brief)
        return rng.choice(cells) if self.varies and len(cells) > 1 else cells[0]

    def choose_side(self, position: Position, rng: Random) -> str:
        """Return the better side of an opening; raises ValueError when there is nothing to choose."""
        options_of(position)
        options = analyse(position, self.budget, memory=self.memory).best_options
        return rng.choice(options) if self.varies and len(options) > 1 else options[0]
