"""What a typed line means: pure text to typed values, the same for every face of the client.

The board's shape decides which words are cells; nothing here knows whose turn it is or what lies on the board.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final, Literal

from tictactoe_engine import (
    Coordinates,
    IllegalMove,
    Keys,
    Rules,
    UnknownNotation,
    format_column,
    has_single_keys,
    parse_cell,
)
from tictactoe_engine.notation import parse_column
from tictactoe_protocol.codes import MAX_CHAT_LENGTH

QueryKind = Literal["board", "last", "clock", "who", "free", "help"]
VerbKind = Literal["resign", "rematch", "new", "leave", "quit", "draw", "undo", "claim", "yes", "no"]


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty line: repeat whose move it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """Play this cell, row-major from 0."""

    cell: int


@dataclass(frozen=True, slots=True)
class Query:
    """Tell me something; changes nothing."""

    kind: QueryKind


@dataclass(frozen=True, slots=True)
class Read:
    """Read one row or column aloud, counted from 0."""

    axis: Literal["row", "column"]
    index: int


@dataclass(frozen=True, slots=True)
class Say:
    """Say something to everybody in the room."""

    text: str


@dataclass(frozen=True, slots=True)
class Verb:
    """Do something about the game or the room; `argument` is what followed the word, perhaps empty."""

    kind: VerbKind
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Save:
    """Write the finished game to this file, to one with a name of the client's own where it is empty."""

    file: str = ""


Intent = Nothing | Place | Query | Read | Say | Verb | Save


class BadInput(ValueError):
    """A line that cannot be carried out as it stands.

    `code` is ``bad_input``, ``off_board`` or ``too_long``; `message` is the sentence for whoever typed it.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


_QUERIES: Final[dict[str, QueryKind]] = {
    "board": "board",
    "last": "last",
    "clock": "clock",
    "clocks": "clock",
    "who": "who",
    "free": "free",
    "help": "help",
}
_SHORT: Final[dict[str, QueryKind]] = {
    "b": "board",
    "l": "last",
    "c": "clock",
    "o": "who",
    "f": "free",
    "h": "help",
    "?": "help",
}
_VERBS: Final[dict[str, VerbKind]] = {
    "resign": "resign",
    "rematch": "rematch",
    "new": "new",
    "leave": "leave",
    "quit": "quit",
    "exit": "quit",
    "draw": "draw",
    "undo": "undo",
    "claim": "claim",
    "yes": "yes",
    "y": "yes",
    "no": "no",
    "n": "no",
}
_TAKING_ARGUMENT: Final = frozenset({"draw", "undo", "claim"})
_SPEECH: Final = frozenset({"chat", "say"})
_WORDS: Final = (*_QUERIES, "chat", "say", "save", *(word for word in _VERBS if len(word) > 1))
_SIMILAR_ENOUGH: Final = 0.75


def parse_intent(
    line: str,
    rules: Rules,
    *,
    keys: Keys | str = Keys.PHONE,
    coordinates: Coordinates | str = Coordinates.ROW_COLUMN_1,
) -> Intent:
    """Return what a line asks for; raises `BadInput`.

    A leading ``/`` or ``:`` says that a command follows, never a cell by its key; where letters place marks, the
    one-letter queries need it.

    >>> parse_intent("b2", Rules()), parse_intent("b", Rules()), parse_intent("s 1", Rules())
    (Place(cell=4), Query(kind='board'), Read(axis='row', index=0))
    """
    text = line.strip()
    if not text:
        return Nothing()
    marked = text[0] in "/:"
    body = text[1:].strip() if marked else text
    letters_place = has_single_keys(rules) and keys == Keys.LETTERS and not marked
    if body and not (letters_place and len(body.split()[0]) == 1):
        command = _parse_command(body, rules)
        if command is not None:
            return command
    place_keys = Keys.PHONE if marked and keys == Keys.LETTERS else keys
    return _parse_place(text, body, rules, place_keys, coordinates)


def is_farewell(line: str) -> bool:
    """Tell whether a line asks to leave, whatever the board."""
    return _VERBS.get(line.strip().lstrip("/:").strip().lower()) in ("leave", "quit")


def _parse_command(body: str, rules: Rules) -> Intent | None:
    word, _, argument = body.partition(" ")
    word, argument = word.lower(), argument.strip()
    if word in _SPEECH:
        return _parse_speech(argument)
    if word == "save":
        return Save(argument)
    if word in ("s", "read"):
        return _parse_read(argument, rules)
    if argument and word not in _TAKING_ARGUMENT:
        return None
    if word in _VERBS:
        return Verb(_VERBS[word], argument.lower())
    kind = _QUERIES.get(word) or _SHORT.get(word)
    return None if kind is None or argument else Query(kind)


def _parse_speech(text: str) -> Say:
    if not text:
        raise BadInput("bad_input", "Say what? Type chat and then your words.")
    if len(text) > MAX_CHAT_LENGTH:
        raise BadInput("too_long", f"Too long: {len(text)} of {MAX_CHAT_LENGTH} characters.")
    return Say(text)


def _parse_read(word: str, rules: Rules) -> Read:
    if word.isascii() and word.isdigit() and len(word) <= 3:
        if 1 <= int(word) <= rules.rows:
            return Read("row", int(word) - 1)
        raise BadInput("off_board", f"There is no row {word}: rows 1-{rules.rows}.")
    if word.isascii() and word.isalpha() and len(word) <= 2:
        if parse_column(word) < rules.columns:
            return Read("column", parse_column(word))
        raise BadInput("off_board", f"There is no column {word.upper()}: columns A-{format_column(rules.columns - 1)}.")
    raise BadInput("bad_input", "Read what? Type s and a column or row: s A, or s 1.")


def _parse_place(text: str, body: str, rules: Rules, keys: Keys | str, coordinates: Coordinates | str) -> Place:
    try:
        return Place(parse_cell(body, rules, keys=keys, coordinates=coordinates))
    except IllegalMove as illegal:
        raise BadInput("off_board", illegal.message) from None
    except UnknownNotation as unknown:
        close = difflib.get_close_matches(body.lower(), _WORDS, 1, _SIMILAR_ENOUGH) if len(body) < 40 else []
        if close:
            raise BadInput("bad_input", f'I don\'t know "{text}". Did you mean {close[0]}?') from None
        raise BadInput("bad_input", unknown.message) from None
