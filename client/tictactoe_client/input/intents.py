"""Parses a typed line into an `Intent`: a move, or a command of the table of commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from typing import Final

from tictactoe_client.input.cells import find_column
from tictactoe_client.settings import Misuse
from tictactoe_client.text.language import plain, understood
from tictactoe_client.text.wording import describe_unknown, is_move_by_letter, name_columns
from tictactoe_engine import (
    Coordinates,
    IllegalMove,
    Keys,
    Rules,
    UnknownNotation,
    format_column,
    has_single_keys,
    number_row,
    parse_cell,
)
from tictactoe_engine.errors import shorten
from tictactoe_engine.notation import off_board, parse_column
from tictactoe_words.catalogue import say
from tictactoe_words.commands import TABLE, Intent, Look, Place, Query, Verb, words_of
from tictactoe_words.refusals import describe_fault


class BadInput(Misuse):
    """A line that cannot be carried out; `code` is ``unknown`` if it begins with an unknown word."""

    def __init__(self, message: str, code: str = "bad_input") -> None:
        super().__init__(message)
        self.code = code


_WAYS: Final = {row.means.kind: row.ways for row in TABLE if isinstance(row.means, Verb) and row.ways}
_MOST_WAYS_SHOWN: Final = 3


@lru_cache(maxsize=4)
def _know_phrases(language: str) -> dict[str, Intent]:
    """Return the intent of every phrase in the current language, which must be `language`, and in English."""
    return _list_phrases(understood) | {"n": Look("by", 1, may_be_no=True)}


def _list_phrases(words: Callable[[str], Iterable[str]]) -> dict[str, Intent]:
    phrases = {word: row.means for row in TABLE if row.means is not None for id in row.word_ids for word in words(id)}
    for kind, ways in _WAYS.items():
        for way in ways:
            answers = (f"{word} {answer}" for word in words(kind) for answer in words(f"way {way}"))
            phrases |= dict.fromkeys(answers, Verb(kind, way))
    return phrases


def parse_intent(
    line: str,
    rules: Rules,
    *,
    keys: Keys | str = Keys.PHONE,
    coordinates: Coordinates | str = Coordinates.ROW_COLUMN_1,
    plays: bool = True,
) -> Intent:
    """Return the intent of a line; raises `BadInput`.

    A leading ``/`` or ``:`` marks a command; players need it for one-letter commands if letters place marks. With
    gravity, a column's letter is a move, returned as the column's top cell.

    >>> parse_intent("b2", Rules()), parse_intent("b", Rules()), parse_intent("s 1", Rules())
    (Place(cell=4), Query(kind='board', number=None), Query(kind='row', number=0))
    """
    text = line.strip()
    if not text:
        return Query("turn")
    marked = text[0] in "/:"
    body = text[1:].strip() if marked else text
    is_by_letter = plays and not marked and is_move_by_letter(body, rules, keys)
    if body and not is_by_letter and (command := _parse_command(body, rules, keys, coordinates)):
        return command
    try:
        return Place(_parse_place(body, rules, Keys.PHONE if marked and keys == Keys.LETTERS else keys, coordinates))
    except BadInput:
        intent = None
        if is_by_letter:
            with suppress(BadInput):
                intent = _parse_command(body, rules, Keys.PHONE, coordinates)
        if intent is None:
            raise
        raise BadInput(describe_unknown(text, say("did you mean", word=f"/{text}"))) from None


def _parse_command(body: str, rules: Rules, keys: Keys | str, coordinates: Coordinates | str) -> Intent | None:
    word, _, argument = body.partition(" ")
    word, argument, phrases = plain(word), argument.strip(), _know_phrases(say("language"))
    match phrases.get(word):
        case Verb("unmute") if not argument:
            raise BadInput(say("unmute whom"))
        case Verb("chat" | "mute" | "unmute" | "save" | "block" as kind):
            return Verb(kind, argument)
        case Verb("challenge" | "plan" as kind) if argument and plain(body) not in phrases:
            return Verb(kind, argument)
        case Query("cell"):
            return _parse_read(argument, rules, coordinates)
        case Query("around" | "diagonals" as part) if argument:
            return Query(part, _parse_place(argument, rules, keys, coordinates))
        case Query("marks") if argument:
            return Query("marks", rules.marks.index(_parse_mark(argument, rules)))
        case Verb("choose", ""):
            return Verb("choose", _parse_mark(argument, rules))
        case Query("moves" | "value" as part) if argument:
            return Query(part, _parse_count(argument, word))
        case Query("board") if argument:
            return Look("at", _parse_count(argument, word))
        case Verb("draw" | "undo" | "claim" as kind) if argument and plain(body) not in phrases:
            ways = [f"{word} {words_of(f'way {way}')[0]}" for way in _WAYS[kind][:_MOST_WAYS_SHOWN]]
            alternatives = say("or", first=", ".join([word, *ways[:-1]]), last=ways[-1])
            raise BadInput(say("please type", words=alternatives))
    return phrases.get(plain(body))


def _parse_count(text: str, word: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= 4:
        return int(text)
    raise BadInput(say("please type a number", word=word))


def _parse_mark(text: str, rules: Rules) -> str:
    if text.upper() in tuple(rules.marks):
        return text.upper()
    raise BadInput(say("no such mark", marks=" ".join(rules.marks)))


def _parse_read(word: str, rules: Rules, coordinates: Coordinates | str) -> Query:
    if word.isascii() and word.isdigit() and len(word) <= 3:
        if 1 <= int(word) <= rules.rows:
            return Query("row", number_row(int(word) - 1, rules) - 1)
        raise BadInput(describe_fault(off_board(word, ("row", 1, rules.rows))), "off_board")
    if word.isascii() and word.isalpha() and len(word) <= 2:
        if parse_column(word) < rules.columns:
            return Query("column", parse_column(word))
        limits = "column", "A", format_column(rules.columns - 1)
        raise BadInput(describe_fault(off_board(word.upper(), limits)), "off_board")
    try:
        return Query("cell", _parse_place(word, rules, Keys.PHONE, coordinates))
    except BadInput as bad:
        if bad.code == "off_board":
            raise
        raise BadInput(say("read what")) from None


def _parse_place(body: str, rules: Rules, keys: Keys | str, coordinates: Coordinates | str) -> int:
    try:
        return parse_cell(body, rules, keys=keys, coordinates=coordinates)
    except IllegalMove as illegal:
        raise BadInput(describe_fault(illegal), "off_board") from None
    except UnknownNotation:
        column = find_column(body, rules) if rules.gravity else None
        if column is not None:
            return column
        typed = shorten(body.strip())
        phrases = [phrase for phrase in _list_phrases(words_of) if len(phrase) > 1]
        raise BadInput(describe_unknown(typed, describe_move(rules), phrases), "unknown") from None


def describe_move(rules: Rules) -> str:
    """Return a sentence about how to type a move on this board."""
    if has_single_keys(rules):
        return say("move looks like, keys")
    return say("move is a column", columns=name_columns(rules)) if rules.gravity else say("move looks like")
