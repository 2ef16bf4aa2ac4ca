import json
from pathlib import Path
from typing import Any

import pytest

from tests.client.states import ANA, BO, announce, state
from tests.node import evaluate
from tictactoe_words.catalogue import FOLDER, LANGUAGES, Catalogue, open_catalogue, say, speak
from tictactoe_words.telling import describe_result
from tictactoe_words.wording import describe_level, describe_turn
from tools.catalogue import find_faults

NUMBERS = (*range(300), 1_000_000)
FORMS = f"""
const formsOf = (language) => {list(NUMBERS)}.map((number) => new Intl.PluralRules(language).select(number));
console.log(JSON.stringify(Object.fromEntries({list(LANGUAGES)}.map((language) => [language, formsOf(language)]))));
"""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_whole(language: str) -> None:
    assert find_faults(language) == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"goodbye": None}, "missing: goodbye"),
        ({"farewell": "Tschüss."}, "not in en.json: farewell"),
        ({"kept": "{zelle} ist vorgemerkt."}, "kept: has the places ['zelle'], in English ['cell']"),
        (
            {"kept": "{cell!r} ist vorgemerkt."},
            "kept: a place is a name in braces, and no more: {cell!r} ist vorgemerkt.",
        ),
        ({"count move": {"one": "{n} Zug"}}, "count move: has the forms ['one'], and needs ['one', 'other']"),
        ({"type resign": "draw"}, "'draw' means type draw, type resign"),
    ],
)
def test_missing_sentences_of_a_language_are_reported(change: dict[str, Any], fault: str, tmp_path: Path) -> None:
    english, german = (json.loads((FOLDER / f"{language}.json").read_bytes()) for language in ("en", "de"))
    changed = {id: sentence for id, sentence in (german | change).items() if sentence is not None}
    for language, sentences in (("en", english), ("de", changed)):
        (tmp_path / f"{language}.json").write_text(json.dumps(sentences), encoding="utf-8")
    assert find_faults("de", tmp_path) == [fault]


def test_a_language_in_another_order_or_without_a_file_is_named(tmp_path: Path) -> None:
    english = json.loads((FOLDER / "en.json").read_bytes())
    (tmp_path / "en.json").write_text(json.dumps(english), encoding="utf-8")
    (tmp_path / "fr.json").write_text(json.dumps(dict(reversed(english.items()))), encoding="utf-8")
    assert find_faults("fr", tmp_path) == ["The ids stand in another order than in en.json."]
    assert find_faults("tlh", tmp_path)[0].startswith("There is no ")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_can_be_said_in_nothing_but_ascii(language: str) -> None:
    speak(language, in_ascii=True)
    assert [id for id, said in Catalogue(language, in_ascii=True).sentences.items() if not str(said).isascii()] == []
    assert say("count move", n=2) == {"de": "2 Zuege"}.get(language, "2 moves")
    speak("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_sentences_have_the_same_id(language: str) -> None:
    text = (FOLDER / f"{language}.json").read_text(encoding="utf-8")
    assert [id for id in open_catalogue(language).sentences if text.count(f'\n\t"{id}": ') != 1] == []


def test_there_are_forms_for_one_and_for_many() -> None:
    assert [say("count move", n=number) for number in (0, 1, 2)] == ["0 moves", "1 move", "2 moves"]
    german = open_catalogue("de")
    assert [german.say("count move", n=number) for number in (0, 1, 2)] == ["0 Züge", "1 Zug", "2 Züge"]


def test_every_number_has_the_form_that_a_page_finds_for_it() -> None:
    for language, forms in evaluate(FORMS).items():
        catalogue = open_catalogue(language)
        sentence = catalogue.sentences["count move"]
        found = [catalogue.say("count move", n=number) for number in NUMBERS]
        assert found == [sentence[form].format(n=number) for number, form in zip(NUMBERS, forms, strict=True)], language


def test_an_unknown_language_error_lists_the_known_ones() -> None:
    with pytest.raises(LookupError, match=r"no words in 'tlh': en, de"):
        open_catalogue("tlh")


@pytest.mark.usefixtures("in_german")
def test_a_process_that_speaks_german_tells_a_game_in_german() -> None:
    before, after = state((0, 3, 1, 4)), state((0, 3, 1, 4, 2))
    told = announce(before, after, BO)
    assert told == ["ana spielt C1. Du verlierst. X hat drei in Zeile 1."]
    assert describe_result(after, ANA) == "Du gewinnst! X hat drei in Zeile 1."
    assert describe_turn(before, ANA) == "Du bist am Zug, X."


@pytest.mark.usefixtures("in_german")
def test_levels_are_translated_and_unknown_ones_kept() -> None:
    assert [describe_level(level) for level in ("easy", "medium", "hard", "perfect")] == [
        *("leicht", "mittel", "schwer"),
        "perfect",
    ]
