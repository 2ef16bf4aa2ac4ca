"""By what names are compared: two that people may take for each other have a key in common.

Source: the characters that Unicode calls confusable (UTS #39), in a table made by `tools/look_alikes.py`.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Final

from tictactoe_protocol.text import MAX_NAME_LENGTH

TABLE: Final = Path(__file__).with_name("look_alikes.txt")


@lru_cache(maxsize=4096)
def keys_of(name: str) -> tuple[str, ...]:
    """Return one or two keys: how the name looks, and how it looks without regard to capitals.

    >>> keys_of("\u0430na"), keys_of("ANA"), keys_of("Ian"), keys_of("Lian")
    (('ana',), ('ana',), ('ian', 'lan'), ('lian',))
    """
    return tuple(sorted({_fold(_draw(name)), _fold(_draw(_fold(name)))}))


def mark_other(name: str) -> str:
    """Return how others see a name that somebody else has claimed: no name has such a mark of its own.

    >>> mark_other("ana")
    'ana?'
    """
    return f"{name[: MAX_NAME_LENGTH - 1]}?"


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKD", text).casefold()


def _draw(text: str) -> str:
    """Return a text with what is drawn alike written alike."""
    return unicodedata.normalize("NFKD", text).translate(_look_alikes())


@lru_cache(maxsize=1)
def _look_alikes() -> dict[int, str]:
    """Return what each character looks like, by its number; read when it is wanted first."""
    groups = (group.split(":", 1) for group in TABLE.read_text(encoding="utf-8").split())
    return {ord(character): target for characters, target in groups for character in characters}
