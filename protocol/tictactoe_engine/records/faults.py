"""The two ways for a record to be wrong: content that cannot be, and text that says so at a line and a column."""

from __future__ import annotations

import re
from typing import Final

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class InvalidRecord(ValueError):
    """Content that no game has; `message` is for people.

    `part` names what is at fault: an attribute of the record (``date``, ``result``), or one of several
    (``moves[3]``, ``passed[0]``, ``comments[0]``, ``players[X]``, ``tags[Event]``).
    """

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.message = message
        self.part = part

    def __reduce__(self) -> tuple[object, ...]:
        return (InvalidRecord, (self.message, self.part))


class RecordError(ValueError):
    """Text that is no record, or the record of an impossible game; safe to print.

    `line` and `column` count from 1 and in characters, and tell where the fault stands; a tab is one character.
    """

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[object, ...]:
        return (RecordError, (self.message, self.line, self.column))

    @classmethod
    def at(cls, message: str, text: str, offset: int) -> RecordError:
        """Return the error that points at one character of `text`, or at its end."""
        line, start = 1, 0
        for end in _LINE_END.finditer(text, 0, offset):
            line, start = line + 1, end.end()
        return cls(message, line, offset - start + 1)
