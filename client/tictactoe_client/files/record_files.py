"""Records on disk: read with the place of every fault, and written without ever taking another file's place."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from tictactoe_client.settings import Misuse
from tictactoe_engine.records import GameRecord, RecordError, format_record, parse_records
from tictactoe_protocol import clean_text

STANDARD_STREAM: Final = "-"
MAX_RECORD_BYTES: Final = 4_000_000
"""No record is longer: a million characters of four bytes."""


def read_records(name: str) -> tuple[GameRecord, ...]:
    """Return the games in a file, at least one, ``-`` being standard input.

    Raises `Misuse` with one line for a file that cannot be read or is none of ours: its name, the line, the column.
    """
    content = _read(name)
    try:
        text = content.decode("utf-8", "strict" if len(content) <= MAX_RECORD_BYTES else "ignore")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8").removeprefix("\ufeff")
        fault = RecordError.at(f"This byte is no UTF-8: 0x{content[error.start]:02X}.", before, len(before))
        raise _describe(name, fault) from None
    try:
        records = parse_records(text)
    except RecordError as fault:
        is_record = text.lstrip("\ufeff \t\r\n")[:1] in _BEGINNINGS or len(text) > MAX_RECORD_BYTES // 4
        raise _describe(name, fault, is_record=is_record) from None
    if not records:
        raise _describe(name, RecordError("There is no record here.", 1, 1))
    return records


def write_record(name: str, record: GameRecord) -> None:
    """Write a game to a new file, or to standard output for ``-``; raises `Misuse`, and then changed nothing."""
    text = format_record(record)
    if name == STANDARD_STREAM:
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return
    path = Path(name).expanduser()
    is_begun = False
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            is_begun = True
            file.write(text)
    except FileExistsError:
        raise Misuse(f"{clean_text(name)} exists already. Nothing was overwritten.") from None
    except (OSError, ValueError) as error:
        if is_begun:
            path.unlink(missing_ok=True)
        raise Misuse(f"Cannot write {clean_text(name)}: {_reason(error)}.") from None


_BEGINNINGS: Final = ("[", ";", "{", "%", "", *"0123456789*")
"""What a record may begin with: a tag, a comment, a number or a result."""


def _read(name: str) -> bytes:
    try:
        if name == STANDARD_STREAM:
            return sys.stdin.buffer.read(MAX_RECORD_BYTES + 4)
        with open(Path(name).expanduser(), "rb") as file:
            return file.read(MAX_RECORD_BYTES + 4)
    except (OSError, ValueError) as error:
        raise Misuse(f"Cannot read {clean_text(name)}: {_reason(error)}.") from None


def _describe(name: str, fault: RecordError, *, is_record: bool = True) -> Misuse:
    """Return what is wrong with a file, and that it is no record at all where it does not begin like one."""
    shown = "standard input" if name == STANDARD_STREAM else clean_text(name)
    if not is_record:
        shown = f"{'Standard input' if name == STANDARD_STREAM else shown} is no game record: it"
        return Misuse(f'{shown} begins with neither a tag such as [X "ana"] nor a move.')
    return Misuse(f"{shown}, line {fault.line}, column {fault.column}: {clean_text(fault.message)}")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number).lower() if number else clean_text(str(error)).rstrip(".")
