"""Check the sentences of a language: ``python -m tools.catalogue fr`` prints faults, and exits with 1 if there are any.

The file must have the same ids as the English file, in the same order, the same placeholders in each sentence, singular
and plural forms, and no typed word that has another meaning in English.
"""

import argparse
import json
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tictactoe_words.catalogue import FOLDER

_LINES: Final = frozenset({"row", "row part", "column", "column part", "diagonal"})
"""Sentences about a line of marks; a language may leave out their placeholders."""

_FORMS: Final = {"one", "other"}
"""The forms of a sentence with a number, as in CLDR."""
_ALIKE: Final = (
    {"type next", "type no"},
    {"type board", "type board at"},
    {"type bot", "type computer"},
    {"type value", "type review"},
)
"""Words that may be equal, because only one of them is valid at a time or both mean the same."""
Sentences = dict[str, Any]


def find_faults(language: str, folder: Path = FOLDER) -> list[str]:
    """Return the faults of a language's file, one a line."""
    path = folder / f"{language}.json"
    if not path.exists():
        return [f"There is no {path}: copy en.json to it, and translate."]
    english, sentences = json.loads((folder / "en.json").read_bytes()), json.loads(path.read_bytes())
    faults = [f"missing: {id}" for id in english if id not in sentences]
    faults += [f"not in en.json: {id}" for id in sentences if id not in english]
    if not faults and list(sentences) != list(english):
        faults.append("The ids stand in another order than in en.json.")
    shared = [id for id in sentences if id in english]
    faults += [fault for id in shared for fault in _compare(id, english[id], sentences[id])]
    return [*faults, *_check_forms(sentences), *_check_words(english, sentences)]


def _compare(id: str, english: Any, sentence: Any) -> Iterator[str]:
    """Yield differing and invalid placeholders of a sentence."""
    try:
        wanted, found = _places_of(english), _places_of(sentence)
    except ValueError as error:
        yield f"{id}: {error}"
        return
    if wanted != found and id not in _LINES:
        yield f"{id}: has the places {sorted(found)}, in English {sorted(wanted)}"


def _places_of(sentence: Any) -> set[str]:
    found: set[str] = set()
    for form in [sentence] if isinstance(sentence, str) else sentence.values():
        for _, name, shape, conversion in string.Formatter().parse(form):
            if name is not None and (not name.isidentifier() or shape or conversion):
                raise ValueError(f"a place is a name in braces, and no more: {form}")
            found |= set() if name is None else {name}
    return found


def _check_forms(sentences: Sentences) -> Iterator[str]:
    """Yield the missing and superfluous forms of sentences with a number."""
    for id, sentence in sentences.items():
        if isinstance(sentence, dict) and set(sentence) != _FORMS:
            yield f"{id}: has the forms {sorted(sentence)}, and needs {sorted(_FORMS)}"


def _check_words(english: Sentences, sentences: Sentences) -> Iterator[str]:
    """Yield typed words that mean something else in English, or two things."""
    meaning: dict[str, set[str]] = {}
    for told in (english, sentences):
        for id, words in told.items():
            if (
                id.startswith("type ")
                and isinstance(words, str)
                and not id.startswith(("type way ", "type record ", "type argument "))
            ):
                for word in words.replace("; ", ", ").split(", "):
                    meaning.setdefault(word, set()).add(id)
    for word, ids in meaning.items():
        if len(ids) > 1 and ids not in _ALIKE:
            yield f"{word!r} means {', '.join(sorted(ids))}"


def main() -> int:
    """Check the language named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", help="the name of its file, such as fr")
    faults = find_faults(parser.parse_args().language)
    print("\n".join(faults) or "Whole.")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
