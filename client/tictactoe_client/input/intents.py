"""What a person may want, as values that are the same for every face of the client, and what a typed line means.

The board's shape decides which words are cells; nothing here knows whose turn it is or what lies on the board. Pure.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final, Literal, get_args

from tictactoe_client.input.cells import find_column
from tictactoe_client.text.wording import is_move_by_letter, name_columns
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

QueryKind = Literal["board", "last", "clock", "who", "free", "runs", "help"]
ReadKind = Literal["row", "column", "cell", "around", "diagonals"]
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
    """Read a part of the board aloud: a row or column from 0, or a cell, None for the one of the last move."""

    kind: ReadKind
    index: int | None


@dataclass(frozen=True, slots=True)
class Marks:
    """List the cells of a mark, of all marks where None."""

    mark: str | None = None


@dataclass(frozen=True, slots=True)
class Moves:
    """List the last `count` moves, all of them where None."""

    count: int | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Show the board of another moment: after `number` moves, so many moves on or back, or the present one.

    A ``mistake`` is the next one, with `number` -1 the one before. With `may_be_no` it was typed as ``n``, which where
    something was asked means no.
    """

    kind: Literal["at", "by", "live", "mistake"]
    number: int = 0
    may_be_no: bool = False


@dataclass(frozen=True, slots=True)
class Weigh:
    """Say what the position after `ply` moves is worth, the one that is looked at where None."""

    ply: int | None = None


@dataclass(frozen=True, slots=True)
class Mistakes:
    """List the moves of the finished game that gave something away."""


@dataclass(frozen=True, slots=True)
class Say:
    """Say something to everybody in the room."""

    text: str


@dataclass(frozen=True, slots=True)
class Mute:
    """Hear no more of somebody, or again; of nobody by name: say who is muted."""

    name: str
    is_muted: bool = True


@dataclass(frozen=True, slots=True)
class Verb:
    """Do something about the game or the room; `argument` is what followed the word, perhaps empty."""

    kind: VerbKind
    argument: str = ""


@dataclass(frozen=True, slots=True)
class Save:
    """Write the finished game to this file, to one with a name of the client's own where it is empty."""

    file: str = ""


Intent = Nothing | Place | Query | Read | Marks | Moves | Look | Weigh | Mistakes | Say | Mute | Verb | Save


class BadInput(ValueError):
    """A line that cannot be carried out: `code` is ``bad_input``, ``off_board`` or ``too_long``; `message` is told."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


_QUERIES: Final[dict[str, QueryKind]] = {kind: kind for kind in get_args(QueryKind)} | {"clocks": "clock"}
_SHORT: Final[dict[str, QueryKind]] = dict(zip("blcofrh?", (*get_args(QueryKind), "help"), strict=True))
_VERBS: Final[dict[str, VerbKind]] = {kind: kind for kind in get_args(VerbKind)} | {
    "exit": "quit",
    "y": "yes",
    "accept": "yes",
    "decline": "no",
}
_STEPS: Final[dict[str, Look]] = {
    "n": Look("by", 1, may_be_no=True),
    "next": Look("by", 1),
    "p": Look("by", -1),
    "previous": Look("by", -1),
    "back": Look("by", -1),
    "live": Look("live"),
    "mistake": Look("mistake", 1),
    "next mistake": Look("mistake", 1),
    "previous mistake": Look("mistake", -1),
}
_ANSWERS: Final = ("accept", "decline", "withdraw", "offer", "yes", "no")
_ARGUMENTS: Final[dict[str, tuple[str, ...]]] = {"draw": _ANSWERS, "undo": _ANSWERS, "claim": ("win", "draw")}
_MOST_WAYS_SHOWN: Final = 3
"""Of the answers to offers the last three are not shown."""
_WORDS: Final = (
    *_QUERIES,
    *("chat", "say", "mute", "unmute", "save", "around", "diagonals", "marks", "moves", "value", "review", "mistakes"),
    *(word for word in (*_STEPS, *_VERBS) if len(word) > 1),
)
_SIMILAR_ENOUGH: Final = 0.75


def parse_intent(
    line: str,
    rules: Rules,
    *,
    keys: Keys | str = Keys.PHONE,
    coordinates: Coordinates | str = Coordinates.ROW_COLUMN_1,
    plays: bool = True,
) -> Intent:
    """Return what a line asks for; raises `BadInput`.

    A leading ``/`` or ``:`` says that a command follows, never a cell by its key; where letters place marks, the
    one-letter queries need it, except of one who only looks on and never `plays`. Where marks fall, a column's letter
    alone is a move in it: its topmost cell stands for all of them.

    >>> parse_intent("b2", Rules()), parse_intent("b", Rules()), parse_intent("s 1", Rules())
    (Place(cell=4), Query(kind='board'), Read(kind='row', index=0))
    """
    text = line.strip()
    if not text:
        return Nothing()
    marked = text[0] in "/:"
    body = text[1:].strip() if marked else text
    if body and not (plays and not marked and is_move_by_letter(body, rules, keys)):
        command = _parse_command(body, rules, keys, coordinates)
        if command is not None:
            return command
    place_keys = Keys.PHONE if marked and keys == Keys.LETTERS else keys
    try:
        return _parse_place(body, rules, place_keys, coordinates)
    except BadInput as bad:
        if not marked and bad.code == "bad_input" and _means_command(body, rules, coordinates):
            raise BadInput("bad_input", f'I don\'t know "{text}". Did you mean /{text}?') from None
        raise


def is_farewell(line: str) -> bool:
    """Tell whether a line asks to leave, whatever the board."""
    return _VERBS.get(line.strip().lstrip("/:").strip().lower()) in ("leave", "quit")


def _means_command(body: str, rules: Rules, coordinates: Coordinates | str) -> bool:
    """Tell whether a line would ask for something if it began with a slash."""
    try:
        return _parse_command(body, rules, Keys.PHONE, coordinates) is not None
    except BadInput:
        return False


def _parse_command(body: str, rules: Rules, keys: Keys | str, coordinates: Coordinates | str) -> Intent | None:
    word, _, argument = body.partition(" ")
    word, argument = word.lower(), argument.strip()
    match word:
        case "chat" | "say":
            return _parse_speech(argument)
        case "mute" | "unmute":
            if word == "unmute" and not argument:
                raise BadInput("bad_input", "Hear whom again? Type unmute and a name; mute alone says who is muted.")
            return Mute(argument, word == "mute")
        case "save":
            return Save(argument)
        case "a" | "around" | "d" | "diagonals":
            cell = _parse_place(argument, rules, keys, coordinates).cell if argument else None
            return Read("around" if word[0] == "a" else "diagonals", cell)
        case "s" | "read":
            return _parse_read(argument, rules, coordinates)
        case "m" | "marks":
            mark = argument.upper()
            if mark and mark not in tuple(rules.marks):
                raise BadInput("bad_input", f"There is no such mark here: {' '.join(rules.marks)}.")
            return Marks(mark or None)
        case "moves":
            return Moves(_parse_count(argument, word))
        case "value" | "review":
            return Weigh(_parse_count(argument, word))
        case "b" | "board" if argument:
            return Look("at", _parse_count(argument, word) or 0)
        case "mistakes" if not argument:
            return Mistakes()
    if body.lower() in _STEPS:
        return _STEPS[body.lower()]
    if argument and argument.lower() not in (ways := _ARGUMENTS.get(word, ())):
        if not ways:
            return None
        told = [word, *(f"{word} {way}" for way in ways[:_MOST_WAYS_SHOWN])]
        raise BadInput("bad_input", f"Type {', '.join(told[:-1])} or {told[-1]}.")
    if word in _VERBS:
        return Verb(_VERBS[word], argument.lower())
    kind = _QUERIES.get(word) or _SHORT.get(word)
    return None if kind is None else Query(kind)


def _parse_speech(text: str) -> Say:
    if not text:
        raise BadInput("bad_input", "Say what? Type chat and then your words.")
    if len(text) > MAX_CHAT_LENGTH:
        raise BadInput("too_long", f"Too long: {len(text)} of {MAX_CHAT_LENGTH} characters.")
    return Say(text)


def _parse_count(text: str, word: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    raise BadInput("bad_input", f"Type {word}, or {word} and a number: {word} 5.")


def _parse_read(word: str, rules: Rules, coordinates: Coordinates | str) -> Read:
    if word.isascii() and word.isdigit() and len(word) <= 3:
        if 1 <= int(word) <= rules.rows:
            return Read("row", int(word) - 1)
        raise BadInput("off_board", f"There is no row {word}: rows 1-{rules.rows}.")
    if word.isascii() and word.isalpha() and len(word) <= 2:
        if parse_column(word) < rules.columns:
            return Read("column", parse_column(word))
        raise BadInput("off_board", f"There is no column {word.upper()}: columns A-{format_column(rules.columns - 1)}.")
    try:
        return Read("cell", parse_cell(word, rules, coordinates=coordinates))
    except IllegalMove as illegal:
        raise BadInput("off_board", illegal.message) from None
    except UnknownNotation:
        raise BadInput("bad_input", "Read what? Type s and a column, a row or a cell: s A, s 1, s b2.") from None


def _parse_place(body: str, rules: Rules, keys: Keys | str, coordinates: Coordinates | str) -> Place:
    try:
        return Place(parse_cell(body, rules, keys=keys, coordinates=coordinates))
    except IllegalMove as illegal:
        raise BadInput("off_board", illegal.message) from None
    except UnknownNotation as unknown:
        column = find_column(body, rules) if rules.gravity else None
        if column is not None:
            return Place(column)
        raise BadInput("bad_input", _describe_unknown(body, rules, unknown)) from None


def _describe_unknown(body: str, rules: Rules, unknown: UnknownNotation) -> str:
    close = difflib.get_close_matches(body.lower(), _WORDS, 1, _SIMILAR_ENOUGH) if len(body) < 40 else []
    if close:
        return f'I don\'t know "{body}". Did you mean {close[0]}?'
    if rules.gravity and not has_single_keys(rules):
        head = unknown.message.partition(" A move looks like")[0]
        return f"{head} A move is a column, {name_columns(rules)}. ? for help."
    return unknown.message
