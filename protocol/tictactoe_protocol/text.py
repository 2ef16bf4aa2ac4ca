"""Makes names and chat lines safe to print by removing control, bidirectional and invisible characters.

The invisible ranges come from Unicode's property Default_Ignorable_Code_Point; some blank symbols were added.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from tictactoe_protocol.codes import ErrorCode
from tictactoe_protocol.refusals import Refusal

MAX_NAME_LENGTH: Final = 24
MAX_STACKED_MARKS: Final = 4
"""The largest number of combining marks on a character. Languages need fewer; more would cover neighbouring lines."""

_NAME_PUNCTUATION: Final = frozenset("_-.' ")
_EQUIVALENTS: Final = str.maketrans(
    dict.fromkeys("`\u00b4\u02b9\u02bb\u02bc\u05f3\u2018\u2019\u201b\u2032\uff07", "'")
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-")
    | dict.fromkeys("\u00b7\u0387\u2027\uff0e", ".")
    | {"\u2026": "...", "\uff3f": "_", "\u30fb": " ", "\uff65": " "}
)
"""Punctuation that telephones and word processors write instead of ``'``, ``-``, ``.``, ``_`` and spaces."""
_JOINERS: Final = "\u200c\u200d"
_JOINED: Final = (
    "\u0620-\u064a\u066e-\u066f\u0671-\u06d3\u06d5\u06fa-\u06fc\u0750-\u077f"  # Arabic
    "\u0904-\u0939\u0985-\u09b9\u0a05-\u0a39\u0a85-\u0ab9\u0b05-\u0b39\u0b85-\u0bb9"  # Devanagari to Tamil
    "\u0c05-\u0c39\u0c85-\u0cb9\u0d05-\u0d3a\u0d85-\u0dc6"  # Telugu to Sinhala
)
_VIRAMAS: Final = "\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca"
_LOOSE_JOINER: Final = re.compile(f"[{_JOINERS}](?![{_JOINED}])|(?<![{_JOINED}{_VIRAMAS}])[{_JOINERS}]")
"""Matches joiners that are not between letters of a script that needs them; the same ranges are in `text.js`."""
_INVISIBLE_RANGES: Final = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180D),
    (0x180F, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
"""Invisible characters that Unicode puts in categories of visible characters."""
_PLAIN: Final = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027]*")  # Latin letters, dashes, quotes, dots
_UNDECODABLE: Final = re.compile("[\ud800-\udfff]")
_UNPRINTABLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class BadName(Refusal, ValueError):
    """A name that is not allowed; `message` explains why."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(ErrorCode.BAD_NAME, why, **data)


@lru_cache(maxsize=4096)
def is_printable(character: str) -> bool:
    """Return whether a character is visible and has no effect on other characters. A space counts as visible."""
    number = ord(character)
    if 0x20 <= number < 0x7F:
        return True
    if unicodedata.category(character) in _UNPRINTABLE_CATEGORIES:
        return False
    return not _is_in_invisible_range(number)


@lru_cache(maxsize=512)
def clean_text(text: str) -> str:
    """Return `text` without control, format, bidirectional and invisible characters, so that it is safe to print.

    A character keeps at most four combining marks. Joiners are kept between letters of scripts that need them.

    >>> clean_text("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    if (text.isascii() and text.isprintable()) or _PLAIN.fullmatch(text):
        return text
    kept, stacked = [], 0
    printable = "".join(character for character in text if character in _JOINERS or is_printable(character))
    for character in _LOOSE_JOINER.sub("", printable):
        stacked = stacked + 1 if _stacks(character) else 0
        if stacked <= MAX_STACKED_MARKS:
            kept.append(character)
    return "".join(kept)


def escape_text(text: str) -> str:
    """Return `text` with JSON escapes for unprintable characters. JSON on one line keeps its meaning.

    >>> escape_text('"a\\x9b\\u202eb"')
    '"a\\\\u009b\\\\u202eb"'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if is_printable(character) else json.dumps(character)[1:-1].replace("\x7f", "\\u007f")
        for character in text
    )


def find_undecodable(arguments: Iterable[str], environment: Mapping[str, str]) -> str:
    """Return the first argument or ``TICTACTOE_`` variable that has bytes that are not UTF-8, shown as ``?``, or "".

    >>> find_undecodable(["-n", "J\\udcfcrgen"], {})
    'J?rgen'
    """
    variables = (f"{name}={value}" for name, value in environment.items() if name.startswith("TICTACTOE_"))
    for text in (*arguments, *variables):
        if _UNDECODABLE.search(text):
            return _UNDECODABLE.sub("?", text)
    return ""


def parse_name(text: str) -> str:
    """Return the normal form of a name; raises `BadName`.

    A name consists of 1 to 24 letters, digits, combining marks, inner spaces, and ``_ - . '``. The normal form is NFC
    with plain punctuation, single spaces, and no invisible characters except for joiners between letters.

    >>> parse_name(" Zoe\\u0308\\u00a0 O\\u2019Neil ")
    "Zoë O'Neil"
    """
    visible = _LOOSE_JOINER.sub("", "".join(character for character in text if not _is_invisible(character)))
    name = " ".join(unicodedata.normalize("NFC", visible).translate(_EQUIVALENTS).split())
    if not name:
        raise BadName("empty")
    if len(name) > MAX_NAME_LENGTH:
        raise BadName("long", most=MAX_NAME_LENGTH, length=len(name))
    for character in name:
        is_joiner = character in _JOINERS
        if not is_joiner and not is_printable(character):
            raise BadName("hidden")
        category = unicodedata.category(character)
        is_letter = is_joiner or category[0] in "LM" or category == "Nd"
        if not is_letter and character not in _NAME_PUNCTUATION:
            raise BadName("character", character=character)
    if unicodedata.category(name[0])[0] == "M":
        raise BadName("mark")
    if clean_text(name) != name:
        raise BadName("stack", most=MAX_STACKED_MARKS)
    return name


def _is_invisible(character: str) -> bool:
    if character in _JOINERS:
        return False
    return unicodedata.category(character) == "Cf" or _is_in_invisible_range(ord(character))


def _is_in_invisible_range(number: int) -> bool:
    return any(first <= number <= last for first, last in _INVISIBLE_RANGES)


@lru_cache(maxsize=4096)
def _stacks(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) in ("Mn", "Me")
