"""Which language a run speaks: the one that somebody chose, else the one that the system is set to."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from tictactoe_protocol.catalogue import LANGUAGES, speak

VARIABLE: Final = "TICTACTOE_LANGUAGE"
_OPTION: Final = "--language"
_SYSTEM: Final = ("LC_ALL", "LC_MESSAGES", "LANG")


def speak_as_chosen(chosen: str | None, environ: Mapping[str, str] = os.environ) -> None:
    """Have everything said in this language from now on; in that of the system where it is none that we have.

    English is spoken where the system's is none that we have either. The first of its variables that is set counts.
    """
    system = next((environ[name] for name in _SYSTEM if environ.get(name)), "")
    language = chosen if chosen in LANGUAGES else re.split("[_.@]", system)[0].lower()
    speak(language if language in LANGUAGES else "en")


def find_chosen(arguments: Sequence[str], environ: Mapping[str, str] = os.environ) -> str | None:
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
    return typed or environ.get(VARIABLE) or None
