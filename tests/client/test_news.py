import pytest
from msgspec import UNSET
from msgspec.structs import replace

from tests.client.states import ANA, BO, announce, players, seat, state
from tictactoe_client.text.wording import describe_choices
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Offers, RoomState, SeatState
from tictactoe_protocol.terms import ClockTerms
from tictactoe_words.choices import choices, describe_deed

WATCHER = "p-watcher"
THREE = PRESETS["three-players"]


def test_a_takeback_is_announced_with_its_moves_and_its_player() -> None:
    assert announce(state((0, 1)), state((0,)), ANA) == ["B1 is taken back."]
    assert announce(state((0, 1, 2)), state((0,)), ANA) == ["B1 and C1 are taken back."]
    assert announce(state((0, 1), offers=Offers(undo="O")), state((0,)), ANA) == ["bo takes back B1."]


def test_players_with_the_same_name_are_told_apart_by_mark() -> None:
    twins: dict[str, SeatState | None] = {"X": seat(ANA, "ana"), "O": seat(BO, "ana")}
    assert announce(state(seats=twins), state((0,), seats=twins), WATCHER) == ["ana (X) plays A1, top left."]


PLAIN = state([0])
GONE = {**players(), "O": SeatState(BO, "bo", online=False, bot=None, hold_ms=0)}


@pytest.mark.parametrize(
    ("offers", "told"),
    [
        (Offers(draw="O"), ["Type yes or no."]),
        (Offers(undo="O"), ["Type yes or no."]),
        (
            Offers(draw="O", undo="O"),
            ["Type draw accept or draw decline.", "Type undo accept or undo decline."],
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
    gone = state([0, 4], seats=GONE)
    claim = "bo has been away too long. Type claim to take the win, claim draw to call it a draw, or just wait."
    assert describe_choices(PLAIN, gone, ANA) == [claim]
    hardly_begun = state([0], seats=GONE)
    (told,) = describe_choices(PLAIN, hardly_begun, ANA)
    assert told.endswith("Type claim to abort the game, or just wait.")
    (claim_of_win,) = choices(hardly_begun, ANA).questions[0].deeds
    assert describe_deed(claim_of_win, hardly_begun) == "abort"
    assert describe_choices(gone, replace(gone, watchers=3), ANA) == describe_choices(PLAIN, gone, BO) == []


def test_of_three_players_only_newly_claimable_ones_are_named() -> None:
    def away(*holds_ms: int) -> RoomState:
        held = zip(players(THREE).items(), (UNSET, *holds_ms), strict=True)
        seats = {mark: each and replace(each, online=mark == "X", hold_ms=hold_ms) for (mark, each), hold_ms in held}
        return state([0], THREE, seats=seats)

    ends = "has been away too long. Type claim to take the win, or just wait."
    assert describe_choices(away(9_000, 4_000), away(5_000, 0), ANA) == [f"cy {ends}"]
    assert describe_choices(away(5_000, 0), away(0, 0), ANA) == [f"bo {ends}"]
    assert describe_choices(away(0, 0), away(0, 60_000), ANA) == []


def test_an_absent_opponent_of_a_game_over_days_has_not_lost_the_connection() -> None:
    before = replace(state([0]), time_control=ClockTerms(days=3))
    assert announce(before, replace(before, seats=GONE), ANA) == ["bo is not here."]
    assert announce(state([0]), state([0], seats=GONE), ANA) == ["bo lost the connection."]
