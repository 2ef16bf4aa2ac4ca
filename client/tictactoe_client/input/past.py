"""Reviews a game: `Timeline` is the moment on display, `Judge` finds the values of moves."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import Position, Rules
from tictactoe_engine.search import Budget, analyse, fits_table
from tictactoe_protocol.pushes import AnalysisState, RoomState
from tictactoe_protocol.reviewed import carry, worth_of_move
from tictactoe_words.worth import describe_mistake

SEARCH_SECONDS: Final = 0.4
GAME_SECONDS: Final = 20.0
"""The time limits of the search: for a position that no table solves, and for a whole game."""
TURNING_MOVES: Final = 8
"""The turning point is looked for among this number of final moves."""
LINE_MOVES: Final = 4
_LEAST_COST: Final = 0.5


@dataclass(frozen=True, slots=True)
class Timeline:
    """The moment of a game that is on display.

    Attributes:
        game: The number of the game in its room.
        moves: All moves of the game so far.
        here: The number of moves before the moment.
        is_back: Whether the moment lies in the past; otherwise it is the present and advances with the game.
        seen: The number of moves when the present was last on display.
    """

    game: int = 0
    moves: tuple[int, ...] = ()
    here: int = 0
    is_back: bool = False
    seen: int = 0

    @property
    def unseen(self) -> int:
        return max(0, len(self.moves) - self.seen)

    @property
    def played_next(self) -> int | None:
        return self.moves[self.here] if self.is_back else None

    def follow(self, game: int, moves: Sequence[int]) -> Timeline:
        """Return the timeline with the game's new moves, at the same moment; at the present if that moment is gone."""
        is_back = self.is_back and game == self.game and self.here < len(moves)
        here, seen = (self.here, self.seen) if is_back else (len(moves), len(moves))
        return Timeline(game, tuple(moves), here, is_back, seen)

    def jump(self, ply: int) -> Timeline:
        """Return the timeline at the moment after `ply` moves, or the nearest moment."""
        count = len(self.moves)
        here = max(0, min(ply, count))
        is_back = here < count
        return Timeline(self.game, self.moves, here, is_back, self.seen if is_back and self.is_back else count)

    def show(self, state: RoomState) -> RoomState:
        if not self.is_back:
            return state
        moves = self.moves[: self.here]
        lying = set(moves)
        board = "".join(mark if cell in lying or mark in ".#" else "." for cell, mark in enumerate(state.board))
        last = moves[-1] if moves else None
        return replace(state, board=board, ply=self.here, last=last, result=None, turn=None)


@lru_cache(maxsize=2)
def list_rounds(marks: str, board: str, moves: tuple[int, ...]) -> list[range]:
    """Return the move numbers of each round. A new round begins when the order of players begins again."""
    turns = {mark: turn for turn, mark in enumerate(marks)}
    movers = [turns[board[cell]] for cell in moves]
    starts = [ply for ply, (before, mover) in enumerate(pairwise(movers), 2) if mover <= before]
    return [range(start, end) for start, end in pairwise([1, *starts, len(movers) + 1])] if movers else []


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move that was worth less than the best move; `before` is the analysis of the position before it."""

    ply: int
    cell: int
    before: AnalysisState

    def describe(self, rules: Rules) -> str:
        return describe_mistake(self.ply, self.cell, self.before, rules)


class Judge:
    """Finds the values of the moves of a finished game; `found` has the known mistakes by move number.

    The engine runs in a thread; only one search runs at a time, and its time is limited. Results are cached.
    """

    def __init__(self, position: Position, seconds: float = SEARCH_SECONDS) -> None:
        self.position = position
        self.found: dict[int, Mistake] = {}
        self._seconds = min(seconds, GAME_SECONDS / max(1, position.ply))
        self._known: dict[int, AnalysisState] = {}
        self._searching = asyncio.Lock()
        choices = position.choices
        self._opened = 0 if position.rules.opening is None else position.ply if position.opening else choices[-1].ply

    @property
    def seconds_left(self) -> float:
        return 0.0 if fits_table(self.position) else self._seconds * (self.position.ply + 1 - len(self._known))

    async def analyse(self, ply: int) -> AnalysisState:
        """Analyse the position after `ply` moves; raises `ValueError` if the game has fewer moves."""
        async with self._searching:
            if ply not in self._known:
                self._known[ply] = await _search(self.position.at(ply), self._seconds)
                carry(self._known, self.position)
        return self._known[ply]

    async def mistakes(self, plies: Iterable[int]) -> AsyncIterator[Mistake]:
        for ply in plies:
            if (mistake := await self.judge_move(ply)) is not None:
                yield mistake

    async def find_turning_point(self, winner: str | None) -> Mistake | None:
        """Return the last mistake that was not the winner's, or None if the final moves have none."""
        board, moves = self.position.board, self.position.moves
        plies = range(len(moves), max(0, len(moves) - TURNING_MOVES), -1)
        return await anext(self.mistakes(ply for ply in plies if board[moves[ply - 1]] != winner), None)

    async def find_line(self, ply: int) -> tuple[int, ...]:
        """Return the best play after `ply` moves: at most `LINE_MOVES` cells."""
        position, cells = self.position.at(ply), list((await self.analyse(ply)).best[:1])
        async with self._searching:
            best = cells
            while best and len(cells) < LINE_MOVES and (position := position.play(best[0])).turn is not None:
                best = list((await _search(position, self._seconds)).best[:1])
                cells += best
        return tuple(cells)

    async def judge_move(self, ply: int) -> Mistake | None:
        """Return the mistake of move number `ply`, or None if the move was not a mistake.

        A mistake gives away a certain win, or certainly loses; estimates do not count. If the analysis has no value for
        the move, the next position's value is used. Moves of an opening are never mistakes.
        """
        if ply <= self._opened:
            return None
        before, cell = await self.analyse(ply - 1), self.position.moves[ply - 1]
        played = before.cells.get(cell)
        if played is None:
            return None
        if played.kind == "unknown" and len(self.position.rules.marks) == 2:
            played = worth_of_move((await self.analyse(ply)).value)
            before = replace(self._known[ply - 1], cells={**before.cells, cell: played})
        is_sure = before.value.kind == "win" or played.kind == "loss"
        if is_sure and before.value.estimate - played.estimate >= _LEAST_COST:
            self.found[ply] = Mistake(ply, cell, before)
        return self.found.get(ply)


async def _search(position: Position, seconds: float) -> AnalysisState:
    """Analyse a position in a thread; cancelling this ends the search."""
    is_wanted = True

    def clock() -> float:
        return time.monotonic() if is_wanted else math.inf

    try:
        found = await asyncio.to_thread(analyse, position, Budget(seconds=seconds, clock=clock))
    finally:
        is_wanted = False
    before = UNSET if position.unchosen is None else await _search(position.unchosen, seconds)
    return AnalysisState.of(position, found, before)
