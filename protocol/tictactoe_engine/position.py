"""A position: the immutable value that knows whose turn it is, what may be played and how the game ended.

It owns the rules' consequences on the board and nothing else: resignations, clocks and agreed draws belong to
rooms. A room tells it only that a player no longer moves (`pass_over`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Final, Literal

from tictactoe_engine.errors import IllegalMove, quote
from tictactoe_engine.geometry import Geometry, cells_of, geometry_of
from tictactoe_engine.notation import format_cell
from tictactoe_engine.rules import Rules

FREE: Final = "."
BLOCKED: Final = "#"

_FEW_MOVES: Final = 16
"""So many moves are replayed one by one as quickly as all at once."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the board ended a game: by a `line` (its cells ascending, `winner` a mark) or because it is ``full``.

    With misère `line` is the loser's. Where one move completes several lines all their cells are there.
    """

    reason: Literal["line", "full"]
    winner: str | None
    line: tuple[int, ...]


class Position:
    """What lies on the board and who moves next; build one with `start` or `replay`. It never changes.

    Two positions are equal when rules, board and the player to move are, whatever the order of their moves.
    """

    __slots__ = ("_board", "_geometry", "_moves", "_next", "_outcome", "_passed", "_rules", "_stones")

    _rules: Rules
    _geometry: Geometry
    _board: str
    _stones: tuple[int, ...]
    _moves: tuple[int, ...]
    _next: int
    _outcome: Outcome | None
    _passed: tuple[tuple[int, str], ...]

    @classmethod
    def start(cls, rules: Rules) -> Position:
        """Return the empty board, the first mark to move."""
        position = cls()
        position._rules = rules
        position._geometry = geometry_of(rules.rows, rules.columns, rules.line)
        board = bytearray(FREE, "ascii") * rules.size
        for cell in rules.blocked:
            board[cell] = ord(BLOCKED)
        position._board = board.decode("ascii")
        position._stones = (0,) * len(rules.marks)
        position._moves = ()
        position._next = 0
        position._outcome = None
        position._passed = ()
        return position

    @classmethod
    def replay(cls, rules: Rules, moves: Iterable[int], passed: Sequence[tuple[int, str]] = ()) -> Position:
        """Return the position after `moves`, each of `passed` carried out at its ply; raises `IllegalMove`."""
        position, cells = cls.start(rules), tuple(moves)
        for ply, mark in passed:
            position = position._play_all(cells[position.ply : ply]).pass_over(mark)
        return position._play_all(cells[position.ply :])

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return self._rules

    @property
    def board(self) -> str:
        """One character a cell, row-major: ``.`` free, ``#`` blocked, else the mark."""
        return self._board

    @property
    def moves(self) -> tuple[int, ...]:
        """The cells played so far, in order."""
        return self._moves

    @property
    def outcome(self) -> Outcome | None:
        """How the game ended, or None while it is open."""
        return self._outcome

    @property
    def passed(self) -> tuple[tuple[int, str], ...]:
        """Who is passed over, as (ply at which it happened, mark), in order."""
        return self._passed

    @property
    def ply(self) -> int:
        """How many moves lie on the board."""
        return len(self._moves)

    @property
    def last(self) -> int | None:
        """The cell of the last move, or None before the first."""
        return self._moves[-1] if self._moves else None

    @property
    def turn(self) -> str | None:
        """The mark to move, or None when the game is over."""
        return None if self._outcome else self._rules.marks[self._next]

    @property
    def legal_cells(self) -> tuple[int, ...]:
        """The cells that may be played, ascending; empty when the game is over."""
        if self.outcome:
            return ()
        if not self.rules.gravity:
            return tuple(cell for cell, mark in enumerate(self.board) if mark == FREE)
        lowest = (self._lowest_free(column) for column in range(self.rules.columns))
        return tuple(sorted(cell for cell in lowest if cell is not None))

    def play(self, cell: int) -> Position:
        """Return the position after the player to move takes `cell`; costs O(cells), as board and moves are copied.

        Raises `IllegalMove` where the game is over, the cell is off the board, taken or blocked, or, with gravity,
        another cell of its column lies lower and is free.
        """
        board, rules, mover = self._board, self._rules, self._next
        if self._outcome is not None or not 0 <= cell < len(board) or board[cell] != FREE:
            raise self._explain(cell)
        if rules.gravity and FREE in board[cell + rules.columns :: rules.columns]:
            raise self._explain(cell)
        stones = list(self._stones)
        own = stones[mover] = stones[mover] | 1 << cell
        completed = 0
        for line in self._geometry.lines_through[cell]:
            if own & line == line:
                completed |= line
        following = Position()
        following._rules = rules
        following._geometry = self._geometry
        following._board = board = f"{board[:cell]}{rules.marks[mover]}{board[cell + 1 :]}"
        following._stones = tuple(stones)
        following._moves = (*self._moves, cell)
        following._next = self._following(mover) if self._passed else (mover + 1) % len(stones)
        following._passed = self._passed
        if completed:
            following._outcome = self._line_outcome(completed)
        else:
            following._outcome = None if FREE in board else Outcome("full", None, ())
        return following

    def _play_all(self, cells: tuple[int, ...]) -> Position:
        """Return what playing the cells one by one gives; long games are laid out but for their last move."""
        position = self
        laid = self._lay(cells[:-1]) if len(cells) > _FEW_MOVES else None
        if laid is not None:
            position, cells = laid, cells[-1:]
        for cell in cells:
            position = position.play(cell)
        return position

    def _lay(self, cells: tuple[int, ...]) -> Position | None:
        """Return the position after `cells` while it is open, or None where one of them is illegal or ends the game."""
        if self._outcome is not None:
            return None
        rules, free = self._rules, ord(FREE)
        board, letters = bytearray(self._board, "ascii"), rules.marks.encode("ascii")
        turns = [self._next]
        while (following := self._following(turns[-1])) != self._next:
            turns.append(following)
        for cell, mover in zip(cells, cycle(turns), strict=False):
            if not 0 <= cell < len(board) or board[cell] != free:
                return None
            if rules.gravity and free in board[cell + rules.columns :: rules.columns]:
                return None
            board[cell] = letters[mover]
        stones = list(self._stones)
        for index, mover in enumerate(turns):
            for cell in cells[index :: len(turns)]:
                stones[mover] |= 1 << cell
        if free not in board or any(map(self._geometry.has_line, stones)):
            return None
        laid = copy.copy(self)
        laid._board = board.decode("ascii")
        laid._stones = tuple(stones)
        laid._moves = self._moves + cells
        laid._next = turns[len(cells) % len(turns)]
        return laid

    def pass_over(self, mark: str) -> Position:
        """Return the position in which `mark` moves no more; its stones stay where they are.

        Raises ValueError where the game is over, the mark is unknown or passed over already, or fewer than two
        players would be left: then the room ends the game instead.
        """
        if self.outcome is not None:
            raise ValueError("The game is over.")
        if mark not in tuple(self.active_marks):
            raise ValueError(f"{quote(mark)} does not play.")
        if len(self.active_marks) <= 2:
            raise ValueError(f"Without {mark!r} nobody would be left to play against.")
        following = copy.copy(self)
        following._passed = (*self._passed, (self.ply, mark))
        if self._rules.marks[self._next] == mark:
            following._next = self._following(self._next)
        return following

    def at(self, ply: int) -> Position:
        """Return the position as it was after `ply` moves, with all who were passed over before the next one.

        Equal in everything to a replay of so many moves, for the price of the board and of the moves taken back.
        Raises ValueError where fewer were played.
        """
        if not 0 <= ply <= len(self._moves):
            raise ValueError(f"There is no position after {ply} of {len(self._moves)} moves.")
        if ply == len(self._moves):
            return self
        kept, taken_back = self._moves[:ply], self._moves[ply:]
        board, gone = bytearray(self._board, "ascii"), 0
        for cell in taken_back:
            board[cell] = ord(FREE)
            gone |= 1 << cell
        earlier = copy.copy(self)
        earlier._board = board.decode("ascii")
        earlier._stones = tuple(stones & ~gone for stones in self._stones)
        earlier._moves = kept
        earlier._next = self._rules.marks.index(self._board[taken_back[0]])
        earlier._outcome = None
        earlier._passed = tuple(entry for entry in self._passed if entry[0] <= ply)
        return earlier

    @property
    def active_marks(self) -> str:
        """The marks that still move, in turn order."""
        gone = {mark for _, mark in self.passed}
        return "".join(mark for mark in self.rules.marks if mark not in gone)

    def stones(self, mark: str) -> int:
        """Return the bitboard of one mark's cells; bit `cell` is set where the mark lies."""
        return self._stones[self.rules.marks.index(mark)]

    def _following(self, index: int) -> int:
        marks, active = self.rules.marks, self.active_marks
        while True:
            index = (index + 1) % len(marks)
            if marks[index] in active:
                return index

    def _lowest_free(self, column: int) -> int | None:
        for cell in range(self.rules.size - self.rules.columns + column, -1, -self.rules.columns):
            if self.board[cell] == FREE:
                return cell
        return None

    def _line_outcome(self, completed: int) -> Outcome:
        marks = self.rules.marks
        winner = marks[1 - self._next] if self.rules.misere else marks[self._next]
        return Outcome("line", winner, cells_of(completed))

    def _explain(self, cell: int) -> IllegalMove:
        """Return the reason why `cell` cannot be played here."""
        rules = self.rules
        if self.outcome is not None:
            return IllegalMove("game_over", "The game is over.")
        if not 0 <= cell < rules.size:
            return IllegalMove("off_board", f"Cell {quote(cell)} is off the board: cells are 0 to {rules.size - 1}.")
        name, mark = format_cell(cell, rules), self.board[cell]
        if mark == BLOCKED:
            return IllegalMove("blocked", f"{name} is blocked: nobody may take it.")
        if mark != FREE:
            return IllegalMove("occupied", f"{name} is taken by {mark}.")
        lowest = self._lowest_free(cell % rules.columns)
        where = "" if lowest is None else f" A mark in this column falls to {format_cell(lowest, rules)}."
        return IllegalMove("floating", f"{name} hangs in the air.{where}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return (
            self.board == other.board
            and self._next == other._next
            and self.rules == other.rules
            and self.active_marks == other.active_marks
        )

    def __hash__(self) -> int:
        return hash((self._stones, self._next, self.rules.line, self.rules.columns))

    def __repr__(self) -> str:
        return f"<Position {self.rules.rows}x{self.rules.columns} ply {self.ply} {self.board!r} turn {self.turn}>"

    def __copy__(self) -> Position:
        twin = Position()
        for name in Position.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def __reduce__(self) -> tuple[object, ...]:
        return (Position.replay, (self._rules, self._moves, self._passed))
