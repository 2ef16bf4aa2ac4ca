"""The language of a run, and the words that users type.

The catalogue lists the words for a command; words after a semicolon are accepted but not shown. English words are
accepted in every language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

from tictactoe_words.catalogue import LANGUAGES, open_catalogue, say, speak, to_ascii

VARIABLE: Final = "TICTACTOE_LANGUAGE"
_OPTION: Final = "--language"
_SYSTEM: Final = ("LC_ALL", "LC_MESSAGES", "LANG")


def speak_as_chosen(chosen: str | None) -> None:
    """Switch to the chosen language, or else to the system's, or else to English."""
    system = next((os.environ[name] for name in _SYSTEM if os.environ.get(name)), "")
    language = chosen if chosen in LANGUAGES else re.split("[_.@]", system)[0].lower()
    speak(language if language in LANGUAGES else "en")


def find_chosen(arguments: Sequence[str]) -> str | None:
    """Return the language that the command line or the environment asks for, or None.

    This runs before the command line is parsed, so that errors in it can be reported in this language.
    """
    typed = None
    for number, word in enumerate(arguments):
        if word == "--":
            break
        name, is_joined, value = word.partition("=")
        if name == _OPTION:
            typed = value if is_joined else "".join(arguments[number + 1 : number + 2])
    return typed or os.environ.get(VARIABLE) or None


def understood(id: str) -> tuple[str, ...]:
    """Return all accepted words for a command, normalised by `plain`."""
    lists = (open_catalogue("en").say(f"type {id}"), say(f"type {id}"))
    return tuple(word for words in lists for word in plain(words.replace("; ", ", ")).split(", "))


def means(typed: str, *ids: str) -> bool:
    """Return True if the typed text is an accepted word for one of these commands."""
    return any(plain(typed) in understood(id) for id in ids)


def plain(typed: str) -> str:
    """Normalise a text for comparison: lower case, ASCII, single spaces.

    >>> plain("  Next   MISTAKE "), plain("Züge")
    ('next mistake', 'zuege')
    """
    return " ".join(to_ascii(typed.lower()).split())
