"""The words that people type, by what they mean: those of the language that is spoken, and English ones always. Pure.

In the catalogue they stand with commas between them; what stands behind a semicolon is understood and not shown.
"""

from __future__ import annotations

import unicodedata

from tictactoe_protocol.catalogue import open_catalogue, say


def words_of(id: str) -> tuple[str, ...]:
    """Return what may be typed for this in the language that is spoken, what is shown where room is short first."""
    return tuple(say(f"type {id}").partition("; ")[0].split(", "))


def word_of(id: str) -> str:
    """Return the word for this that is written out."""
    words = words_of(id)
    return next((word for word in words if len(word) > 1), words[0])


def understood(id: str) -> tuple[str, ...]:
    """Return all that may be typed for this: the English words are known in every language."""
    lists = (open_catalogue("en").say(f"type {id}"), say(f"type {id}"))
    return tuple(word for words in lists for word in words.replace("; ", ", ").split(", "))


def means(typed: str, *ids: str) -> bool:
    """Tell whether what was typed is a word for one of these."""
    return any(plain(typed) in understood(id) for id in ids)


def plain(typed: str) -> str:
    """Return a typed line as words are compared: composed letters, small ones, single spaces.

    >>> plain("  Next   MISTAKE ")
    'next mistake'
    """
    return " ".join(unicodedata.normalize("NFC", typed).lower().split())
