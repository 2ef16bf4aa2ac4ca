"""The test vectors: states and what is said of them, the same in this package and on the page."""

import json
from pathlib import Path
from typing import Any

from tests.node import run_node
from tests.protocol.served import served_catalogues
from tictactoe_protocol.pushes import HAPPENING_TYPES
from tictactoe_server.http.assets import FOLDER
from tictactoe_words.catalogue import LANGUAGES, open_catalogue
from tictactoe_words.choices import Deed
from tools.vectors import PATH, render_vectors

LEAST = 200
PROGRAM = Path(__file__).with_name("vectors.mjs")


def test_there_are_vectors_enough_and_of_every_kind() -> None:
    vectors = json.loads(PATH.read_text(encoding="utf-8"))["vectors"]
    events = [event for vector in vectors for event in vector["after"]["news"]]
    assert len(vectors) >= LEAST
    assert {event["type"] for event in events} == set(HAPPENING_TYPES)
    reasons = {event["result"]["reason"] for event in events if "result" in event}
    assert reasons == {"line", "full", "resigned", "timeout", "claimed", "agreed", "aborted", "forfeit"}


def test_there_are_vectors_of_every_deed_and_of_everything_that_waits() -> None:
    vectors = json.loads(PATH.read_text(encoding="utf-8"))["vectors"]
    deeds = {Deed(**deed).label for vector in vectors for deed in vector["choices"]["deeds"]}
    waits = {wait_of(question, vector["after"]) for vector in vectors for question in vector["choices"]["questions"]}
    reasons = {reason for vector in vectors for reason in vector["choices"]["reasons"].values()}
    named = {id for id in open_catalogue("en").sentences if id.partition(" ")[0] in ("deed", "waits", "why")}
    refused = {reason for reason in reasons if reason.startswith("refused ")}
    expected = {id.removesuffix(", and move") for id in named if not id.endswith(", you")}
    assert {*deeds, *waits, *reasons} - refused == expected


def wait_of(question: dict[str, Any], state: dict[str, Any]) -> str:
    if question["id"] != "choose":
        return f"waits {question['id']}"
    return f"waits choose {state['rules']['opening']}{' again' if state.get('chosen') else ''}"


def test_the_vectors_are_up_to_date() -> None:
    assert render_vectors() == PATH.read_text(encoding="utf-8")


def test_the_page_matches_the_vectors(tmp_path: Path) -> None:
    told = run_node(str(PROGRAM), FOLDER.as_uri(), str(PATH), str(served_catalogues(tmp_path)), *LANGUAGES)
    assert told.splitlines()[:10] == []
