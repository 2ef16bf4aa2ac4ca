"""Names and texts: what may be printed on everybody's terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_protocol import BadName, clean_text, parse_name
from tictactoe_protocol.text import MAX_NAME_LENGTH, is_printable

CONTROL = "\x00\x07\b\t\n\r\x1b\x7f\x80\x85\x9b\x9f"
BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200c\u200d\u2028\u2029\u2060\u2061\u2065\u206f"
    "\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff0\ufff9\U0001bca0\U0001d173\U000e0001\U000e0041\U000e0100"
    "\U000e0fff"
)
NOT_CHARACTERS = "\ud800\udfff\ufdd0\uffff\ue000\U000f0000\U0010ffff\u0378"
NAMES = ["a", "ana", "Ana Maria", "O'Neill", "a_b-c.d", "guest-abcd", "42"]
NAMES_IN_OTHER_LETTERS = ["Zoë", "Ольга", "李雷", "علي", "நிலா", "१२३", "٤٢"]
UNSAFE = CONTROL + BIDIRECTIONAL + INVISIBLE + NOT_CHARACTERS


@each("character", UNSAFE)
def test_what_steers_reorders_or_hides_is_refused_in_names_and_taken_out_of_texts(character: str) -> None:
    assert not is_printable(character)
    assert clean_text(f"a{character}b") == "ab"
    for name in (f"a{character}b", f"{character}a", f"a{character}", character):
        with pytest.raises(BadName) as caught:
            parse_name(name)
        assert caught.value.message.isprintable()


@each("name", [*NAMES, *NAMES_IN_OTHER_LETTERS])
def test_a_name_of_letters_digits_marks_and_a_little_punctuation_is_kept(name: str) -> None:
    assert parse_name(name) == name
    assert clean_text(name) == name


@each("name", ["", " ", " a", "a ", "a\u00a0b", "a\u3000b", "a/b", "a:b", "a@b", "<b>", "a,b", "a\\b", "a½", *'"`😀Ⅷ€'])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(BadName):
        parse_name(name)


def test_a_name_has_at_most_24_characters_after_composition() -> None:
    assert parse_name("e\u0301" * 24) == "é" * 24
    with pytest.raises(BadName) as caught:
        parse_name("é" * 25)
    assert "25" in caught.value.message
    with pytest.raises(BadName):
        parse_name("\u0958" * 13)  # its composed form is longer: each becomes two


def test_a_name_begins_with_something_that_a_mark_can_stand_on() -> None:
    with pytest.raises(BadName):
        parse_name("\u0301a")
    assert parse_name("q\u0301") == "q\u0301"


def test_a_name_that_is_too_long_is_refused_without_being_quoted() -> None:
    with pytest.raises(BadName) as caught:
        parse_name("x" * 10_000)
    assert len(caught.value.message) < 100


@given(st.text(max_size=40))
def test_a_name_that_is_accepted_is_safe_composed_and_stays_as_it_is(text: str) -> None:
    name, words = parse_or_refuse(text)
    assert len(words) < 120
    assert clean_text(words) == words
    if name is not None:
        assert 1 <= len(name) <= MAX_NAME_LENGTH
        assert name == unicodedata.normalize("NFC", text)
        assert parse_name(name) == clean_text(name) == name
        name.encode()


def parse_or_refuse(text: str) -> tuple[str | None, str]:
    """Return the name and no words, or None and why not."""
    try:
        return parse_name(text), ""
    except BadName as bad:
        return None, bad.message


@given(st.text())
def test_a_cleaned_text_is_safe_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    assert all(is_printable(character) for character in cleaned)
    cleaned.encode()


def test_no_control_format_or_separator_of_unicode_is_printable() -> None:
    unsafe = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    for number in range(0x110000):
        if unicodedata.category(chr(number)) in unsafe:
            assert not is_printable(chr(number)), f"U+{number:04X}"
