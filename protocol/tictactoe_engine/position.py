"""Positions: immutable values with the board, the turn, the legal moves and the outcome.

A position applies only the rules of the board; resignations, clocks and agreed draws belong to rooms. Players who no
longer move are skipped by `pass_over`. `choose` makes a choice in an opening.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from typing import Final, Literal, NamedTuple

from tictactoe_engine.errors import IllegalMove, illegal, quote
from tictactoe_engine.geometry import Geometry, cells_of, geometry_of
from tictactoe_engine.notation import format_cell
from tictactoe_engine.opening import Choice, Opening, choices_of, opening_of, placer_of, plies_of_choices, sits_now
from tictactoe_engine.rules import Rules

FREE: Final = "."
BLOCKED: Final = "#"

_FEW_MOVES: Final = 16
"""Up to this number of moves, playing them one by one is as fast as placing them all at once."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a game on the board.

    Attributes:
        line: All cells of the completed lines, ascending. With misère, the loser completed them.
    """

    reason: Literal["line", "full"]
    winner: str | None
    line: tuple[int, ...]


class Position(NamedTuple):
    """The board and the player to move; created by `start` or `replay`.

    Positions are equal if their rules, boards, players to move, active marks and openings are equal. The order of the
    moves does not matter.

    Attributes:
        board: One character for each cell, row-major: ``.`` if free, ``#`` if blocked, otherwise the mark.
        moves: The cells played so far, in order.
        turn: The mark of the seat that acts next, or None if the game is over. In an opening, the seat may place
            another mark than its own.
        outcome: How the game ended, or None if it continues.
        passed: The marks that no longer move, in order, each after the number of moves made before.
        mover: The index in `rules.marks` of the mark that is placed next.
        bitboards: The cells of each mark, in the order of `rules.marks`.
        chosen: The choices made in the opening, in order: marks, or ``more``.
    """

    rules: Rules
    board: str
    moves: tuple[int, ...]
    turn: str | None
    outcome: Outcome | None
    passed: tuple[tuple[int, str], ...]
    mover: int
    bitboards: tuple[int, ...]
    geometry: Geometry
    chosen: tuple[str, ...]

    @classmethod
    @lru_cache(maxsize=1024)
    def start(cls, rules: Rules) -> Position:
        """Return the position before the first move; equal rules share one value."""
        board = bytearray(FREE, "ascii") * rules.size
        for cell in rules.blocked:
            board[cell] = ord(BLOCKED)
        stones, geometry = (0,) * len(rules.marks), geometry_of(rules.rows, rules.columns, rules.line)
        return cls(rules, board.decode("ascii"), (), rules.marks[0], None, (), 0, stones, geometry, ())

    @classmethod
    def replay(
        cls,
        rules: Rules,
        moves: Iterable[int],
        passed: Sequence[tuple[int, str]] = (),
        chosen: Sequence[str] = (),
    ) -> Position:
        """Return the position after `moves`, with `passed` and `chosen` applied when they are due.

        Raises `IllegalMove` for a move or choice that is not allowed, or ValueError for a mark in `passed` that cannot
        be passed over.
        """
        position, cells = cls.start(rules), tuple(moves)
        for ply, take in zip(plies_of_choices(rules.opening), chosen, strict=False):
            position = position._play_all(cells[position.ply : ply]).choose(take)
        for take in chosen[len(position.chosen) :]:
            position = position.choose(take)
        for ply, mark in passed:
            position = position._play_all(cells[position.ply : ply]).pass_over(mark)
        return position._play_all(cells[position.ply :])

    @property
    def ply(self) -> int:
        """The number of moves on the board."""
        return len(self.moves)

    @property
    def last(self) -> int | None:
        """The cell of the last move, or None before the first."""
        return self.moves[-1] if self.moves else None

    @property
    def opening(self) -> Opening | None:
        """The undecided opening, or None if there is none."""
        rules = self.rules
        if rules.opening is None or self.outcome is not None:
            return None
        return opening_of(rules.opening, rules.marks, len(self.moves), self.chosen)

    @property
    def options(self) -> tuple[str, ...]:
        """The options of the choice that is due in the opening; empty if no choice is due."""
        opening = self.opening
        return () if opening is None else opening.options

    @property
    def legal_cells(self) -> tuple[int, ...]:
        """The cells that may be played, ascending; empty when the game is over or a choice is due."""
        if self.outcome or self.options:
            return ()
        return tuple(free_cells(self.board, self.rules))

    def play(self, cell: int) -> Position:
        """Return the position after the next mark is placed on `cell`. Takes O(cells); raises `IllegalMove`."""
        rules, board, moves, _, outcome, passed, mover, stones, geometry, chosen = self
        if rules.opening is not None and (options := self.options):
            raise illegal("choose_first", "Choose first: {options}.", options=", ".join(options))
        if outcome is not None or not 0 <= cell < len(board) or board[cell] != FREE:
            raise self._explain(cell)
        if rules.gravity and FREE in board[cell + rules.columns :: rules.columns]:
            raise self._explain(cell)
        marks, bits, completed = rules.marks, list(stones), 0
        own = bits[mover] = bits[mover] | 1 << cell
        for line in geometry.lines_through[cell]:
            if own & line == line and (not rules.exact or not geometry.goes_on(line, own)):
                completed |= line
        board = f"{board[:cell]}{marks[mover]}{board[cell + 1 :]}"
        if completed:
            winner = marks[1 - mover] if rules.misere else marks[mover]
            outcome = Outcome("line", winner, cells_of(completed))
        elif FREE not in board:
            outcome = Outcome("full", None, ())
        following = self._following(mover) if passed else (mover + 1) % len(marks)
        turn = marks[following] if outcome is None else None
        fields = (rules, board, (*moves, cell), turn, outcome, passed, following, tuple(bits), geometry, chosen)
        position = _new(Position, fields)
        return position if rules.opening is None else position._with_turn()

    def choose(self, take: str) -> Position:
        """Return the position after the option `take`, a mark or ``more``, is chosen; raises `IllegalMove`."""
        options = self.options
        if not options:
            raise illegal("not_allowed", "There is nothing to choose now.", why="nothing to choose")
        if take not in options:
            words = "You can't choose {take} here. Choose {options}."
            raise illegal("not_allowed", words, why="no option", take=quote(take), options=", ".join(options))
        return self._replace(chosen=(*self.chosen, take))._with_turn()

    @property
    def unchosen(self) -> Position | None:
        """The position before the opening choice that was made after the last move; None without such a choice."""
        if not self.chosen or self.choices[-1].ply != self.ply:
            return None
        return self._replace(chosen=self.chosen[:-1])._with_turn()

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices made in the opening, in order."""
        return choices_of(self.rules.opening, self.rules.marks, self.chosen)

    @property
    def between(self) -> tuple[tuple[int, str], ...]:
        """The choices made in the opening, or else the marks passed over, each after the number of moves before it."""
        return tuple((choice.ply, choice.take) for choice in self.choices) if self.chosen else self.passed

    @property
    def is_swapped(self) -> bool:
        """Whether the players have exchanged their marks in the opening."""
        first = self.rules.marks[0]
        return bool(self.chosen) and self.sits_now(first) != first

    def has_acted(self, mark: str) -> bool:
        """Return whether the player with `mark` has moved or, in an opening, made a choice."""
        if self.rules.opening is None:
            return bool(self.stones(mark))
        return bool(self.chosen or (self.moves and mark == self.rules.marks[0]))

    def player_of(self, ply: int) -> str:
        """Return the current mark of the player who made move `ply` (from 0).

        The mark that was placed may be another one, as in an opening one player places the marks of both sides.
        """
        placer = placer_of(self.rules.opening, self.rules.marks, ply, self.chosen)
        return placer or self.board[self.moves[ply]]

    def sits_now(self, mark: str) -> str:
        """Return the mark that the player who began the game with `mark` has now."""
        return sits_now(self.rules.opening, self.rules.marks, self.chosen, mark)

    def _with_turn(self) -> Position:
        if self.outcome is not None:
            return self
        opening = self.opening
        return self._replace(turn=opening.turn if opening else self.rules.marks[self.mover])

    def _play_all(self, cells: tuple[int, ...]) -> Position:
        """Return the position after the moves `cells`. Many moves are placed at once, except for the last one."""
        position = self
        laid = self._lay(cells[:-1]) if len(cells) > _FEW_MOVES else None
        if laid is not None:
            position, cells = laid, cells[-1:]
        for cell in cells:
            position = position.play(cell)
        return position

    def _lay(self, cells: tuple[int, ...]) -> Position | None:
        """Place the moves `cells` at once. Return None if that is impossible, or a move is illegal or ends the game."""
        if self.outcome is not None or self.opening is not None:
            return None
        rules, free = self.rules, ord(FREE)
        board, letters = bytearray(self.board, "ascii"), rules.marks.encode("ascii")
        turns = [self.mover]
        while (following := self._following(turns[-1])) != self.mover:
            turns.append(following)
        for cell, mover in zip(cells, cycle(turns), strict=False):
            if not 0 <= cell < len(board) or board[cell] != free:
                return None
            if rules.gravity and free in board[cell + rules.columns :: rules.columns]:
                return None
            board[cell] = letters[mover]
        stones = list(self.bitboards)
        for index, mover in enumerate(turns):
            for cell in cells[index :: len(turns)]:
                stones[mover] |= 1 << cell
        if free not in board or any(map(self.geometry.has_line, stones)):
            return None
        mover = turns[len(cells) % len(turns)]
        return self._replace(
            board=board.decode("ascii"),
            moves=self.moves + cells,
            turn=rules.marks[mover],
            mover=mover,
            bitboards=tuple(stones),
        )

    def pass_over(self, mark: str) -> Position:
        """Return the same position without `mark` in the turn order; its stones remain.

        Raises ValueError if the game is over, `mark` is not active, or fewer than two players would remain.
        """
        if self.outcome is not None:
            raise ValueError("The game is over.")
        if mark not in tuple(self.active_marks):
            raise ValueError(f"{quote(mark)} does not play.")
        if len(self.active_marks) <= 2:
            raise ValueError(f"Without {mark!r} nobody would be left to play against.")
        following = self._replace(passed=(*self.passed, (self.ply, mark)))
        if self.turn != mark:
            return following
        mover = following._following(self.mover)
        return following._replace(turn=self.rules.marks[mover], mover=mover)

    def at(self, ply: int) -> Position:
        """Return the position after the first `ply` moves and the choices and passed marks that followed them.

        The result equals a replay of these moves, but takes only the time to undo the others. Raises ValueError if
        there are fewer moves.
        """
        if not 0 <= ply <= len(self.moves):
            raise ValueError(f"There is no position after {ply} of {len(self.moves)} moves.")
        if ply == len(self.moves):
            return self
        kept, taken_back = self.moves[:ply], self.moves[ply:]
        board, gone = bytearray(self.board, "ascii"), 0
        for cell in taken_back:
            board[cell] = ord(FREE)
            gone |= 1 << cell
        turn = self.board[taken_back[0]]
        position = self._replace(
            board=board.decode("ascii"),
            moves=kept,
            turn=turn,
            outcome=None,
            passed=tuple(entry for entry in self.passed if entry[0] <= ply),
            mover=self.rules.marks.index(turn),
            bitboards=tuple(stones & ~gone for stones in self.bitboards),
        )
        if self.rules.opening is None:
            return position
        chosen = tuple(choice.take for choice in self.choices if choice.ply <= ply)
        return position._replace(chosen=chosen)._with_turn()

    @property
    def active_marks(self) -> str:
        """The marks that have not been passed over, in turn order."""
        gone = {mark for _, mark in self.passed}
        return "".join(mark for mark in self.rules.marks if mark not in gone)

    @property
    def marks_from_turn(self) -> str:
        """The active marks in turn order, starting with the mark to move."""
        active = self.active_marks
        turn = active.index(self.turn or active[0])
        return active[turn:] + active[:turn]

    def stones(self, mark: str) -> int:
        """Return the cells of `mark` as a bitboard."""
        return self.bitboards[self.rules.marks.index(mark)]

    def _following(self, index: int) -> int:
        marks, active = self.rules.marks, self.active_marks
        while True:
            index = (index + 1) % len(marks)
            if marks[index] in active:
                return index

    def _explain(self, cell: int) -> IllegalMove:
        rules = self.rules
        if self.outcome is not None:
            return illegal("game_over", "The game is over.")
        if not 0 <= cell < rules.size:
            words = "Cell {cell} is off the board: cells are 0 to {last}."
            return illegal("off_board", words, cell=quote(cell), last=rules.size - 1)
        name, mark = format_cell(cell, rules), self.board[cell]
        if mark == BLOCKED:
            return illegal("blocked", "{cell} is blocked: it cannot be taken.", cell=name)
        if mark != FREE:
            return illegal("occupied", "{cell} is taken by {mark}.", cell=name, mark=mark)
        words = "{cell} has nothing under it. In this column, a disc falls to {lowest}."
        lowest = max(one for one in range(cell, rules.size, rules.columns) if self.board[one] == FREE)
        return illegal("floating", words, cell=name, lowest=format_cell(lowest, rules))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return (
            self.board == other.board
            and self.mover == other.mover
            and self.rules == other.rules
            and self.active_marks == other.active_marks
            and self.opening == other.opening
        )

    def __hash__(self) -> int:
        return hash((self.bitboards, self.mover, self.rules.line, self.rules.columns))

    def __repr__(self) -> str:
        return f"<Position {self.rules.rows}x{self.rules.columns} ply {self.ply} {self.board!r} turn {self.turn}>"

    def __reduce__(self) -> tuple[object, ...]:
        return (Position.replay, (self.rules, self.moves, self.passed, self.chosen))


def lowest_free(board: str, cell: int, columns: int) -> int | None:
    """Return the lowest free cell in the column of `cell`, or None if the column is full."""
    column = range(cell % columns, len(board), columns)
    return next((below for below in reversed(column) if board[below] == FREE), None)


def free_cells(board: str, rules: Rules) -> list[int]:
    """Return the cells that may be played, ascending: all free ones, or with gravity the lowest free ones."""
    if not rules.gravity:
        return [cell for cell, mark in enumerate(board) if mark == FREE]
    lowest = (lowest_free(board, column, rules.columns) for column in range(rules.columns))
    return sorted(cell for cell in lowest if cell is not None)


_new: Final = tuple.__new__
