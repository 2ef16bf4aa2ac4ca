from __future__ import annotations

import pytest

from tictactoe_client.online.events import Lost
from tictactoe_client.text.arrival import describe_attempts, describe_return
from tictactoe_client.text.lobby import offer_games
from tictactoe_client.text.wording import describe_seconds
from tictactoe_engine import Rules
from tictactoe_protocol.wording import count, describe_cell, describe_reason, join_words


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (join_words(["A1"]), "A1"),
        (join_words(["A1", "B2", "C3"]), "A1, B2 and C3"),
        (count(1, "move"), "1 move"),
        (count(0, "move"), "0 moves"),
        (describe_reason("timeout"), "on time"),
        (describe_seconds(30.2), "30 seconds"),
        (describe_seconds(60), "1 minute"),
        (describe_seconds(7 * 60), "7 minutes"),
        (describe_cell(0, Rules()), "A1, top left"),
        (describe_cell(4, Rules()), "B2, centre"),
        (describe_cell(0, Rules(4, 4)), "A1"),
        (
            describe_attempts(Lost("it broke", None, 60, 600), holds_seat=True),
            "Connection lost. Trying again for up to 10 minutes. "
            "While the server runs, your seat is held for 1 minute.",
        ),
        (
            describe_attempts(Lost("it broke", None, 60, 600), holds_seat=False),
            "Connection lost. Trying again for up to 10 minutes.",
        ),
        (
            describe_attempts(Lost("it broke", None, 60, 60), holds_seat=True),
            "Connection lost. Trying again for up to 1 minute.",
        ),
        (describe_attempts(Lost("it broke", None, 0, 0), holds_seat=True), "Connection lost. Trying again."),
        (describe_return(3.6), "Connected again after 4 seconds."),
        (offer_games([("K7M4PQ", 31_000)])[0], "You have a game in K7M4PQ (0:31 left): type resume."),
    ],
)
def test_what_a_state_holds_is_put_into_words(told: str, words: str) -> None:
    assert told == words
