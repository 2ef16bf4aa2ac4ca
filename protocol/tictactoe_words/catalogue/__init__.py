"""The sentences that users read, by id and language. They have named placeholders, and a singular and a plural.

Each language is a file in this folder, which the terminal and the page share.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
LANGUAGES: Final = ("en", *sorted(file.stem for file in FOLDER.glob("*.json") if file.stem != "en"))
"""The languages with a file in this folder."""

_SPELT: Final = (
    "ä=ae ö=oe ü=ue Ä=Ae Ö=Oe Ü=Ue ß=ss æ=ae Æ=Ae œ=oe Œ=Oe ø=oe Ø=Oe „=' “=' ”=' ’=' «=' »=' –=- ·=- ●=* …=... "
    "←=<- →=-> ↑=up ↓=down ¼=.25 ½=.5 ¾=.75"
)
_IN_ASCII: Final = str.maketrans(dict(pair.split("=") for pair in _SPELT.split()))


def to_ascii(text: str) -> str:
    """Return `text` in ASCII, without accents. Letters of other alphabets remain as they are.

    >>> to_ascii("Zurück: ½ Punkt … réussi")
    'Zurueck: .5 Punkt ... reussi'
    """
    text = unicodedata.normalize("NFC", text).translate(_IN_ASCII)
    bases = (unicodedata.normalize("NFD", letter)[0] for letter in text)
    return "".join(base if base.isascii() else letter for base, letter in zip(bases, text, strict=True))


class Catalogue:
    """The sentences in one language. The constructor raises LookupError for a language without a file."""

    def __init__(self, language: str, *, in_ascii: bool = False) -> None:
        if language not in LANGUAGES:
            raise LookupError(f"There are no words in {language!r}: {', '.join(LANGUAGES)}.")
        self.language = language
        text = (FOLDER / f"{language}.json").read_text(encoding="utf-8")
        self.sentences: dict[str, Any] = json.loads(to_ascii(text) if in_ascii else text)

    def say(self, id: str, **places: Any) -> str:
        """Return the sentence `id` with its placeholders filled from `places`.

        If it has a singular and a plural, `n` selects one. Raises KeyError for an unknown id or a missing placeholder.
        """
        sentence = self.sentences[id]
        if not isinstance(sentence, str):
            sentence = sentence["one" if abs(int(places["n"])) == 1 else "other"]
        return str(sentence).format_map(places)


open_catalogue: Final = cache(Catalogue)

_spoken = open_catalogue("en")


def speak(language: str | None = None, *, in_ascii: bool = False) -> None:
    """Set the language of this process, and whether sentences are in ASCII. By default, the language stays the same.

    Raises LookupError for an unknown language.
    """
    global _spoken
    language = language or _spoken.language
    _spoken = Catalogue(language, in_ascii=True) if in_ascii else open_catalogue(language)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Make sentences in another language in a block that awaits nothing.

    A regional tag such as ``de-AT`` selects its language; an unknown language selects English.
    """
    global _spoken
    language = language.lower().partition("-")[0]
    before, _spoken = _spoken, open_catalogue(language if language in LANGUAGES else "en")
    try:
        yield
    finally:
        _spoken = before


def say(id: str, **places: Any) -> str:
    """Return the sentence `id` in the language of this process, as `Catalogue.say` does."""
    sentence = _spoken.sentences[id]
    return sentence.format_map(places) if isinstance(sentence, str) else _spoken.say(id, **places)
