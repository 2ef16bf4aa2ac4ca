"""What people are told, by id and language: sentences with named places, and forms for numbers as gettext has them.

Source of the rule for plurals: the expressions in C of GNU gettext, and the names of Unicode's CLDR for the forms.
"""

from __future__ import annotations

import gettext
import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
LANGUAGES: Final = ("en", *sorted(file.stem for file in FOLDER.glob("*.json") if file.stem != "en"))
"""Those that there is a file for beside this one; a further one is one more file."""

_SPELT: Final = (
    "ä=ae ö=oe ü=ue Ä=Ae Ö=Oe Ü=Ue ß=ss è=e „=' “=' ’=' –=- ·=- ●=* …=... ←=<- →=-> ↑=up ↓=down ¼=.25 ½=.5 ¾=.75"
)
IN_ASCII: Final = str.maketrans(dict(pair.split("=") for pair in _SPELT.split()))
"""What is no ASCII in our sentences, and how that is written in ASCII."""


class Catalogue:
    """The sentences of one language; raises LookupError for a language that there is no file for."""

    def __init__(self, language: str, *, in_ascii: bool = False) -> None:
        if language not in LANGUAGES:
            raise LookupError(f"There are no words in {language!r}: {', '.join(LANGUAGES)}.")
        self.language = language
        text = (FOLDER / f"{language}.json").read_text(encoding="utf-8")
        self.sentences: dict[str, Any] = json.loads(text.translate(IN_ASCII) if in_ascii else text)
        self._forms: list[str] = self.sentences.pop("plural forms")
        self._form_of = gettext.c2py(self.sentences.pop("plural"))

    def say(self, id: str, **places: Any) -> str:
        """Return a sentence with its places filled; the form for `n` where it has several. Raises KeyError."""
        sentence = self.sentences[id]
        if not isinstance(sentence, str):
            sentence = sentence[self._forms[self._form_of(abs(int(places["n"])))]]
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
