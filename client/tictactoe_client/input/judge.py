"""What the moves of a finished game were worth, found by the engine in this process: no server is asked.

A search runs in a thread of its own, one at a time and for a limited time; whoever waits for it no longer ends it. What
was found is remembered. A game that runs is none of its business: nobody who plays is to be helped.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from tictactoe_client.text.worth import rate
from tictactoe_engine import Position
from tictactoe_engine.search import Budget, Value, analyse, fits_table
from tictactoe_protocol.pushes import AnalysisState, CellValue

SEARCH_SECONDS: Final = 0.4
"""How long a position is searched that no table answers."""
GAME_SECONDS: Final = 20.0
"""How long all positions of a game may take together."""
TURNING_MOVES: Final = 8
"""Among how many moves before the end the turning point is looked for."""
_LEAST_COST: Final = 0.5
_FLIPPED: Final = {"win": "loss", "loss": "win"}


@dataclass(frozen=True, slots=True)
class Mistake:
    """The move number `ply`, which was worth less than the best; `before` is what was known where it was made."""

    ply: int
    cell: int
    before: AnalysisState


class Judge:
    """Judges the game that led to `position`, once it is over; `found` are the mistakes so far, by their moves."""

    def __init__(self, position: Position, seconds: float = SEARCH_SECONDS) -> None:
        self.position = position
        self.found: dict[int, Mistake] = {}
        self._seconds = min(seconds, GAME_SECONDS / max(1, position.ply))
        self._known: dict[int, AnalysisState] = {}
        self._searching = asyncio.Lock()

    @property
    def seconds_left(self) -> float:
        """How long it takes at most until all is known of all positions."""
        return 0.0 if fits_table(self.position) else self._seconds * (self.position.ply + 1 - len(self._known))

    async def analyse(self, ply: int) -> AnalysisState:
        """Return what the position after `ply` moves is worth; raises ValueError where fewer were played."""
        async with self._searching:
            if ply not in self._known:
                self._known[ply] = await _search(self.position.at(ply), self._seconds)
        return self._known[ply]

    async def find_mistakes(self) -> list[Mistake]:
        """Return the moves that gave away a win or a draw, in order."""
        judged = [await self.judge_move(ply) for ply in range(1, self.position.ply + 1)]
        return [mistake for mistake in judged if mistake is not None]

    async def find_mistake(self, here: int, by: int) -> Mistake | None:
        """Return the first mistake that was made in a position after more moves than `here`, with `by` -1 fewer."""
        plies = range(here + 2, self.position.ply + 1) if by > 0 else range(here, 0, -1)
        for ply in plies:
            if (mistake := await self.judge_move(ply)) is not None:
                return mistake
        return None

    async def find_turning_point(self, winner: str | None) -> Mistake | None:
        """Return the mistake that decided the game: the last of those who did not win; in a draw the last of all.

        None where it is not among the last moves, or cannot be told.
        """
        position, last = self.position, self.position.ply
        for ply in range(last, max(0, last - TURNING_MOVES), -1):
            mover = position.board[position.moves[ply - 1]]
            if mover != winner and (mistake := await self.judge_move(ply)) is not None:
                return mistake
        return None

    async def judge_move(self, ply: int) -> Mistake | None:
        """Return the move number `ply` as a mistake, or None where it was none.

        A mistake lets a sure win go, or surely loses; what is only guessed is held against nobody. Where the value of
        the move itself is not known, what it led to tells.
        """
        before, cell = await self.analyse(ply - 1), self.position.moves[ply - 1]
        played = before.cells.get(cell)
        if played is None:
            return None
        if played.kind == "unknown" and len(self.position.rules.marks) == 2:
            played = _flip((await self.analyse(ply)).value)
            before = replace(before, cells={**before.cells, cell: played})
        is_sure = before.value.kind == "win" or played.kind == "loss"
        if is_sure and rate(before.value) - rate(played) >= _LEAST_COST:
            self.found[ply] = Mistake(ply, cell, before)
        return self.found.get(ply)


async def _search(position: Position, seconds: float) -> AnalysisState:
    is_wanted = True

    def clock() -> float:
        return time.monotonic() if is_wanted else math.inf

    try:
        found = await asyncio.to_thread(analyse, position, Budget(seconds=seconds, clock=clock))
    finally:
        is_wanted = False
    cells = {cell: _value_of(value) for cell, value in found.cells.items()}
    return AnalysisState(position.ply, position.turn, _value_of(found.value), cells, found.best_cells, found.is_solved)


def _value_of(value: Value) -> CellValue:
    return CellValue(value.kind, value.plies, value.estimate)


def _flip(value: CellValue) -> CellValue:
    """Return what a position is worth to the one who moved into it."""
    plies = None if value.plies is None else value.plies + 1
    return CellValue(_FLIPPED.get(value.kind, value.kind), plies, -value.estimate)
