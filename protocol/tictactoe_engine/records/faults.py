"""The errors in records: impossible content, and text with a fault at a line and a column."""

from __future__ import annotations

import re
from typing import Any, Final

from tictactoe_engine.errors import GameError

_LINE_END: Final = re.compile(r"\r\n|\r|\n")

WORDS: Final = {
    "none": "There is no record here.",
    "another": "A second record begins here, where only one is expected.",
    "tag twice": "The tag {tag} appears twice.",
    "tag among moves": "This tag stands among moves: the previous record lacks its result.",
    "no move": "No move follows the number {number}.",
    "no result": "The result is missing: {results}.",
    "number": "The next move belongs to {expected}, not to {shown}.",
    "word": "{word} is neither a move such as b2 nor a result of this game.",
    "other result": "This is {word}, but the tag Result says {result}.",
    "reason of running": "A running game has no reason for its end.",
    "no reason": "The board does not end this game, so the tag Reason must tell why it ended.",
    "unprintable": "This character cannot be printed: U+{number}.",
    "open": "This is never closed: {bracket} is missing.",
    "no place": "The character {character} does not belong here.",
    "tag name here": "The name of a tag belongs here: letters, digits and _.",
    "tag value here": 'The value of a tag belongs here: one line in quotation marks, with a backslash before " and \\.',
    "value": "{value} is not valid here. Write it like {example}.",
    "rules twice": "The rules are given both by name and in full: {rules} is enough.",
    "empty": "Something is missing here.",
    "board": "The board says otherwise.",
    "mismatch": "This result cannot have this reason.",
    "not last": "{mark} is not the last one left.",
    "won": "The board says otherwise: {mark} won by {reason}.",
    "drawn": "The board says otherwise: it is a draw, the board is {reason}.",
    "no mark": "There is no mark {mark} in this game: {marks}.",
    "two players": "Each mark has one player.",
    "day": "There is no such day: {day}.",
    "clock time": "A clock shows at least a millisecond and at most a day.",
    "tag spelling": "The tag {tag} has a meaning, and is written {known}.",
    "comment place": "A comment after {ply} moves has no place among {moves}.",
    "long": "This is longer than {most} characters.",
    "choice": "{turn} has to choose here, by the rule {rule}: {options}.",
    "no choice": "There is nothing to choose here.",
    "comment choice": "A comment must not look like a choice of the opening.",
    "chosen late": "{take} cannot be chosen: no choice is due within {moves} moves.",
    "passed late": "{mark} cannot be out after {ply} moves: there are only {moves}.",
    "passed order": "{mark} is out after {ply} moves, which is not in order.",
    "passed": "{mark} cannot be out after {ply} moves. {error}",
}
"""The sentence for each fault, by the fault's name."""


def fault(why: str, **data: Any) -> GameError:
    """Return the fault with the name `why`, whose sentence is filled from `data`.

    >>> fault("no move", number=3).message
    'No move follows the number 3.'
    """
    return GameError("bad_record", WORDS[why].format_map(data), {"why": why, **data})


class InvalidRecord(GameError):
    """A record whose content is impossible.

    Attributes:
        part: The attribute with the fault (``date``, ``result``), or the element of an attribute (``moves[3]``,
            ``passed[0]``, ``comments[0]``, ``players[X]``, ``tags[Event]``).
    """

    def __init__(self, fault: GameError, part: str) -> None:
        super().__init__(fault.code, fault.message, fault.data)
        self.part = part


class RecordError(GameError):
    """Text that is not a record, or that describes an impossible game. Its message is safe to print.

    Attributes:
        line: Line of the fault, from 1.
        column: Column of the fault in characters, from 1; a tab is one character.
    """

    def __init__(self, fault: GameError, line: int, column: int) -> None:
        super().__init__(fault.code, fault.message, fault.data)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"

    @classmethod
    def at(cls, fault: GameError, text: str, offset: int) -> RecordError:
        """Return the error that points at the character of `text` at `offset`, or at the end of `text`."""
        line, start = 1, 0
        for end in _LINE_END.finditer(text, 0, offset):
            line, start = line + 1, end.end()
        return cls(fault, line, offset - start + 1)
