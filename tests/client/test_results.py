"""The sentences about the end of a game for each viewer; other tests only check that they are shown."""

import json
from pathlib import Path

import pytest

from tests.client.states import ANA, BO, players, seat, state
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Result
from tictactoe_words.telling import describe_result

ENDINGS = json.loads(Path(__file__).with_suffix(".json").read_bytes())
"""Games by their ends, with the sentence for each viewer; the result is the board's unless given."""


@pytest.mark.parametrize("ending", ENDINGS)
def test_endings_are_described_for_each_viewer(ending: str) -> None:
    game = ENDINGS[ending]
    rules = PRESETS[game.get("rules", "classic")]
    seats = {"X": seat(ANA, "ana"), "O": seat(BO, "bo", left=True)} if ending == "left" else players(rules)
    over = state(
        game.get("moves", ()), rules, seats=seats, result=Result(*game["result"]) if "result" in game else None
    )
    assert {viewer: describe_result(over, f"p-{viewer}") for viewer in game["told"]} == game["told"]
