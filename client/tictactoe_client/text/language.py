"""The language that a run speaks, which somebody chose or the system is set to, and the words that people type in it.

The words stand in the catalogue with commas between them; what stands behind a semicolon is understood and not shown.
English ones are understood in every language.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

from tictactoe_protocol.catalogue import LANGUAGES, open_catalogue, say, speak, to_ascii

VARIABLE: Final = "TICTACTOE_LANGUAGE"
_OPTION: Final = "--language"
_SYSTEM: Final = ("LC_ALL", "LC_MESSAGES", "LANG")


def speak_as_chosen(chosen: str | None) -> None:
    """Have everything said in this language from now on; in that of the system where it is none that we have.

    English is spoken where the system's is none that we have either. The first of its variables that is set counts.
    """
    system = next((os.environ[name] for name in _SYSTEM if os.environ.get(name)), "")
    language = chosen if chosen in LANGUAGES else re.split("[_.@]", system)[0].lower()
    speak(language if language in LANGUAGES else "en")


def find_chosen(arguments: Sequence[str]) -> str | None:
    """Return the language that a command line names, else that of the environment, or None.

    It must be known before anything else of the command line is understood, as mistakes in that are told in it.
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
    """Return all that may be typed for this, `plain`: the English words are known in every language."""
    lists = (open_catalogue("en").say(f"type {id}"), say(f"type {id}"))
    return tuple(word for words in lists for word in plain(words.replace("; ", ", ")).split(", "))


def means(typed: str, *ids: str) -> bool:
    """Tell whether what was typed is a word for one of these."""
    return any(plain(typed) in understood(id) for id in ids)


def plain(typed: str) -> str:
    """Return a typed line as words are compared: small letters, those of other alphabets in ASCII, single spaces.

    >>> plain("  Next   MISTAKE "), plain("Züge")
    ('next mistake', 'zuege')
    """
    return " ".join(to_ascii(typed.lower()).split())
