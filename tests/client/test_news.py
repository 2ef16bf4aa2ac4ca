from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.client.states import ANA, BO, CLASSIC, announce, players, seat, state
from tictactoe_client.text.talk import announce_chat
from tictactoe_client.text.wording import describe_choices, describe_claim
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol.choices import absent_opponents
from tictactoe_protocol.lines import describe_lines, split_lines
from tictactoe_protocol.pushes import ChatLine, Offers, SeatState

WATCHER = "p-watcher"
THREE = PRESETS["three-players"]


@pytest.mark.parametrize(
    ("rules", "moves", "viewer", "told"),
    [
        (PRESETS["gomoku"], (112,), BO, "ana plays H8."),
        (CLASSIC, (0, 3, 1, 4, 2), ANA, "You play C1. Row 1 is X X X. You win."),
        (CLASSIC, (0, 1, 2, 4, 3, 5, 7, 6, 8), BO, "ana plays C3, bottom right. The board is full. It's a draw."),
    ],
    ids=["large board", "won", "draw"],
)
def test_a_move_is_told_in_one_sentence_with_what_it_leads_to(
    rules: Rules, moves: tuple[int, ...], viewer: str, told: str
) -> None:
    assert announce(state(moves[:-1], rules), state(moves, rules), viewer) == [told]


def test_a_gap_without_the_moves_still_tells_each_of_them_the_last_one_last() -> None:
    told = announce(state(), state((8, 4, 0)), WATCHER)
    assert sorted(told[:-1]) == ["ana plays C3, bottom right.", "bo plays B2, centre."]
    assert told[-1] == "ana plays A1, top left."


def test_after_a_loss_of_one_s_own_nobody_is_said_to_have_dropped() -> None:
    held = SeatState(BO, "bo", False, None, hold_ms=60_000)
    dropped = state(seats={"X": seat(ANA, "ana"), "O": held})
    assert announce(state(), dropped, ANA, after_loss=True) == ["bo is not here. Waiting for them: 1:00."]
    assert announce(state(), dropped, ANA, after_loss=True, sees_board=True) == ["bo is not here."]


def test_a_game_that_ended_unseen_is_made_up_for() -> None:
    before = state((0,), score={ANA: 0, BO: 1})
    after = state((4,), game=2, score={ANA: 1, BO: 1})
    told = announce(before, after, WATCHER)
    assert told == ["Game 1 has ended: ana won.", "Game 2. ana is X, bo is O.", "ana plays B2, centre."]


def test_moves_taken_back_are_named_with_whoever_asked() -> None:
    asked = state((0, 4), offers=Offers(undo="X"))
    assert announce(asked, state(()), ANA, (), (0, 4)) == ["You take back A1 and B2."]
    assert announce(asked, state(()), BO, (), (0, 4)) == ["ana takes back A1 and B2."]
    assert announce(asked, state(()), WATCHER, sees_board=True) == ["ana takes back A1 and B2."]
    by_the_mover = state((0, 4), offers=Offers(undo="O"))
    assert announce(by_the_mover, state((0,)), ANA) == ["bo takes back B2."]


def test_whoever_took_moves_back_unseen_is_not_guessed() -> None:
    assert announce(state((0, 1)), state((0,)), ANA) == ["B1 is taken back."]
    assert announce(state((0, 1, 2)), state((0,)), ANA) == ["B1 and C1 are taken back."]
    assert announce(state((0, 4, 1, 3)), state((0,)), ANA) == ["The last 3 moves are taken back."]
    asked, later = state((0, 1), offers=Offers(undo="O")), replace(state((0,)), seq=9)
    assert announce(asked, later, ANA) == ["B1 is taken back."]


def test_moves_taken_back_and_others_played_are_told_after_a_gap() -> None:
    before, after = (0, 1, 2, 3), (0, 1, 8, 4)
    assert announce(state(before), state(after), ANA, after, before) == [
        "C1 and A2 are taken back.",
        "You play C3, bottom right.",
        "bo plays B2, centre.",
    ]


def test_what_is_to_be_taken_back_is_told_as_far_as_it_is_known() -> None:
    played = (4, 0, 1, 8)
    asked = state(played, offers=Offers(undo="X"))
    assert announce(state(played), asked, BO, played) == ["ana asks to take back B1 and C3."]
    assert announce(state(played), asked, ANA, played) == ["You ask to take back B1 and C3."]
    assert announce(state(played), asked, BO) == ["ana asks to take back the last 2 moves."]
    by_the_mover = state(played, offers=Offers(undo="O"))
    assert announce(state(played), by_the_mover, WATCHER) == ["bo asks to take back C3."]


def test_two_players_of_one_name_are_told_apart() -> None:
    twins: dict[str, SeatState | None] = {"X": seat(ANA, "ana"), "O": seat(BO, "ana")}
    assert announce(state(seats=twins), state((0,), seats=twins), WATCHER) == ["ana (X) plays A1, top left."]


def test_names_and_chat_cannot_steer_a_terminal() -> None:
    evil: dict[str, SeatState | None] = {"X": seat(ANA, "a\x1b[2Jna"), "O": seat(BO, "bo")}
    told = announce(state(seats=evil), state((0,), seats=evil), BO)
    line = ChatLine(room="K7M4PQ", from_="b\x9bo", seat=None, text="x\u202ey\x07", at=0, player=BO)
    assert told == ["a[2Jna plays A1, top left."]
    assert announce_chat(line) == "bo (watching): xy"


def test_a_part_of_a_row_is_told_by_its_ends() -> None:
    rules = Rules(rows=5, columns=5, line=3)
    assert describe_lines(state((6, 0, 7, 1, 8), rules)) == "Row 2, B2 to D2, is X X X."
    assert describe_lines(state((6, 0, 12, 1, 18), rules)) == "The diagonal B2 to D4 is X X X."
    assert describe_lines(state()) == ""


def test_lines_are_found_again_in_the_cells_of_a_result() -> None:
    assert split_lines((2, 4, 6), CLASSIC) == [(2, 4, 6)]


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
