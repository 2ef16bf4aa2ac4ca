"""From the text of a record to its words: tags, comments, numbers and the rest, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tictactoe_engine.errors import quote
from tictactoe_engine.records.faults import RecordError, tell

MAX_TEXT_LENGTH: Final = 1_000_000

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_SUSPECT: Final = re.compile(r"[^ -~\t\r\n]")
_TAG_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_VALUE: Final = re.compile(r'(?:[^"\\\r\n]|\\["\\])*')
_ESCAPE: Final = re.compile(r"\\(.)")
_COMMENT: Final = re.compile(r"\{([^}]*)\}")
_NUMBER: Final = re.compile(r"([0-9]{1,6})(\.+)", re.ASCII)
_WORD: Final = re.compile(r'[^ \t\r\n{}\[\]"]+')


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag pair; `offset` is where it stands, `name_offset` its name, `value_offset` the first character in quotes."""

    name: str
    raw: str
    offset: int
    name_offset: int
    value_offset: int

    @property
    def value(self) -> str:
        """What stands in the quotation marks, escapes undone."""
        return _ESCAPE.sub(r"\1", self.raw)

    @property
    def words(self) -> tuple[Word, ...]:
        """The words of a value that has no escapes."""
        found = re.finditer(r"[^ ]+", self.raw)
        return tuple(Word(match[0], self.value_offset + match.start()) for match in found)


@dataclass(frozen=True, slots=True)
class Comment:
    """What stands in braces."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class Number:
    """A round's number, and the dots behind it."""

    number: int
    dots: str
    offset: int


@dataclass(frozen=True, slots=True)
class Word:
    """Anything else up to the next blank, brace, bracket or quotation mark: a move or a result."""

    text: str
    offset: int


Token = Tag | Comment | Number | Word


def scan(text: str) -> Iterator[Token]:
    """Yield the words of `text`; raises `RecordError` for what has no place, is too long or cannot be printed."""
    if len(text) > MAX_TEXT_LENGTH:
        raise RecordError.at(tell("long text", most=MAX_TEXT_LENGTH), text, MAX_TEXT_LENGTH)
    for suspect in _SUSPECT.finditer(text):
        if not suspect[0].isprintable():
            raise RecordError.at(tell("unprintable", number=f"{ord(suspect[0]):04X}"), text, suspect.start())
    offset = _skip_blanks(text, 0)
    while offset < len(text):
        token, end = _scan_token(text, offset)
        yield token
        offset = _skip_blanks(text, end)


def _scan_token(text: str, offset: int) -> tuple[Token, int]:
    """Return the token at `offset`, and where it ends."""
    if text[offset] == "[":
        return _scan_tag(text, offset)
    if text[offset] == "{":
        comment = _COMMENT.match(text, offset)
        if comment is None:
            raise RecordError.at(tell("open comment"), text, offset)
        return Comment(comment[1], offset), comment.end()
    if number := _NUMBER.match(text, offset):
        return Number(int(number[1]), number[2], offset), number.end()
    if word := _WORD.match(text, offset):
        return Word(word[0], offset), word.end()
    raise RecordError.at(tell("no place", character=quote(text[offset])), text, offset)


def _scan_tag(text: str, offset: int) -> tuple[Tag, int]:
    name_offset = _skip_blanks(text, offset + 1)
    name = _TAG_NAME.match(text, name_offset)
    if name is None:
        raise RecordError.at(tell("tag name here"), text, name_offset)
    quotation = _skip_blanks(text, name.end())
    if not text.startswith('"', quotation):
        raise RecordError.at(tell("tag value here"), text, quotation)
    value = _VALUE.match(text, quotation + 1)
    end = quotation + 1 if value is None else value.end()
    if text.startswith("\\", end):
        raise RecordError.at(tell("backslash"), text, end)
    if not text.startswith('"', end):
        raise RecordError.at(tell("open value"), text, quotation)
    bracket = _skip_blanks(text, end + 1)
    if not text.startswith("]", bracket):
        raise RecordError.at(tell("open tag"), text, bracket)
    return Tag(name[0], text[quotation + 1 : end], offset, name_offset, quotation + 1), bracket + 1


def _skip_blanks(text: str, offset: int) -> int:
    blanks = _BLANKS.match(text, offset)
    return offset if blanks is None else blanks.end()
