import ast
import json
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from tests.engine.test_rules import WRONG_RULES
from tests.rows import each
from tictactoe_client.online.inspection import read_message, refusal_of
from tictactoe_engine import PRESETS, IllegalMove, InvalidRules, Position, Rules, UnknownNotation, parse_cell
from tictactoe_protocol import ErrorCode, encode, error_answer, pushes
from tictactoe_protocol.rated import CLOSINGS
from tictactoe_protocol.terms import rules_of
from tictactoe_server.features.ratings.folding import RATED
from tictactoe_server.features.tournaments.running import NAME as EVENT
from tictactoe_words.catalogue import open_catalogue
from tictactoe_words.refusals import describe_closing, describe_fault, describe_refusal

SOURCES = [
    path
    for folder in ("protocol", "server")
    for path in sorted((Path(__file__).parents[2] / folder).rglob("*.py"))
    if "build" not in path.parts
]
LISTS = ("levels", "limits", "marks", "presets")
NOT_SAID = {"path", "retry_ms", "url"}
ENGLISH = open_catalogue("en")
DERIVED = {
    *(f"{purpose} {deed}" for purpose in (EVENT, RATED.name) for deed in ("draw", "undo", "rematch")),
    *(f"{EVENT} claim", f"{RATED.name} room"),
    *(f"ladder {closing}" for closing in CLOSINGS),
}
"""Reasons that the server derives from the terms of a room and the reason for closing a ladder."""
IDS = [id for id in ENGLISH.sentences if id.startswith(("refused ", "closed "))]


def places_of(id: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(ENGLISH.sentences[id]) if name}


def data_of(id: str) -> dict[str, Any]:
    """Return data for the placeholders of a sentence: each gets its own name."""
    _, _, why = id.split(" ", 2) if id.count(" ") > 1 else (*id.split(" "), "")
    data: dict[str, Any] = {name: [name, "more"] if name in LISTS else name for name in places_of(id)}
    return {"why": why, **data} if why else data


def push_of(id: str) -> pushes.Error | pushes.Closed:
    """Return a push of the server with a different text for people."""
    event, code = id.split(" ")[:2]
    if event == "closed":
        return pushes.Closed("K7M4PQ", "Its own words.", code, data_of(id))
    return pushes.Error(id="1", code=code, message="Its own words.", data=data_of(id))


def as_text(push: pushes.Error | pushes.Closed) -> str:
    return encode(push).decode()


def said_in(language: str, id: str) -> str:
    filled = {name: f"{name}, more" if name in LISTS else name for name in places_of(id)}
    return open_catalogue(language).say(id, **filled)


def refusals_in(path: Path) -> Iterator[tuple[str, set[str]]]:
    """Yield the id of each refusal that a module raises, and the names of its data."""
    for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Refused"):
            continue
        code, *more = call.args
        names = {keyword.arg or "**" for keyword in call.keywords} - NOT_SAID
        if isinstance(code, ast.Attribute) and "**" not in names and all(isinstance(one, ast.Constant) for one in more):
            why = [str(one.value) for one in more if isinstance(one, ast.Constant)]
            yield " ".join(("refused", ErrorCode[code.attr], *why)), names


def test_every_refusal_has_a_sentence_with_its_placeholders() -> None:
    found = [one for path in SOURCES for one in refusals_in(path)]
    assert len(found) > 40
    for id, names in found:
        assert id in IDS
        assert names == places_of(id), id


@each("id", [id for id in IDS if id.count(" ") > 1])
def test_no_sentence_is_there_for_nothing(id: str) -> None:
    why = id.split(" ", 2)[2]
    found = (f'"{why}"' in path.read_text(encoding="utf-8") for path in SOURCES)
    assert why in {"until reason", *DERIVED} or any(found)


def rule_errors() -> Iterator[InvalidRules]:
    for fields, _ in WRONG_RULES:
        with pytest.raises(InvalidRules) as raised:
            Rules(**fields)
        yield raised.value
    for name in ("clasic", "chess"):
        with pytest.raises(InvalidRules) as raised:
            rules_of(name)
        assert raised.value.field == "rules"
        yield raised.value


def move_errors() -> Iterator[IllegalMove]:
    """Yield an example of every illegal move and unreadable cell."""
    blocker, falling = Position.start(PRESETS["blocker"]).play(0), Position.start(PRESETS["connect-four"])
    over = Position.replay(Rules(), (0, 3, 1, 4, 2))
    for position, cell in ((blocker, 9), (blocker, -(10**5000)), (blocker, 4), (blocker, 0), (falling, 3), (over, 8)):
        with pytest.raises(IllegalMove) as raised:
            position.play(cell)
        yield raised.value
    chooses = Position.replay(PRESETS["four-pie"], (0,))
    with pytest.raises(IllegalMove) as raised:
        chooses.play(1)
    yield raised.value
    for position in (chooses, falling):
        with pytest.raises(IllegalMove) as raised:
            position.choose("more")
        yield raised.value
    words: tuple[tuple[str, Rules, str], ...] = (
        *(("0", Rules(), "row-column-1"), ("d4", Rules(), "row-column-1"), ("b1", Rules(3, 1, 3), "row-column-1")),
        *(("9 9", Rules(), "row-column-1"), ("9 9", Rules(), "row-column-0"), ("9 9", Rules(1, 3, 3), "x-y-1")),
    )
    for word, rules, coordinates in words:
        with pytest.raises(IllegalMove) as raised:
            parse_cell(word, rules, coordinates=coordinates)
        yield raised.value


def test_engine_errors_match_the_english_catalogue() -> None:
    errors: list[InvalidRules | IllegalMove] = [*rule_errors(), *move_errors()]
    told = set()
    for error in errors:
        assert describe_fault(error) == error.message
        why = error.data.get("why")
        told.add(f"refused {error.code} {why}" if why else f"refused {error.code}")
    codes = ("bad_rules", "game_over", "off_board", "occupied", "blocked", "floating", "choose_first")
    choices = {"refused not_allowed nothing to choose", "refused not_allowed no option"}
    of_programs = {f"refused bad_rules {why}" for why in ("flag", "cells")}
    assert told - of_programs == choices | {id for id in IDS if id.split(" ")[1] in codes}


@pytest.mark.usefixtures("in_german")
def test_engine_errors_are_translated_to_the_process_language() -> None:
    with pytest.raises(UnknownNotation) as unknown:
        parse_cell("what", Rules())
    assert describe_fault(unknown.value).startswith("„what“ kenne ich nicht.")
    with pytest.raises(IllegalMove) as illegal:
        parse_cell("d4", Rules())
    assert describe_fault(illegal.value) == "D4 liegt neben dem Brett: Spalten A-C, Zeilen 1-3."


@each("id", IDS)
@pytest.mark.usefixtures("in_german")
def test_a_german_client_reads_german_from_an_english_server(id: str) -> None:
    heard = read_message(as_text(push_of(id))).push
    assert isinstance(heard, pushes.Error | pushes.Closed)
    read = refusal_of(heard).message if isinstance(heard, pushes.Error) else heard.reason
    assert read == said_in("de", id)
    assert read != said_in("en", id) or id == "refused bad_message reason"


ODD: tuple[dict[str, Any], ...] = (
    {"code": "too_witty"},
    {"code": "too_witty", "data": {"why": "pun"}},
    {"code": "not_allowed", "data": {"why": "whim"}},
    {"code": "game_over"},
    {"code": "occupied", "data": {"cell": "B2"}},
    {"code": "occupied", "data": {"id": "x", "self": "y", "cell": "B2"}},
)


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_unknown_errors_keep_the_servers_message(odd: dict[str, Any]) -> None:
    push = read_message(json.dumps({"type": "error", "message": "Its own words.", **odd})).push
    assert isinstance(push, pushes.Error)
    assert push.message == "Its own words."


@pytest.mark.usefixtures("in_german")
def test_server_announcements_are_translated_and_operators_texts_kept() -> None:
    own = "Its own words."
    for code, said in (("not_kept", "Du hast in einer Stunde"), ("too_witty", own), (UNSET, own)):
        push = read_message(encode(pushes.Announcement(own, 0, code)).decode()).push
        assert isinstance(push, pushes.Announcement)
        assert push.text.startswith(said)


def test_a_refusal_without_data_is_not_described() -> None:
    assert describe_refusal("game_over", None) is None
    assert describe_refusal("game_over", {}) == "The game is over."
    assert describe_closing("game_over", {}) is None


def test_error_data_is_cleaned_and_dropped_if_too_long() -> None:
    answer = error_answer(ErrorCode.BAD_NAME, "x", data={"name": "a\x1b[31mb", "levels": ["a\u202eb"], "n": 3})
    assert answer.data == {"name": "a[31mb", "levels": ["ab"], "n": 3}
    long = error_answer(ErrorCode.BAD_NAME, "x" * 600, data={"name": "x" * 600})
    assert (long.message, "data" in json.loads(as_text(long))) == ("x" * 600, False)
