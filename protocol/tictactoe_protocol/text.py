"""Makes names and chat lines safe to print: without control, bidirectional and invisible characters.

Source of the invisible ranges: Unicode's Default_Ignorable_Code_Point property, and blank symbols.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from typing import Any, Final

from tictactoe_protocol.codes import ErrorCode
from tictactoe_protocol.refusals import Refusal

MAX_NAME_LENGTH: Final = 24
MAX_STACKED_MARKS: Final = 4
"""The most combining marks of one character: languages need fewer, and more of them cover neighbouring lines."""

_NAME_PUNCTUATION: Final = frozenset("_-.' ")
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
"""Invisible characters in categories of visible ones."""
_PLAIN: Final = re.compile("[ -~\u00a1-\u00ac\u00ae-\u02ff\u2010-\u2027]*")  # Latin letters, dashes, quotes, dots
_UNPRINTABLE_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class BadName(Refusal, ValueError):
    """A name that is not allowed; `message` is the reason."""

    def __init__(self, why: str, **data: Any) -> None:
        super().__init__(ErrorCode.BAD_NAME, why, **data)


@lru_cache(maxsize=4096)
def is_printable(character: str) -> bool:
    """Return whether a character is visible and has no effect on others; the space counts as visible."""
    number = ord(character)
    if 0x20 <= number < 0x7F:
        return True
    if unicodedata.category(character) in _UNPRINTABLE_CATEGORIES:
        return False
    return not any(first <= number <= last for first, last in _INVISIBLE_RANGES)


@lru_cache(maxsize=512)
def clean_text(text: str) -> str:
    """Return `text` without control, format, bidirectional and invisible characters; safe to print and to log.

    At most four combining marks of a character are kept.

    >>> clean_text("a\\x1b[31mb\\u202ec")
    'a[31mbc'
    """
    if (text.isascii() and text.isprintable()) or _PLAIN.fullmatch(text):
        return text
    kept, stacked = [], 0
    for character in text:
        if is_printable(character):
            stacked = stacked + 1 if _stacks(character) else 0
            if stacked <= MAX_STACKED_MARKS:
                kept.append(character)
    return "".join(kept)


def escape_text(text: str) -> str:
    """Return `text` with JSON escapes for the characters that `clean_text` removes; JSON on one line stays equal.

    >>> escape_text('"a\\x9b\\u202eb"')
    '"a\\\\u009b\\\\u202eb"'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if is_printable(character) else json.dumps(character)[1:-1].replace("\x7f", "\\u007f")
        for character in text
    )


def parse_name(text: str) -> str:
    """Return the name in NFC with single spaces, or raise `BadName`.

    A name has 1 to 24 letters, digits, combining marks, inner spaces, and ``_ - . '``.

    >>> parse_name("Zoe\\u0308  M")
    'Zoë M'
    """
    name = re.sub(" +", " ", unicodedata.normalize("NFC", text))
    if not name:
        raise BadName("empty")
    if len(name) > MAX_NAME_LENGTH:
        raise BadName("long", most=MAX_NAME_LENGTH, length=len(name))
    for character in name:
        category = unicodedata.category(character)
        is_letter = (category[0] in "LM" or category == "Nd") and is_printable(character)
        if not is_letter and character not in _NAME_PUNCTUATION:
            raise BadName("character", character=_describe(character))
    if name[0] == " " or name[-1] == " ":
        raise BadName("space")
    if unicodedata.category(name[0])[0] == "M":
        raise BadName("mark", character=_describe(name[0]))
    if clean_text(name) != name:
        raise BadName("stack", most=MAX_STACKED_MARKS)
    return name


@lru_cache(maxsize=4096)
def _stacks(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character) in ("Mn", "Me")


def _describe(character: str) -> str:
    number = f"U+{ord(character):04X}"
    is_visible = is_printable(character) and not unicodedata.combining(character)
    return f'"{character}" ({number})' if is_visible else number
