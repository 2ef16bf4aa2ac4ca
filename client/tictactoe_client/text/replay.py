"""A recorded game, step by step: what is told of it and of each of its positions, and what a typed line asks for. Pure.

A record holds only characters that can be printed, so nothing of it needs cleaning.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal

from tictactoe_client.board.board import BoardStyle, BoardView, render_board
from tictactoe_client.text.wording import describe_cell, describe_reason, describe_rules
from tictactoe_engine import Position, format_cell
from tictactoe_engine.records import GameRecord, MoveClock, SeatClock
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import Offers, RoomState, RulesState, SeatState

STEP_HELP: Final = "n next, p previous, a number that move, b board, h help, q quit."

StepKind = Literal["go", "board", "help", "quit", "unknown"]

_STEPS: Final[dict[str, StepKind]] = {
    "b": "board",
    "board": "board",
    "h": "help",
    "?": "help",
    "help": "help",
    "q": "quit",
    "quit": "quit",
    "exit": "quit",
    "leave": "quit",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What a typed line asks for; `ply` is where to go, perhaps beyond the game."""

    kind: StepKind
    ply: int = 0


def parse_step(line: str, ply: int) -> Step:
    """Return what a line asks for, typed when `ply` moves lie on the board; an empty line is the next move.

    >>> parse_step("n", 3), parse_step("7", 3), parse_step("b", 3)
    (Step(kind='go', ply=4), Step(kind='go', ply=7), Step(kind='board', ply=3))
    """
    word = line.strip().lower().removeprefix("/").removeprefix(":")
    if word in ("", "n", "next"):
        return Step("go", ply + 1)
    if word in ("p", "previous", "prev", "back"):
        return Step("go", ply - 1)
    if word.isascii() and word.isdigit() and len(word) <= 6:
        return Step("go", int(word))
    return Step(_STEPS.get(word, "unknown"), ply)


class Replay:
    """One recorded game with all its positions at hand; `last` is the number of its last move."""

    def __init__(self, record: GameRecord) -> None:
        self.record = record
        self.positions: tuple[Position, ...] = tuple(record.positions())
        self.last = len(record.moves)

    def describe(self) -> list[str]:
        """Return what is known of the whole game: who, what, when and where, and how it ended."""
        facts = [self.describe_players(), describe_rules(self.record.rules), *self.list_facts()]
        moves = "1 move" if self.last == 1 else f"{self.last} moves"
        return [f"{', '.join(facts)}.", f"{moves}. {self.describe_end()}"]

    def describe_players(self) -> str:
        """Return who played which mark: ``ana (X) v bo (O)``."""
        return " v ".join(self._who(mark) for mark in self.record.rules.marks)

    def list_facts(self) -> list[str]:
        """Return what the record says beside players and rules: its clock, date, room and number, where it does."""
        record = self.record
        facts = []
        if record.clock is not None:
            facts.append(_describe_clock(record.clock))
        if record.date is not None:
            facts.append(record.date)
        if record.room is not None:
            facts.append(f"room {clean_text(record.room)}")
        if record.game is not None:
            facts.append(f"game {record.game}")
        return facts

    def list_rounds(self) -> list[range]:
        """Return the numbers of the moves of each round; a round ends when the turn comes back to its first mark."""
        marks = self.record.rules.marks
        movers = [marks.index(self.positions[ply].board[cell]) for ply, cell in enumerate(self.record.moves, 1)]
        starts = [ply for ply, mover in enumerate(movers, 1) if ply == 1 or mover <= movers[ply - 2]]
        return [range(start, end) for start, end in pairwise([*starts, self.last + 1])]

    def describe_mark(self, ply: int) -> str:
        """Return a move in its shortest form, from move 1: ``X B2``."""
        cell = self.record.moves[ply - 1]
        return f"{self.positions[ply].board[cell]} {format_cell(cell, self.record.rules)}"

    def describe_end(self) -> str:
        """Return how the game ended: ``ana (X) wins by a line.``"""
        result = self.record.result
        if result is None:
            return "The game still runs."
        who = "A draw" if result.winner is None else f"{self._who(result.winner)} wins"
        return f"{who} {describe_reason(result.reason)}."

    def describe_move(self, ply: int) -> list[str]:
        """Return what happened with this move, 0 being the start: the move, who is out from here, comments, the end."""
        record = self.record
        lines = ["The start."]
        if ply > 0:
            cell = record.moves[ply - 1]
            who = self._who(self.positions[ply].board[cell])
            lines = [f"Move {ply} of {self.last}: {who} plays {describe_cell(cell, record.rules)}."]
        lines += [f"{self._who(mark)} is passed over from here." for at, mark in record.passed if at == ply]
        lines += [f"{{{clean_text(text)}}}" for at, text in record.comments if at == ply]
        if ply == self.last:
            lines.append(self.describe_end())
        return lines

    def view(self, ply: int) -> BoardView:
        """Return what is to be drawn after this many moves: the board, the last move, the deciding line."""
        position = self.positions[ply]
        line = frozenset(position.outcome.line if position.outcome else ())
        return BoardView(self.record.rules, position.board, position.last, line)

    def draw(self, ply: int, *, colour: bool = False) -> list[str]:
        """Return the board after this many moves, the last one marked."""
        return render_board(self.view(ply), BoardStyle(colour=colour))

    def state(self, ply: int) -> RoomState:
        """Return the position after this many moves as a room would show it to a watcher, for the words about it."""
        record, position = self.record, self.positions[ply]
        names = dict(record.players)
        seats = {mark: SeatState(mark, names.get(mark) or mark, True, None) for mark in record.rules.marks}
        return RoomState(
            room="",
            seq=ply,
            status="playing",
            visibility="public",
            game=1,
            rules=RulesState.of(record.rules),
            board=position.board,
            ply=position.ply,
            turn=position.turn,
            last=position.last,
            seats=dict(seats),
            result=None,
            offers=Offers(),
            clock=None,
            watchers=0,
            score={},
        )

    def summarise(self) -> dict[str, Any]:
        """Return the whole game for programs; `players` are by mark."""
        record, result = self.record, self.record.result
        rules = RulesState.of(record.rules)
        return {
            "rules": {name: getattr(rules, name) for name in RulesState.__struct_fields__},
            "players": dict(record.players),
            "date": record.date,
            "room": record.room,
            "game": record.game,
            "moves": record.moves,
            "passed": [{"ply": ply, "mark": mark} for ply, mark in record.passed],
            "result": None if result is None else {"winner": result.winner, "reason": result.reason},
        }

    def position(self, ply: int) -> dict[str, Any]:
        """Return one position for programs, in the words of a room's state."""
        position = self.positions[ply]
        is_over = ply == self.last and self.record.result is not None
        return {
            "ply": ply,
            "board": position.board,
            "turn": None if is_over else position.turn,
            "last": position.last,
            "line": position.outcome.line if position.outcome else (),
            "comments": [text for at, text in self.record.comments if at == ply],
        }

    def _who(self, mark: str) -> str:
        name = dict(self.record.players).get(mark)
        return mark if name is None else f"{clean_text(name) or '?'} ({mark})"


def _describe_clock(clock: SeatClock | MoveClock) -> str:
    if isinstance(clock, MoveClock):
        return f"{clock.move_ms / 1000:g} s a move"
    return f"{clock.initial_ms / 60_000:g}+{clock.increment_ms / 1000:g}"
