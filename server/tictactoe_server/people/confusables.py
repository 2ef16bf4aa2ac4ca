"""Keys for comparing names: names that may be confused with each other have a key in common.

Source: Unicode's confusable characters (UTS #39), in a table that `tools/confusables.py` generates.
"""

from __future__ import annotations

import string
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final

from tictactoe_protocol.text import MAX_NAME_LENGTH

_PUNCTUATION: Final = " _-.',^:\u02d1\u0640\u200c\u200d"
_PAIRS: Final = (("rn", "m"), ("vv", "w"))
_MARKED: Final = ("LATIN", "GREEK", "CYRILLIC", "DIGIT")  # characters with such names lose their combining marks

TABLE: Final = Path(__file__).with_name("confusables.txt")


@lru_cache(maxsize=4096)
def keys_of(name: str) -> tuple[str, ...]:
    """Return the keys of a name. Two names may be confused with each other if they have a key in common.

    One key represents the look of the name. Another, if it differs, represents its look when case is ignored.

    >>> keys_of("\u0430na"), keys_of("ANA"), keys_of("Ian"), keys_of("Lian"), keys_of("Jos\u00e9 E.")
    (('ana',), ('ana',), ('ian', 'lan'), ('lian',), ('josee',))
    """
    return tuple(sorted({_key(name), _key(_fold(name))}))


def can_be_claimed(name: str) -> bool:
    """Return True if a name has a letter or digit in its key, so that it can be distinguished from other names."""
    return any(map(str.isalnum, keys_of(name)[0]))


def mark_other(name: str) -> str:
    """Return how other players see a name that its player has not claimed, but another player has.

    The added question mark cannot be imitated, because no valid name ends with one.

    >>> mark_other("ana")
    'ana?'
    """
    return f"{name[: MAX_NAME_LENGTH - 1]}?"


def _key(name: str) -> str:
    """Return a name's skeleton, as in UTS #39, or the name itself if it has only punctuation."""
    key = _fold(_without_marks(unicodedata.normalize("NFKD", name).translate(_load_confusables())))
    for pair, letter in _PAIRS:
        key = key.replace(pair, letter)
    return key or name


def _without_marks(text: str) -> str:
    """Return a text without combining marks on digits and on Latin, Greek and Cyrillic letters."""
    letters, is_plain = [], False
    for character in text:
        if unicodedata.category(character)[0] != "M":
            is_plain = unicodedata.name(character, "").startswith(_MARKED)
        elif is_plain:
            continue
        letters.append(character)
    return "".join(letters)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKD", text).casefold()


@lru_cache(maxsize=1)
def _load_confusables() -> dict[int, str]:
    """Return the replacement of each confusable character, by code point; punctuation is replaced by ""."""
    bare = dict.fromkeys(map(ord, _PUNCTUATION), "")
    groups = (group.split(":", 1) for group in TABLE.read_text(encoding="utf-8").split())
    pairs = ((character, target) for characters, target in groups for character in characters)
    small_capitals = {
        unicodedata.lookup(f"LATIN LETTER SMALL CAPITAL {letter}"): letter.lower()
        for letter in string.ascii_uppercase.replace("X", "")
    }
    return bare | {
        ord(character): target if unicodedata.category(character) == "Lo" else target.translate(bare)
        for character, target in (*pairs, *small_capitals.items())
    }
