"""The sentences that people read, by id and language, with named placeholders and a form for one and for many.

Each language is one file in this folder, which the terminal and the page share.
"""

from __future__ import annotations

import json
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
LANGUAGES: Final = ("en", *sorted(file.stem for file in FOLDER.glob("*.json") if file.stem != "en"))
"""Those that there is a file for beside this one; a further one is one more file."""

_SPELT: Final = (
    "ä=ae ö=oe ü=ue Ä=Ae Ö=Oe Ü=Ue ß=ss æ=ae Æ=Ae œ=oe Œ=Oe ø=oe Ø=Oe „=' “=' ”=' ’=' «=' »=' –=- ·=- ●=* …=... "
    "←=<- →=-> ↑=up ↓=down ¼=.25 ½=.5 ¾=.75"
)
_IN_ASCII: Final = str.maketrans(dict(pair.split("=") for pair in _SPELT.split()))


def to_ascii(text: str) -> str:
    """Return how a text is written in ASCII: letters without their accents; those of other alphabets stay.

    >>> to_ascii("Zurück: ½ Punkt … réussi")
    'Zurueck: .5 Punkt ... reussi'
    """
    text = unicodedata.normalize("NFC", text).translate(_IN_ASCII)
    return text if text.isascii() else "".join(map(_without_accent, text))


def _without_accent(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() else letter


class Catalogue:
    """The sentences of one language; raises LookupError for a language that there is no file for."""

    def __init__(self, language: str, *, in_ascii: bool = False) -> None:
        if language not in LANGUAGES:
            raise LookupError(f"There are no words in {language!r}: {', '.join(LANGUAGES)}.")
        self.language = language
        text = (FOLDER / f"{language}.json").read_text(encoding="utf-8")
        self.sentences: dict[str, Any] = json.loads(to_ascii(text) if in_ascii else text)

    def say(self, id: str, **places: Any) -> str:
        """Return a sentence with its placeholders filled, in the form for `n` if it has two; raises KeyError."""
        sentence = self.sentences[id]
        if not isinstance(sentence, str):
            sentence = sentence["one" if abs(int(places["n"])) == 1 else "other"]
        return str(sentence).format_map(places)


open_catalogue: Final = cache(Catalogue)
"""Return the sentences of a language."""

_spoken = open_catalogue("en")


def speak(language: str | None = None, *, in_ascii: bool = False) -> None:
    """Have this process say everything in a language from now on, None for the same, with `in_ascii` spelt in ASCII.

    Raises LookupError for a language that there is none of.
    """
    global _spoken
    language = language or _spoken.language
    _spoken = Catalogue(language, in_ascii=True) if in_ascii else open_catalogue(language)


def say(id: str, **places: Any) -> str:
    """Return a sentence in the language that this process speaks; raises KeyError for an id that there is none of."""
    sentence = _spoken.sentences[id]
    return sentence.format_map(places) if isinstance(sentence, str) else _spoken.say(id, **places)
