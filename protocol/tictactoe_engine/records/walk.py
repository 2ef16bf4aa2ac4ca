"""A game played through move by move: the position, who is passed over when, what is chosen, and the round to come."""

from __future__ import annotations

from collections.abc import Sequence

from tictactoe_engine.errors import IllegalMove, quote
from tictactoe_engine.position import Position
from tictactoe_engine.records.faults import InvalidRecord, fault
from tictactoe_engine.rules import Rules


class Walk:
    """Where a game stands.

    `round` is the number of the round that the next move belongs to, from 1: a round ends when the turn comes back to
    the mark that opened it or to one before. `opens_round` tells whether the next move is the first of its round.
    """

    __slots__ = ("_chosen", "_passed", "_passed_count", "opens_round", "position", "round")

    def __init__(self, rules: Rules, passed: Sequence[tuple[int, str]], chosen: Sequence[str] = ()) -> None:
        self.position = Position.start(rules)
        self.round = 1
        self.opens_round = True
        self._passed = passed
        self._passed_count = 0
        self._chosen = chosen
        self._pass_over()

    def play(self, cell: int) -> None:
        """Play the next move, pass over who went then, and choose what is due.

        Raises `IllegalMove`, or `InvalidRecord` for ``passed`` and ``chosen``.
        """
        mover = self.position.mover
        self.position = self.position.play(cell)
        self._pass_over()
        self._choose()
        self.opens_round = self.position.outcome is None and self.position.mover <= mover
        self.round += self.opens_round

    def finish(self) -> None:
        """Refuse those who would be passed over, and what would be chosen, after the last move."""
        if self._passed_count < len(self._passed):
            ply, mark = self._passed[self._passed_count]
            late = fault("passed late", mark=quote(mark), ply=quote(ply), moves=self.position.ply)
            raise InvalidRecord(late, f"passed[{self._passed_count}]")
        count = len(self.position.chosen)
        if count < len(self._chosen):
            take = quote(self._chosen[count])
            raise InvalidRecord(fault("chosen late", take=take, moves=self.position.ply), f"chosen[{count}]")

    def _choose(self) -> None:
        count = len(self.position.chosen)
        if count >= len(self._chosen) or not self.position.options:
            return
        try:
            self.position = self.position.choose(self._chosen[count])
        except IllegalMove as illegal:
            raise InvalidRecord(illegal, f"chosen[{count}]") from None

    def _pass_over(self) -> None:
        while self._passed_count < len(self._passed):
            ply, mark = self._passed[self._passed_count]
            if ply > self.position.ply:
                return
            part = f"passed[{self._passed_count}]"
            if ply < self.position.ply:
                raise InvalidRecord(fault("passed order", mark=quote(mark), ply=quote(ply)), part)
            try:
                self.position = self.position.pass_over(mark)
            except ValueError as error:
                raise InvalidRecord(fault("passed", mark=quote(mark), ply=ply, error=error), part) from None
            self._passed_count += 1
