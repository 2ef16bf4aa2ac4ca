from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.client.states import ANA, BO, players, seat, state
from tictactoe_client.text.news import absent_opponents, describe_choices, describe_claim
from tictactoe_protocol.pushes import Offers, SeatState

PLAIN = state([0])
GONE = {**players(), "O": SeatState(BO, "bo", online=False, bot=None, hold_ms=0)}


@pytest.mark.parametrize(
    ("offers", "told"),
    [
        (Offers(draw="O"), ["Type yes to accept, no to refuse."]),
        (Offers(undo="O"), ["Type yes to let them, no to refuse."]),
        (
            Offers(draw="O", undo="O"),
            ["Type draw to accept, draw decline to refuse.", "Type undo to let them, undo decline to refuse."],
        ),
        (Offers(draw="X", undo="X"), []),
        (Offers(), []),
    ],
)
def test_only_an_offer_of_the_other_wants_an_answer(offers: Offers, told: list[str]) -> None:
    asked = state([0], offers=offers)
    assert describe_choices(PLAIN, asked, ANA) == told
    assert describe_choices(asked, asked, ANA) == []
    assert describe_choices(PLAIN, asked, "p-watcher") == []


def test_a_seat_that_is_no_longer_held_may_be_claimed() -> None:
    gone = state([0], seats=GONE)
    assert absent_opponents(gone, ANA) == {"O": 0}
    assert absent_opponents(gone, BO) == {}
    assert absent_opponents(gone, "p-watcher") == {}
    assert describe_claim(gone, ["O"]) == (
        "bo has been gone too long. Type claim to take the win, claim draw to call it a draw, or just wait."
    )


def test_nobody_can_be_claimed_who_is_here_or_left_or_after_the_end() -> None:
    assert absent_opponents(PLAIN, ANA) == {}
    assert absent_opponents(state([0], seats={**players(), "O": seat(BO, "bo", online=False, left=True)}), ANA) == {}
    assert absent_opponents(replace(state([0], seats=GONE), status="over"), ANA) == {}
