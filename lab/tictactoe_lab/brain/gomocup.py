"""What the Gomocup protocol can say of games of ours: rules, boards, cells and time. Pure.

Source: P. Laštovička, "Gomoku AI protocol", https://plastovicka.github.io/protocl2en.htm, whose cells are ``x,y``, the
column first, both from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from tictactoe_client.settings import Misuse
from tictactoe_engine import IllegalMove, Position, Rules
from tictactoe_engine.opening import MORE
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say

Moment = tuple[tuple[int, ...], tuple[str, ...]]
"""What was played and chosen before something."""
LINE: Final = 5
FREE_MOVE_MS: Final = 30_000
"""What an engine is given for a move where no clock runs."""
FREE_LAG_MS: Final = 5_000
"""By how much it may overrun that."""
_NO_LIMIT_MS: Final = 2**31 - 1
_MOST_LAG_MS: Final = 1_000
_SWAP: Final = "SWAP"
_CELL: Final = re.compile(r"(\d{1,4}),(\d{1,4})", re.ASCII)


def check_playable(rules: Rules) -> None:
    """Raise `Misuse` that says why, where no engine can play this."""
    obstacles = {
        "engine marks": len(rules.marks) != 2,
        "engine gravity": rules.gravity,
        "engine misere": rules.misere,
        "engine blocked": bool(rules.blocked),
        "engine line": rules.line != LINE,
        "engine pie": rules.opening not in (None, "swap2"),
    }
    for id, is_there in obstacles.items():
        if is_there:
            raise Misuse(say("engine cannot play", why=say(id)))


def say_start(rules: Rules) -> str:
    """Return the command that sets the board up, for any that is as wide as high the one that every engine knows."""
    is_square = rules.rows == rules.columns
    return f"START {rules.rows}" if is_square else f"RECTSTART {rules.columns},{rules.rows}"


def say_cell(cell: int, rules: Rules) -> str:
    """Return a cell as an engine knows it.

    >>> say_cell(16, Rules(15, 15, 5))
    '1,1'
    """
    return f"{cell % rules.columns},{cell // rules.columns}"


def read_cell(text: str, rules: Rules) -> int | None:
    """Return the cell that stands there, None where it is off the board or none stands there.

    >>> read_cell("14,0", Rules(15, 15, 5)), read_cell("15,0", Rules(15, 15, 5))
    (14, None)
    """
    found = _CELL.fullmatch(text.replace(" ", ""))
    column, row = map(int, found.groups()) if found else (rules.columns, 0)
    return row * rules.columns + column if column < rules.columns and row < rules.rows else None


def say_board(position: Position, seen: tuple[int, ...] | None = None) -> Iterator[str]:
    """Yield what has an engine move: ``BEGIN``, ``TURN`` where it has `seen` all but the last stone, or all stones."""
    if not position.moves:
        yield "BEGIN"
    elif position.moves[:-1] == seen:
        yield f"TURN {say_cell(position.moves[-1], position.rules)}"
    else:
        yield "BOARD"
        for cell in position.moves:
            yield f"{say_cell(cell, position.rules)},{1 if position.board[cell] == position.turn else 2}"
        yield "DONE"


def say_opening(position: Position) -> Iterator[str]:
    """Yield what has an engine act in an opening by swap2: the stones that the other one has seen last."""
    yield "SWAP2BOARD"
    for cell in position.moves[: next(stones for stones in (5, 3, 0) if stones <= position.ply)]:
        yield say_cell(cell, position.rules)
    yield "DONE"


def read_opening(answer: str, position: Position) -> dict[Moment, int | str]:
    """Return what an engine plays and chooses from here on, each by what lies before it; empty for what cannot be.

    Its own colour, the second, an engine keeps by playing on; ``SWAP`` takes the first one.
    """
    opening, marks, words = position.opening, position.rules.marks, answer.split()
    cells = [cell for word in words if (cell := read_cell(word, position.rules)) is not None]
    acts: list[int | str] = []
    if not position.options:
        acts += [cell for cell in cells if cell in position.legal_cells][: opening.left if opening else 0]
    elif answer == _SWAP:
        acts += [marks[0]]
    elif len(cells) == len(words):
        acts += [marks[1] if len(cells) == 1 else MORE, *cells]
    plan: dict[Moment, int | str] = {}
    try:
        for act in acts:
            plan[position.moves, position.chosen] = act
            position = position.choose(act) if isinstance(act, str) else position.play(act)
    except IllegalMove:
        return {}
    return plan


@dataclass(frozen=True, slots=True)
class Time:
    """What an engine is told of its time, in ms, and after how many seconds it is over."""

    turn_ms: int
    match_ms: int
    left_ms: int
    seconds: float

    def say(self) -> Iterator[str]:
        """Yield the words for it."""
        yield f"INFO timeout_turn {self.turn_ms}"
        yield f"INFO timeout_match {self.match_ms}"
        yield f"INFO time_left {self.left_ms}"


def time_for_move(turn_ms: int, lag_ms: int) -> Time:
    """Return the time of who has so much for each move, and may overrun that by some."""
    return Time(turn_ms, 0, _NO_LIMIT_MS, (turn_ms + lag_ms) / 1000)


def find_time(state: RoomState, mark: str) -> Time:
    """Return what is left for the move that a mark has to make, by the clock of the state that has just come.

    The way to the server and back is kept aside. Of a clock for the whole game a move gets a tenth, or the increment,
    so that an engine that uses up what it is given for a move never runs out of time.
    """
    clock, terms = state.clock, state.time_control
    if clock is None or terms is None:
        return time_for_move(FREE_MOVE_MS, FREE_LAG_MS)
    due_ms = clock.remaining_ms.get(mark, 0) if clock.start_ms is UNSET else clock.start_ms
    lag_ms = min(_MOST_LAG_MS, due_ms // 5)
    usable_ms, seconds = due_ms - lag_ms, (due_ms - lag_ms / 2) / 1000
    if terms.initial_ms is UNSET or terms.increment_ms is UNSET:
        return Time(usable_ms, 0, _NO_LIMIT_MS, seconds)
    left_ms = clock.remaining_ms.get(mark, 0) - lag_ms
    turn_ms = min(usable_ms, max(left_ms // 10, min(left_ms, terms.increment_ms)))
    return Time(turn_ms, terms.initial_ms, left_ms, seconds)
