"""A game played through move by move: the position, who is passed over when, and the round that comes next."""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_engine.errors import quote
from tictactoe_engine.position import Position
from tictactoe_engine.records.faults import InvalidRecord, tell
from tictactoe_engine.rules import Rules


class Walk:
    """Where a game stands.

    `round` is the number of the round that the next move belongs to, from 1: a round ends when the turn comes back to
    the mark that opened it or to one before. `opens_round` tells whether the next move is the first of its round.
    """

    __slots__ = ("_passed", "_passed_count", "opens_round", "position", "round")

    def __init__(self, rules: Rules, passed: Sequence[tuple[int, str]]) -> None:
        self.position = Position.start(rules)
        self.round = 1
        self.opens_round = True
        self._passed = passed
        self._passed_count = 0
        self._pass_over()

    def play(self, cell: int) -> None:
        """Play the next move and pass over who went then; raises `IllegalMove`, or `InvalidRecord` for ``passed``."""
        mover, following = self.position.turn, self.position.play(cell)
        self.position = following
        self._pass_over()
        marks, turn = following.rules.marks, self.position.turn
        self.opens_round = mover is not None and turn is not None and marks.index(turn) <= marks.index(mover)
        self.round += self.opens_round

    def finish(self) -> None:
        """Refuse those who would be passed over after the last move."""
        if self._passed_count < len(self._passed):
            ply, mark = self._passed[self._passed_count]
            message = tell("passed late", mark=quote(mark), ply=quote(ply), moves=self.position.ply)
            raise InvalidRecord(message, f"passed[{self._passed_count}]")

    def _pass_over(self) -> None:
        while self._passed_count < len(self._passed):
            ply, mark = self._passed[self._passed_count]
            if ply > self.position.ply:
                return
            part = f"passed[{self._passed_count}]"
            if ply < self.position.ply:
                raise InvalidRecord(tell("passed order", mark=quote(mark), ply=quote(ply)), part)
            try:
                self.position = self.position.pass_over(mark)
            except ValueError as error:
                raise InvalidRecord(tell("passed", mark=quote(mark), ply=ply, error=error), part) from None
            self._passed_count += 1
