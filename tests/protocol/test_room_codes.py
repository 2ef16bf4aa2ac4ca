import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rows import each
from tictactoe_protocol import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH, BadRoomCode, parse_room_code
from tictactoe_words.refusals import describe_fault

CODES = st.text(ROOM_CODE_ALPHABET, min_size=ROOM_CODE_LENGTH, max_size=ROOM_CODE_LENGTH)


PASTED = [
    *(
        "K7M4PQ",
        "k7m-4pq",
        " K7M 4PQ\n",
        "K7M\u20134PQ",
        "K7M4PQ.",
        "K7M4PQ)",
        "(K7M4PQ)",
        "K7M4PQ/",
        "/K7M4PQ",
        "K7M4PQ,",
    ),
    *(
        '"K7M4PQ"',
        "\u201ek7m4pq\u201c",
        "_K7M4PQ_",
        "K7M4PQ!",
        "\u200bK7M4PQ\u200b",
        "K7M\u00ad4PQ",
        "\uff08K7M4PQ\uff09",
    ),
    *(
        "Code: K7M4PQ",
        "Hello The k7m-4pq",
        "K7M 4PQ-see you",
        "K7M 4PQ\u2013the quick one",
        "please join K7M4PQ now",
        "server/K7M4PQ;",
        "http://host//K7M4PQ",
        "http://host:8765/K7M4PQ",
    ),
    *("https://host/K7M4PQ.", "https://host/K7M4PQ/", "<https://host/k7m-4pq>", "[Join](https://host/K7M4PQ)"),
    *("https://server.example/K7M4PQ?fbclid=IwABCD", "https://host/games/K7M4PQ#watch", "http://[::1]:8765/K7M4PQ)"),
    *("Play: https://player.example/K7M4PQ, bye", "https://host/e/K7M4PQ#ana-7c2f"),
    "https://eur01.safelinks.protection.outlook.com/?url=http%3A%2F%2Fhost%3A8765%2FK7M4PQ&data=05%7C02",
]
WITHOUT = ["http://server//", "https://server.example/", "see you please"]


@each("text", PASTED)
def test_a_code_is_found_in_what_people_paste(text: str) -> None:
    assert parse_room_code(text) == "K7M4PQ"


@each(
    "text",
    [
        *WITHOUT,
        *("", " ", "K7M4P", "K7M4PQQ", "K7M4P0", "K7M4P1", "K7M4PI", "K7M4PO", "K7M4Pé", "K7M4P_", "K7M4P/", "K7M4P４"),
        *("K7M4ß", "K7M4Pſ", "K7MﬃP"),  # these become ASCII as capitals only
    ],
)
def test_an_invalid_room_code_is_refused(text: str) -> None:
    with pytest.raises(BadRoomCode):
        parse_room_code(text)


def test_the_alphabet_has_nothing_that_is_read_for_something_else() -> None:
    assert not set("01IO") & set(ROOM_CODE_ALPHABET)
    assert len(set(ROOM_CODE_ALPHABET)) == len(ROOM_CODE_ALPHABET) == 32


@given(CODES, st.data())
def test_a_code_survives_being_written_any_way(code: str, data: st.DataObject) -> None:
    written = "".join(
        data.draw(st.sampled_from(["", "-", "--", " ", "\n", "\u00a0"]))
        + data.draw(st.sampled_from([letter, letter.lower()]))
        for letter in code
    )
    assert parse_room_code(written) == code


@given(st.text())
def test_any_text_is_a_code_or_refused_in_few_words(text: str) -> None:
    code, words = parse_or_refuse(text)
    assert len(words) < 120
    assert code is None or (len(code) == ROOM_CODE_LENGTH and set(code) <= set(ROOM_CODE_ALPHABET))


def parse_or_refuse(text: str) -> tuple[str | None, str]:
    """Return the code and "", or None and the reason."""
    try:
        return parse_room_code(text), ""
    except BadRoomCode as bad:
        return None, describe_fault(bad)
