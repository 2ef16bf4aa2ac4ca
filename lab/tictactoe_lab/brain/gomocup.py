"""The Gomocup protocol: writes and reads rules, boards, cells and time limits as protocol text. Pure functions.

Source: P. Laštovička, "Gomoku AI protocol", https://plastovicka.github.io/protocl2en.htm. A cell is ``x,y``: column,
then row, both counted from 0.
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
"""The moves and the opening choices made so far."""
LINE: Final = 5
FREE_MOVE_MS: Final = 30_000
"""The time for a move if the game has no clock."""
FREE_LAG_MS: Final = 5_000
"""Grace period after `FREE_MOVE_MS`."""
_NO_LIMIT_MS: Final = 2**31 - 1
_MAX_LAG_MS: Final = 1_000
_SWAP: Final = "SWAP"
_CELL: Final = re.compile(r"(\d{1,4}),(\d{1,4})", re.ASCII)


def check_playable(rules: Rules) -> None:
    """Raise `Misuse` if engines cannot play this game."""
    is_plain = not (rules.gravity or rules.misere or rules.blocked) and rules.opening in (None, "swap2")
    if not is_plain or len(rules.marks) != 2 or rules.line != LINE:
        raise Misuse(say("engine cannot play"))


def say_start(rules: Rules) -> str:
    """Return the command that sets up the board: ``START`` if it is square, as some engines lack ``RECTSTART``."""
    is_square = rules.rows == rules.columns
    return f"START {rules.rows}" if is_square else f"RECTSTART {rules.columns},{rules.rows}"


def say_cell(cell: int, rules: Rules) -> str:
    """Return a cell in the protocol's notation.

    >>> say_cell(16, Rules(15, 15, 5))
    '1,1'
    """
    return f"{cell % rules.columns},{cell // rules.columns}"


def read_cell(text: str, rules: Rules) -> int | None:
    """Return the cell that `text` names, or None if it is malformed or off the board.

    >>> read_cell("14,0", Rules(15, 15, 5)), read_cell("15,0", Rules(15, 15, 5))
    (14, None)
    """
    match = _CELL.fullmatch(text.replace(" ", ""))
    column, row = map(int, match.groups()) if match else (rules.columns, 0)
    return row * rules.columns + column if column < rules.columns and row < rules.rows else None


def say_board(position: Position, seen: tuple[int, ...] | None = None) -> Iterator[str]:
    """Yield the lines that request a move.

    These are ``BEGIN`` on an empty board, ``TURN`` if the engine has `seen` all moves but the last, else ``BOARD``.
    """
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
    """Yield the lines that request the next step of a swap2 opening; they list the stones of the earlier steps."""
    yield "SWAP2BOARD"
    for cell in position.moves[: next(stones for stones in (5, 3, 0) if stones <= position.ply)]:
        yield say_cell(cell, position.rules)
    yield "DONE"


def read_opening(answer: str, position: Position) -> dict[Moment, int | str]:
    """Return the engine's moves and choices, keyed by the moment when each is due; {} if the answer is illegal.

    The engine has the second colour: it keeps that colour by placing a stone, and takes the first with ``SWAP``.
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
    """The time limits sent to the engine, in ms, and the `seconds` after which its answer is too late."""

    turn_ms: int
    match_ms: int
    left_ms: int
    seconds: float

    def say(self) -> Iterator[str]:
        """Yield the ``INFO`` lines with these limits."""
        yield f"INFO timeout_turn {self.turn_ms}"
        yield f"INFO timeout_match {self.match_ms}"
        yield f"INFO time_left {self.left_ms}"


def time_for_move(turn_ms: int, lag_ms: int) -> Time:
    """Return the limits of a game with a fixed time per move and a grace period of `lag_ms`."""
    return Time(turn_ms, 0, _NO_LIMIT_MS, (turn_ms + lag_ms) / 1000)


def find_time(state: RoomState, mark: str) -> Time:
    """Return the limits of the next move of `mark`, by the clock of a state that has just arrived.

    A reserve for network latency is subtracted. With a clock for the whole game, a move gets a tenth of the remaining
    time or the increment, so that an engine that always uses its whole move time never runs out.
    """
    clock, terms = state.clock, state.time_control
    if clock is None or terms is None:
        return time_for_move(FREE_MOVE_MS, FREE_LAG_MS)
    due_ms = clock.remaining_ms.get(mark, 0) if clock.start_ms is UNSET else clock.start_ms
    lag_ms = min(_MAX_LAG_MS, due_ms // 5)
    usable_ms, seconds = due_ms - lag_ms, (due_ms - lag_ms / 2) / 1000
    if terms.initial_ms is UNSET or terms.increment_ms is UNSET:
        return Time(usable_ms, 0, _NO_LIMIT_MS, seconds)
    left_ms = clock.remaining_ms.get(mark, 0) - lag_ms
    turn_ms = min(usable_ms, max(left_ms // 10, min(left_ms, terms.increment_ms)))
    return Time(turn_ms, terms.initial_ms, left_ms, seconds)
