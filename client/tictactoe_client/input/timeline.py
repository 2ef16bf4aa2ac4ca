"""The moves of a game and the moment of it that somebody looks at: the one way of looking back, in every face. Pure.

A game that runs, one that is watched, one that is over and one on record are looked at in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import msgspec

from tictactoe_client.input.intents import Look
from tictactoe_protocol.pushes import RoomState


@dataclass(frozen=True, slots=True)
class Timeline:
    """The cells of game number `game` in order; looked at is the moment after `ply` of them, None for the present.

    `seen` is how many there were when the present was last looked at.
    """

    game: int = 0
    moves: tuple[int, ...] = ()
    ply: int | None = None
    seen: int = 0

    @property
    def here(self) -> int:
        """How many moves lie on the board that is looked at."""
        return len(self.moves) if self.ply is None else self.ply

    @property
    def is_back(self) -> bool:
        """Whether a moment before the present is looked at."""
        return self.ply is not None

    @property
    def unseen(self) -> int:
        """How many moves came while one looked back."""
        return max(0, len(self.moves) - self.seen) if self.is_back else 0

    @property
    def played_next(self) -> int | None:
        """The cell that was played at the moment that is looked back at, None at the present."""
        return None if self.ply is None else self.moves[self.ply]

    def follow(self, game: int, moves: Sequence[int]) -> Timeline:
        """Return it with the moves as they are now; another game, and a moment that was taken back, become the present.

        >>> Timeline(1, (4, 0, 8), ply=2).follow(1, (4, 0)).ply is None
        True
        """
        is_there = game == self.game and self.ply is not None and self.ply < len(moves)
        return Timeline(game, tuple(moves), *((self.ply, self.seen) if is_there else (None, len(moves))))

    def jump(self, ply: int) -> Timeline:
        """Return it at the moment after so many moves, at the start or the present where there is none such."""
        count, ply = len(self.moves), max(0, ply)
        seen = self.seen if self.is_back else count
        return replace(self, ply=ply, seen=seen) if ply < count else replace(self, ply=None, seen=count)

    def step(self, by: int) -> Timeline:
        """Return it so many moves further on."""
        return self.jump(self.here + by)

    def find(self, look: Look) -> int:
        """Return where words or keys lead, perhaps beyond the game: a number of moves."""
        if look.kind == "live":
            return len(self.moves)
        return look.number if look.kind == "at" else self.here + look.number

    def show(self, state: RoomState) -> RoomState:
        """Return the state with the board as it was at the moment that is looked at."""
        return state if self.ply is None else rewind(state, self.moves[: self.ply])


def rewind(state: RoomState, moves: Sequence[int]) -> RoomState:
    """Return the state with the board as it was after these of its moves."""
    lying = set(moves)
    board = "".join(mark if cell in lying or mark in ".#" else "." for cell, mark in enumerate(state.board))
    last = moves[-1] if moves else None
    return msgspec.structs.replace(state, board=board, ply=len(moves), last=last, result=None, turn=None)


def list_rounds(state: RoomState, moves: Sequence[int]) -> list[range]:
    """Return the numbers of the moves of each round; a round ends when the turn comes back to its first mark."""
    return _rounds_of(state.rules.marks, state.board, tuple(moves))


@lru_cache(maxsize=2)
def _rounds_of(marks: str, board: str, moves: tuple[int, ...]) -> list[range]:
    movers = [marks.index(board[cell]) for cell in moves]
    starts = [ply for ply, mover in enumerate(movers, 1) if ply == 1 or mover <= movers[ply - 2]]
    return [range(start, end) for start, end in pairwise([*starts, len(movers) + 1])]
