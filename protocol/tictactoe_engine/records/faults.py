"""The two ways for a record to be wrong: content that cannot be, and text that says so at a line and a column."""

from __future__ import annotations

import re
from typing import Any, Final

from tictactoe_engine.errors import Data, IllegalMove, InvalidRules, UnknownNotation

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


WORDS: Final = {
    "none": "There is no record here.",
    "another": "Another record begins here; one was expected.",
    "tag twice": "The tag {tag} stands here twice.",
    "tag among moves": "A tag among the moves: the result of the record before it is missing.",
    "no move": "No move follows the number {number}.",
    "no result": "The result is missing: {results}.",
    "number": "The next move belongs to {expected}, not to {shown}.",
    "word": "{word} is no move like b2, and no result of this game.",
    "other result": "This is {word}, but the tag Result says {result}.",
    "reason of running": "A game that runs has no reason for its end.",
    "reason": "A game ends by {reasons}, not by {reason}.",
    "no reason": "The board does not end this game: the tag Reason has to say why it ended.",
    "long text": "This is longer than {most} characters.",
    "unprintable": "This cannot be printed: U+{number}.",
    "open comment": "This comment is never closed.",
    "no place": "There is no place here for {character}.",
    "tag name here": "A tag's name belongs here: letters, digits and _.",
    "tag value here": "A tag's value belongs here, in quotation marks.",
    "backslash": 'A backslash stands before " or \\ alone.',
    "open value": "This value is never closed: a quotation mark is missing in its line.",
    "open tag": "A ] belongs here, to close the tag.",
    "rules twice": "Rules that have a name are not spelled out as well: {rules} says it all.",
    "rules": "There are no rules named {rules}. Presets: {presets}.",
    "cell": "{word} is no cell: cells are named like b2.",
    "whole": "{tag} is a whole number, not {value}.",
    "clock": "A clock looks like 180+2 or 10/move (seconds), not like {value}.",
    "passed word": "Who is passed over is written like A@4, not like {word}.",
    "nobody": "Nobody is named here.",
    "flag": "{tag} is true or false, not {value}.",
    "game number": "Games are numbered from 1 to {most}, not {value}.",
    "empty": "This has at least one character.",
    "no winner": "There is no mark {mark} in this game.",
    "no line": "The board says otherwise: no line is complete.",
    "not full": "The board says otherwise: cells are free.",
    "agreed": "What the players agree on is a draw.",
    "no winner resigned": "A game that is resigned has a winner.",
    "no winner timeout": "A game that is timeout has a winner.",
    "nobody wins": "Nobody wins a forfeit without a winner: its result is none.",
    "not last": "{mark} is not the last one left: {others} still play.",
    "not last, out": "{mark} is not the last one left: it was passed over.",
    "over won": "This game is over: {mark} won by {reason}.",
    "over drawn": "This game is over: it is a draw, the board is {reason}.",
    "otherwise won": "The board says otherwise: {mark} won by {reason}.",
    "otherwise drawn": "The board says otherwise: it is a draw, the board is {reason}.",
    "no mark": "There is no mark {mark} in this game: {marks}.",
    "two players": "Each mark has one player.",
    "date": "A date looks like 2030-12-31 or 2030-12-31T18:05:00Z, not like {value}.",
    "day": "No calendar has the day {day}.",
    "clock time": "A clock shows at least a millisecond and at most a day.",
    "tag name": "A tag has 2 to 64 letters, digits or _ and begins with a letter: {tag}.",
    "tag spelling": "The tag {tag} has a meaning, and is written {known}.",
    "comment place": "A comment after {ply} moves has no place among {moves}.",
    "comment": "A comment has at least one word, and no closing brace.",
    "long value": "This has at most {most} characters, not {length}.",
    "choice": "Here {turn} has to choose, as {rule} has it: {options}.",
    "no choice": "Nothing is to be chosen here.",
    "comment choice": "A comment may not read like a choice of the opening.",
    "chosen late": "{take} cannot be chosen: no choice is due within {moves} moves.",
    "passed late": "{mark} cannot be passed over after {ply} moves: there are {moves}.",
    "passed order": "{mark} is passed over after {ply} moves, out of order.",
    "passed": "{mark} cannot be passed over after {ply} moves. {error}",
}
"""What can be wrong with a record; the catalogue has each of these by ``bad record`` and its name."""


class Telling(str):
    """What is wrong in English, and as a code with data, from which another language says the same."""

    code: str
    data: Data

    def __new__(cls, message: str, code: str = "bad_record", data: Data | None = None) -> Telling:
        """Return the message, which is as good as any string."""
        telling = super().__new__(cls, message)
        telling.code, telling.data = code, data or {}
        return telling

    @classmethod
    def of(cls, error: IllegalMove | InvalidRules | UnknownNotation) -> Telling:
        """Return what another error says."""
        return cls(error.message, error.code, error.data)


def tell(why: str, **data: Any) -> Telling:
    """Return one of the faults that a record can have, with its places filled.

    >>> tell("no move", number=3)
    'No move follows the number 3.'
    """
    return Telling(WORDS[why].format_map(data), data={"why": why, **data})


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
