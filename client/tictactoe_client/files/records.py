"""Reads game records, reporting the place of an error, and writes them without ever replacing a file."""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tictactoe_client.files.writer import create_file
from tictactoe_client.online.errors import ProtocolBroken, Refused, Unreachable, describe_cause
from tictactoe_client.online.room import Room, position_after
from tictactoe_client.settings import Misuse
from tictactoe_engine.records import (
    DayClock,
    GameRecord,
    GameResult,
    InvalidRecord,
    MoveClock,
    RecordError,
    SeatClock,
    format_record,
    parse_record,
    parse_records,
)
from tictactoe_engine.records.faults import fault
from tictactoe_engine.records.reader import MAX_TEXT_LENGTH
from tictactoe_protocol import clean_text
from tictactoe_protocol.events import round_of
from tictactoe_protocol.pushes import RoomState
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_refusal

STANDARD_STREAM: Final = "-"
_PLAIN_WORD: Final = re.compile(r"[A-Za-z0-9]{1,32}", re.ASCII)


def read_records(name: str) -> tuple[GameRecord, ...]:
    """Return the games in a file, at least one; ``-`` is standard input. Raises `Misuse` with the place of an error."""
    path = None if name == STANDARD_STREAM else Path(name).expanduser()
    shown = clean_text(name) if path else say("standard input")
    try:
        with open(path or 0, encoding="utf-8", newline="", closefd=path is not None) as file:
            records = parse_records(file.read(MAX_TEXT_LENGTH + 1))
    except RecordError as error:
        raise Misuse(
            say("record fault", file=shown, line=error.line, column=error.column, why=_explain(error))
        ) from None
    except (OSError, ValueError) as error:
        raise _cannot("record unreadable file", name, error) from None
    if not records:
        raise Misuse(say("record no such", file=shown))
    return records


def write_record(name: str, record: GameRecord) -> None:
    """Write a game to a new file, or to standard output for ``-``; raises `Misuse`."""
    text = format_record(record)
    if name == STANDARD_STREAM:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    try:
        create_file(Path(name).expanduser(), text)
    except FileExistsError:
        raise Misuse(say("record exists", file=clean_text(name))) from None
    except (OSError, ValueError) as error:
        raise _cannot("file not written", name, error) from None


def name_for(record: GameRecord) -> str:
    """Return a file name from the record's room and game number, such as ``tictactoe-K7M4PQ-1.txt``."""
    room = record.room if record.room is not None and _PLAIN_WORD.fullmatch(record.room) else "game"
    return f"tictactoe-{room}.txt" if record.game is None else f"tictactoe-{room}-{record.game}.txt"


def save_record(record: GameRecord, name: str) -> str:
    """Write a game to a new file, and return a sentence that says so; raises `Misuse`."""
    if name == STANDARD_STREAM:
        raise Misuse(say("save needs name"))
    write_record(name, record)
    return say("saved in", file=clean_text(name))


async def save_game(name: str, state: RoomState, room: Room) -> str:
    """Write the finished game of a room to a new file; return a sentence about the result. Raises `ConnectionLost`."""
    if state.status != "over":
        return say("refused not_allowed playing")
    if state.result is not None and state.result.reason == "aborted":
        return say("save aborted")
    record = None
    with suppress(Refused, RecordError, Unreachable):
        if (text := await room.record(state.game)) is not None:
            record = parse_record(text)
    try:
        record = record or record_of(state, datetime.now(UTC))  # the server gives records only to players
        return await asyncio.to_thread(save_record, record, name or name_for(record))
    except (InvalidRecord, Refused):
        return say("save no moves")
    except Misuse as misuse:
        return say("save another name", why=misuse.message)


def record_of(state: RoomState, now: datetime) -> GameRecord:
    """Return the record of a state; raises `InvalidRecord` if its moves do not lead to its board."""
    try:
        position = position_after(state)
    except ProtocolBroken:
        raise InvalidRecord(fault("board"), "moves") from None
    result = None if state.result is None else GameResult(state.result.reason, state.result.winner)
    clock: SeatClock | MoveClock | DayClock | None = None
    if (terms := state.time_control) is not None and terms.counts_days:
        clock = DayClock(terms.days or 0, terms.bank_days or 0)
    elif terms is not None:
        per_move, initial_ms, increment_ms = terms.move_ms, terms.initial_ms or 0, terms.increment_ms or 0
        clock = MoveClock(per_move) if isinstance(per_move, int) else SeatClock(initial_ms, increment_ms)
    return GameRecord(
        rules=position.rules,
        moves=position.moves,
        result=result,
        players=tuple((mark, clean_text(seat.name)) for mark, seat in state.seats.items() if seat is not None),
        date=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        event=state.event or None,
        round=round_of(state.pairing or "") or None,
        room=state.room,
        game=state.game,
        clock=clock,
        passed=position.passed,
        chosen=position.chosen,
    )


def describe_fault(error: RecordError) -> str:
    return say("record place", line=error.line, column=error.column, why=_explain(error))


def _explain(error: RecordError) -> str:
    """Return our sentence about an illegal move, or the engine's English sentence about any other error."""
    return clean_text(describe_refusal(error.code, error.data) or error.message)


def _cannot(do: str, name: str, error: OSError | ValueError) -> Misuse:
    return Misuse(say(do, file=clean_text(name), why=clean_text(describe_cause(error)).rstrip(".")))
