"""What a typed line means: pure text to the values of `intents`.

The board's shape decides which words are cells; nothing here knows whose turn it is or what lies on the board.
"""

from __future__ import annotations

import difflib
from typing import Final

from tictactoe_client.input import intents
from tictactoe_client.input.cells import find_column
from tictactoe_client.input.intents import BadInput, Intent, Look, Place, QueryKind, Read, ReadKind, Verb, VerbKind
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

_QUERIES: Final[dict[str, QueryKind]] = {
    "board": "board",
    "last": "last",
    "clock": "clock",
    "clocks": "clock",
    "who": "who",
    "free": "free",
    "runs": "runs",
    "help": "help",
}
_SHORT: Final[dict[str, QueryKind]] = {
    "b": "board",
    "l": "last",
    "c": "clock",
    "o": "who",
    "f": "free",
    "r": "runs",
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
"""What may follow these words; of the answers to offers the last three are not shown."""
_LOOKS: Final[dict[str, ReadKind]] = {"around": "around", "a": "around", "diagonals": "diagonals", "d": "diagonals"}
_SPEECH: Final = frozenset({"chat", "say"})
_WORDS: Final = (
    *_QUERIES,
    *("chat", "say", "mute", "unmute", "save", "around", "diagonals", "marks", "moves", "value", "review", "mistakes"),
    *(word for word in (*_STEPS, *_VERBS) if len(word) > 1),
)
MOST_WAYS_SHOWN: Final = 3
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
        return intents.Nothing()
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


def _means_command(body: str, rules: Rules, coordinates: Coordinates | str) -> bool:
    """Tell whether a line would ask for something if it began with a slash."""
    try:
        return _parse_command(body, rules, Keys.PHONE, coordinates) is not None
    except BadInput:
        return False


def is_farewell(line: str) -> bool:
    """Tell whether a line asks to leave, whatever the board."""
    return _VERBS.get(line.strip().lstrip("/:").strip().lower()) in ("leave", "quit")


def _parse_command(body: str, rules: Rules, keys: Keys | str, coordinates: Coordinates | str) -> Intent | None:
    word, _, argument = body.partition(" ")
    word, argument = word.lower(), argument.strip()
    if word in _SPEECH:
        return _parse_speech(argument)
    if word in ("mute", "unmute"):
        return _parse_muting(word, argument)
    if word == "save":
        return intents.Save(argument)
    if word in _LOOKS:
        return Read(_LOOKS[word], _parse_place(argument, rules, keys, coordinates).cell if argument else None)
    if word in ("s", "read"):
        return _parse_read(argument, rules, coordinates)
    if word in ("m", "marks"):
        return _parse_marks(argument.upper(), rules)
    if word == "moves":
        return intents.Moves(_parse_count(argument, "moves"))
    if body.lower() == "mistakes":
        return intents.Mistakes()
    if word in ("value", "review"):
        return intents.Weigh(_parse_count(argument, word))
    if word in ("b", "board") and argument:
        return Look("at", _parse_count(argument, word) or 0)
    if body.lower() in _STEPS:
        return _STEPS[body.lower()]
    if argument and word not in _ARGUMENTS:
        return None
    if argument and word in _ARGUMENTS and argument.lower() not in _ARGUMENTS[word]:
        ways = [word, *(f"{word} {argument}" for argument in _ARGUMENTS[word][:MOST_WAYS_SHOWN])]
        raise BadInput("bad_input", f"Type {', '.join(ways[:-1])} or {ways[-1]}.")
    if word in _VERBS:
        return Verb(_VERBS[word], argument.lower())
    kind = _QUERIES.get(word) or _SHORT.get(word)
    return None if kind is None or argument else intents.Query(kind)


def _parse_speech(text: str) -> intents.Say:
    if not text:
        raise BadInput("bad_input", "Say what? Type chat and then your words.")
    if len(text) > MAX_CHAT_LENGTH:
        raise BadInput("too_long", f"Too long: {len(text)} of {MAX_CHAT_LENGTH} characters.")
    return intents.Say(text)


def _parse_muting(word: str, name: str) -> intents.Mute:
    if word == "unmute" and not name:
        raise BadInput("bad_input", "Hear whom again? Type unmute and a name; mute alone says who is muted.")
    return intents.Mute(name, word == "mute")


def _parse_marks(mark: str, rules: Rules) -> intents.Marks:
    if mark and (len(mark) != 1 or mark not in rules.marks):
        raise BadInput("bad_input", f"There is no such mark here: {' '.join(rules.marks)}.")
    return intents.Marks(mark or None)


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
