"""The game that was just played, as a file: `save` in every face of the client."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tictactoe_client.files.record_files import STANDARD_STREAM, write_record
from tictactoe_client.online.errors import Refused, Unreachable
from tictactoe_client.settings import Misuse
from tictactoe_engine import IllegalMove, Position
from tictactoe_engine.records import (
    GameRecord,
    GameResult,
    InvalidRecord,
    MoveClock,
    RecordError,
    SeatClock,
    parse_record,
)
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.requests import ClockTerms

if TYPE_CHECKING:
    from tictactoe_client.online.room import Room

_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9]{1,32}", re.ASCII)


def name_for(record: GameRecord) -> str:
    """Return what to call a record's file where nobody says: by room and number, as far as they are known.

    Records come from anywhere: a room that is no plain word might lead out of this folder, and counts as unknown.

    >>> name_for(GameRecord(room="K7M4PQ", game=2)), name_for(GameRecord(room="../x"))
    ('tictactoe-K7M4PQ-2.txt', 'tictactoe-game.txt')
    """
    room = record.room if record.room is not None and _PLAIN_WORD.fullmatch(record.room) else "game"
    return f"tictactoe-{room}.txt" if record.game is None else f"tictactoe-{room}-{record.game}.txt"


async def save_game(name: str, state: RoomState, room: Room) -> str:
    """Write the finished game of a state to a new file and return what to say; raises `ConnectionLost`.

    Those who played get the server's own record; for watchers it is made of what they can see.
    """
    if state.status != "over":
        return "The game is not over yet: save it then."
    if state.result is not None and state.result.reason == "aborted":
        return "A game that ended before it had begun is not saved."
    name = name or f"tictactoe-{state.room}-{state.game}.txt"
    if name == STANDARD_STREAM:
        return "Save needs the name of a file."
    try:
        record = await _fetch(state, room) or record_of(state, await room.sync(), datetime.now(UTC))
        write_record(name, record)
    except (InvalidRecord, Refused):
        return "The game could not be saved: the server does not tell its moves any more."
    except Misuse as misuse:
        return f"{misuse.message} Type save and another name."
    return f"The game is saved in {clean_text(name)}"


def record_of(state: RoomState, moves: Sequence[int], now: datetime) -> GameRecord:
    """Return the record of a state with these moves, as of now; raises `InvalidRecord` where they do not belong to it.

    A state says who was passed over, but not when: in the record that is when it first showed.
    """
    rules = state.rules.to_rules()
    result = None if state.result is None else GameResult(state.result.reason, state.result.winner)
    return GameRecord(
        rules=rules,
        moves=tuple(moves),
        result=result,
        players=tuple((mark, clean_text(seat.name)) for mark, seat in state.seats.items() if seat is not None),
        date=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        room=state.room,
        game=state.game,
        clock=_clock_of(state.time_control),
        passed=_find_passed(state, moves, Position.start(rules)),
    )


async def _fetch(state: RoomState, room: Room) -> GameRecord | None:
    """Return the server's record of the game, or None where we did not play it."""
    try:
        text = await room.record(state.game)
        return None if text is None else parse_record(text)
    except (Refused, RecordError, Unreachable):
        return None


def _find_passed(state: RoomState, moves: Sequence[int], position: Position) -> tuple[tuple[int, str], ...]:
    """Return who did not move when it was their turn, and at the end whoever else the state calls out of the game."""
    try:
        for cell in moves:
            mover = state.board[cell]
            while position.turn not in (mover, None):
                position = position.pass_over(str(position.turn))
            following = position.play(cell)
            position = _pass_over_the_rest(state, position).play(cell) if following.outcome else following
        if position.outcome is None:
            position = _pass_over_the_rest(state, position)
    except (IndexError, IllegalMove, ValueError) as error:
        raise InvalidRecord(f"These moves do not lead to this board: {error}", "moves") from None
    return position.passed


def _pass_over_the_rest(state: RoomState, position: Position) -> Position:
    """Return the position without those whom the state calls out of the game."""
    for mark, seat in state.seats.items():
        if seat is not None and seat.out and mark in position.active_marks:
            position = position.pass_over(mark)
    return position


def _clock_of(terms: ClockTerms | None) -> SeatClock | MoveClock | None:
    if terms is None:
        return None
    if isinstance(terms.move_ms, int):
        return MoveClock(terms.move_ms)
    return SeatClock(terms.initial_ms or 0, terms.increment_ms or 0)
