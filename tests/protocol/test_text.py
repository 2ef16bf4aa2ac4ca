import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_protocol import BadName, clean_text, parse_name
from tictactoe_protocol.text import MAX_NAME_LENGTH, is_printable
from tictactoe_words.refusals import describe_fault

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


AS_TYPED = {
    "O\u2019Neil": "O'Neil",
    "O\u2018Neil": "O'Neil",
    "O`Neil": "O'Neil",
    "O\u00b4Neil": "O'Neil",
    "Anne\u2013Marie": "Anne-Marie",
    "Anne\u2014Marie": "Anne-Marie",
    "Anne\u2011Marie": "Anne-Marie",
    "Ana\u00a0Maria": "Ana Maria",
    "Ana\u3000Maria": "Ana Maria",
    "Ana  Maria": "Ana Maria",
    "Ana\tMaria\n": "Ana Maria",
    "Ana ": "Ana",
    " Ana": "Ana",
    "Jo\u00adhanna": "Johanna",
    "\u2068Ana\u2069": "Ana",
    "\ufeffAna\u200b": "Ana",
    "Zoe\u0308": "Zoë",
    "Ana\ufe0f": "Ana",
    "Gal\u00b7la\u2026": "Gal.la...",
    "\u05e6\u05f3\u05e8\u05dc\u05d9": "\u05e6'\u05e8\u05dc\u05d9",
    "\u30b8\u30e7\u30f3\u30fb\u30b9\u30df\u30b9": "\u30b8\u30e7\u30f3 \u30b9\u30df\u30b9",
    "Ana\uff3fB\uff0e": "Ana_B.",
    "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627": "\u0639\u0644\u06cc\u200c\u0631\u0636\u0627",
    "\u0915\u094d\u200d\u0937\u200d": "\u0915\u094d\u200d\u0937",
    "Tom & Jerry": "Leave & out: a name has only letters, digits, spaces and _ - . '",
    "Ana+Bo": "Leave + out: a name has only letters, digits, spaces and _ - . '",
    "Ana 😀": "Leave 😀 out: a name has only letters, digits, spaces and _ - . '",
    "A" * 27: "A name has at most 24 characters; this one has 27.",
    "\u200b ": "Type a name first.",
    "A\x1bna": "A character of this name cannot be shown: type the name again.",
}


@each("text", AS_TYPED)
def test_names_typed_on_phones_are_normalised_or_refused(text: str) -> None:
    name, words = parse_or_refuse(text)
    assert (name or words) == AS_TYPED[text]


@each("character", UNSAFE)
def test_control_and_invisible_characters_are_removed(character: str) -> None:
    assert not is_printable(character)
    assert clean_text(f"a{character}b") == "ab"
    for text in (f"a{character}b", f"{character}a", f"a{character}", character):
        name, words = parse_or_refuse(text)
        assert character not in (name or "")
        assert words.isprintable()


@each("name", [*NAMES, *NAMES_IN_OTHER_LETTERS])
def test_a_name_of_letters_digits_marks_and_a_little_punctuation_is_kept(name: str) -> None:
    assert parse_name(name) == name
    assert clean_text(name) == name


@each("name", ["", " ", "a/b", "a:b", "a@b", "<b>", "a,b", "a\\b", "a½", *'"😀Ⅷ€'])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(BadName):
        parse_name(name)


def test_a_name_has_at_most_24_characters_after_composition() -> None:
    assert parse_name("e\u0301" * 24) == "é" * 24
    with pytest.raises(BadName) as caught:
        parse_name("é" * 25)
    assert "25" in describe_fault(caught.value)
    with pytest.raises(BadName):
        parse_name("\u0958" * 13)  # its composed form is longer: each becomes two


def test_a_name_begins_with_something_that_a_mark_can_stand_on() -> None:
    with pytest.raises(BadName):
        parse_name("\u0301a")
    assert parse_name("q\u0301") == "q\u0301"


@given(st.text(max_size=40))
def test_accepted_names_are_safe_and_stable(text: str) -> None:
    name, words = parse_or_refuse(text)
    assert len(words) < 120
    assert clean_text(words) == words
    if name is not None:
        assert 1 <= len(name) <= MAX_NAME_LENGTH
        assert name == unicodedata.normalize("NFC", name)
        assert parse_name(name) == clean_text(name) == name
        name.encode()


def parse_or_refuse(text: str) -> tuple[str | None, str]:
    """Return the name and "", or None and the reason."""
    try:
        return parse_name(text), ""
    except BadName as bad:
        return None, describe_fault(bad)


@given(st.text())
def test_a_cleaned_text_is_safe_and_cleaning_it_again_changes_nothing(text: str) -> None:
    cleaned = clean_text(text)
    assert clean_text(cleaned) == cleaned
    assert all(is_printable(character) or character in "\u200c\u200d" for character in cleaned)
    cleaned.encode()


def test_no_control_format_or_separator_of_unicode_is_printable() -> None:
    unsafe = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    for number in range(0x110000):
        if unicodedata.category(chr(number)) in unsafe:
            assert not is_printable(chr(number)), f"U+{number:04X}"
