"""The master: the best move that its budget lets it find, and on small boards the best there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tictactoe_engine.position import Position
from tictactoe_engine.search.analysis import best_cells
from tictactoe_engine.search.budget import Budget
from tictactoe_engine.strategies.strategy import check_is_open

if TYPE_CHECKING:
    from random import Random


@dataclass(frozen=True, slots=True)
class Perfect:
    """Wins as soon and loses as late as it can; a `Strategy` once it is made.

    With two players left it solves what can be solved within `budget` and plays the strongest it finds elsewhere.
    With more it plays as if all others had joined against it (the paranoid algorithm, Sturtevant and Korf, 2000).
    Among equally good moves it takes the first, or any of them if it `varies`.
    """

    budget: Budget
    varies: bool = False

    def __call__(self, position: Position, rng: Random) -> int:
        """Return a best cell; raises ValueError when the game is over."""
        check_is_open(position)
        cells = best_cells(position, self.budget)
        return rng.choice(cells) if self.varies and len(cells) > 1 else cells[0]
