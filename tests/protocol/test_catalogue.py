"""The sentences of every language: none is missing, none has another place, and a process says them in its own."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

import pytest

from tests.client.states import ANA, BO, state
from tictactoe_protocol.catalogue import LANGUAGES, Catalogue, open_catalogue, say, speak
from tictactoe_protocol.happened import happened
from tictactoe_protocol.telling import announce, describe_result
from tictactoe_protocol.wording import describe_turn

ENGLISH = open_catalogue("en")


def forms(sentence: Any) -> list[str]:
    return [sentence] if isinstance(sentence, str) else list(sentence.values())


def places(sentence: str) -> set[str]:
    """Return the names of a sentence's places; fails for anything but a bare name in braces."""
    found = set()
    for _, name, form, conversion in string.Formatter().parse(sentence):
        if name is not None:
            assert (name.isidentifier(), form, conversion) == (True, "", None), sentence
            found.add(name)
    return found


@pytest.fixture(params=LANGUAGES)
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    return open_catalogue(request.param)


@pytest.fixture
def in_german() -> Iterator[None]:
    speak("de")
    yield
    speak("en")


def test_every_language_has_every_sentence_in_the_same_order(catalogue: Catalogue) -> None:
    assert list(catalogue.sentences) == list(ENGLISH.sentences)


def test_a_sentence_has_the_same_places_in_every_language(catalogue: Catalogue) -> None:
    for id, sentence in catalogue.sentences.items():
        wanted = set().union(*map(places, forms(ENGLISH.sentences[id])))
        assert set().union(*map(places, forms(sentence))) == wanted, id


def test_what_is_counted_has_a_form_for_every_number(catalogue: Catalogue) -> None:
    for id, sentence in catalogue.sentences.items():
        if not isinstance(sentence, str):
            filled = dict.fromkeys(set().union(*map(places, forms(sentence))), "?")
            for number in (*range(201), 1_000_000):
                assert catalogue.say(id, **{**filled, "n": number}), id


def test_there_are_forms_for_one_and_for_many() -> None:
    assert [say("count move", n=number) for number in (0, 1, 2)] == ["0 moves", "1 move", "2 moves"]
    german = open_catalogue("de")
    assert [german.say("count move", n=number) for number in (0, 1, 2)] == ["0 Züge", "1 Zug", "2 Züge"]


def test_a_language_that_there_is_no_file_for_is_named_with_those_that_there_are() -> None:
    with pytest.raises(LookupError, match=r"no words in 'tlh': en, de"):
        open_catalogue("tlh")


@pytest.mark.usefixtures("in_german")
def test_a_process_that_speaks_german_tells_a_game_in_german() -> None:
    before, after = state((0, 3, 1, 4)), state((0, 3, 1, 4, 2))
    told = announce(happened(before, after), BO)
    assert told == ["ana spielt C1. Zeile 1 ist X X X. Du verlierst."]
    assert describe_result(after, ANA) == "Zeile 1 ist X X X. Du gewinnst."
    assert describe_turn(before, ANA) == "Du bist am Zug, X."
