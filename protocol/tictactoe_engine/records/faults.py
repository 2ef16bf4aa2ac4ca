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
    "reason": "A game ends by {reasons}, not by {reason}.",
    "no reason": "The board does not end this game, so the tag Reason must tell why it ended.",
    "long text": "This is longer than {most} characters.",
    "unprintable": "This character cannot be printed: U+{number}.",
    "open comment": "This comment is never closed.",
    "no place": "The character {character} does not belong here.",
    "tag name here": "The name of a tag belongs here: letters, digits and _.",
    "tag value here": 'The value of a tag belongs here: one line in quotation marks, with a backslash before " and \\.',
    "open tag": "A ] belongs here, to close the tag.",
    "rules twice": "The rules are given both by name and in full: {rules} is enough.",
    "rules": "There are no rules named {rules}. Presets: {presets}.",
    "cell": "{word} is not a cell. Cells have names such as b2.",
    "whole": "{tag} is a whole number, not {value}.",
    "clock": "A clock looks like 180+2 or 10/move (seconds), not like {value}.",
    "passed word": "A player who is out is written like A@4, not like {word}.",
    "nobody": "The name is missing here.",
    "flag": "{tag} is true or false, not {value}.",
    "game number": "Games are numbered from 1 to {most}, not {value}.",
    "empty": "This has at least one character.",
    "no line": "The board says otherwise: no line is complete.",
    "not full": "The board says otherwise: cells are free.",
    "needs winner": "A resignation or a timeout has a winner.",
    "agreed": "Only a draw can be agreed.",
    "nobody wins": "Nobody wins a forfeit without a winner: its result is none.",
    "not last": "{mark} is not the last one left: {others} still play.",
    "not last, out": "{mark} is not the last one left: it was out.",
    "won": "The board says otherwise: {mark} won by {reason}.",
    "drawn": "The board says otherwise: it is a draw, the board is {reason}.",
    "no mark": "There is no mark {mark} in this game: {marks}.",
    "two players": "Each mark has one player.",
    "date": "A date looks like 2030-12-31 or 2030-12-31T18:05:00Z, not like {value}.",
    "day": "There is no such day: {day}.",
    "clock time": "A clock shows at least a millisecond and at most a day.",
    "tag name": "A tag has 2 to 64 letters, digits or _ and begins with a letter: {tag}.",
    "tag spelling": "The tag {tag} has a meaning, and is written {known}.",
    "comment place": "A comment after {ply} moves has no place among {moves}.",
    "comment": "A comment has at least one word, and no closing brace.",
    "long value": "This has at most {most} characters, not {length}.",
    "choice": "{turn} has to choose here, by the rule {rule}: {options}.",
    "no choice": "There is nothing to choose here.",
    "comment choice": "A comment must not look like a choice of the opening.",
    "chosen late": "{take} cannot be chosen: no choice is due within {moves} moves.",
    "passed late": "{mark} cannot be out after {ply} moves: there are only {moves}.",
    "passed order": "{mark} is out after {ply} moves, which is not in order.",
    "passed": "{mark} cannot be out after {ply} moves. {error}",
}
"""The sentence for each fault, by the fault's name. The catalogue has the same sentences under ``bad record NAME``."""


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
