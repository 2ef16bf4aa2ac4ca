from typing import Any

import pytest
from msgspec.structs import replace

from tests.client.states import ANA, BO, seat, state
from tests.client.test_actions import alone, answer
from tests.client.test_room import FakeCourier
from tictactoe_client.input.record import RecordActions, RecordedRoom
from tictactoe_client.settings import Settings
from tictactoe_client.text.answers import answer_query
from tictactoe_client.text.arrival import set_scene
from tictactoe_client.text.help import describe_help
from tictactoe_client.text.wording import has_moved_on
from tictactoe_engine import PRESETS, Rules
from tictactoe_engine.records import parse_record
from tictactoe_protocol.pushes import Result, RoomState
from tictactoe_protocol.requests import Choose

SWAP2 = Rules(5, 5, 4, opening="swap2")
PIE = PRESETS["four-pie"]
QUIET = Settings(draws_board=False)
BACK = {"X": seat(BO, "bo"), "O": seat(ANA, "ana")}


def swap2(ply: int, *chosen: str, **fields: Any) -> RoomState:
    return state(range(ply), SWAP2, chosen=chosen, **fields)


@pytest.mark.parametrize(
    ("now", "told"),
    [
        (swap2(2), "Last: you played B1."),
        (swap2(5, "more"), "Last: bo played E1."),
        (swap2(3, "X", seats=BACK), "Last: you played C1."),
        (swap2(4, "X", seats=BACK), "Last: you played D1."),
    ],
)
def test_the_last_mark_of_an_opening_is_attributed_to_its_player(now: RoomState, told: str) -> None:
    assert answer_query("last", None, now, ANA) == [told]


async def test_a_mark_of_the_opening_is_compared_with_no_best_move() -> None:
    over = state((5, 0), PIE, chosen=("O",), result=Result("X", "resigned"))
    actions, _ = alone(over, (5, 0))
    first, second = [[*(await actions.do_line(f"value {ply}")).lines] for ply in (1, 2)]
    assert not any("played" in line for line in first)
    assert any(line.startswith("O played A1") for line in second)


def test_a_choice_redraws_the_scene_even_with_the_same_board() -> None:
    due, stays, more = swap2(3), swap2(3, "O"), swap2(3, "more")
    assert set_scene(due, stays, BO, QUIET) == ["Your move, O."]
    assert has_moved_on(due, more)
    assert set_scene(due, more, BO, QUIET) == ["Place O: 2 to go, then ana chooses a side."]
    assert set_scene(swap2(2), due, ANA, QUIET) == ["bo chooses a side."]
    assert set_scene(None, swap2(1), BO, QUIET) == ["ana places O: 2 to go, then you choose a side."]
    assert set_scene(swap2(1), swap2(2), BO, QUIET) == []


def test_help_lists_the_choices_that_are_due() -> None:
    def helped(now: RoomState, viewer: str) -> list[str]:
        actions, _ = alone(now, tuple(range(now.ply)), FakeCourier(player=viewer))
        return describe_help(now, Settings(), viewer, actions.now)

    told = helped(swap2(3), BO)
    swap_line = "swap takes the other side, stay keeps yours, more places two more, and the other one chooses"
    assert f"Opening: {swap_line}." in told
    assert any(line.startswith("One player places three stones for both sides") for line in told)
    assert not any(line.startswith("Opening:") for line in (*helped(swap2(3), ANA), *helped(swap2(3, "O"), BO)))
    standard = describe_help(state((), PRESETS["gomoku-standard"]), Settings(), ANA)
    assert "A line longer than 5 doesn't count." in standard


@pytest.mark.parametrize(
    ("line", "take"),
    [("1", "X"), ("stay", "O"), ("3", "more")],
)
async def test_a_typed_choice_is_sent_for_this_position(line: str, take: str) -> None:
    courier = FakeCourier(player=BO)
    actions, _ = alone(swap2(3), (0, 1, 2), courier)
    assert (await actions.do_line(line)).lines == ()
    assert courier.asked == [Choose(room="K7M4PQ", take=take, ply=3)]


@pytest.mark.parametrize(
    ("now", "line", "told"),
    [
        (swap2(2), "swap", "There is nothing to choose now."),
        (swap2(3), "swap", "bo chooses a side."),
        (swap2(4, "O"), "more", "There is nothing to choose now."),
        (state((0, 1)), "stay", "There is nothing to choose now."),
        (state((0, 1)), "take z", "There is no such mark here: X O."),
        (state((0, 1)), "take", "There is no such mark here: X O."),
    ],
)
async def test_an_invalid_opening_choice_is_answered_without_a_request(now: RoomState, line: str, told: str) -> None:
    courier = FakeCourier()
    actions, _ = alone(now, tuple(range(now.ply)), courier)
    assert (await actions.do_line(line)).lines == (told,)
    assert courier.asked == []


async def test_a_number_without_an_option_lists_the_options() -> None:
    actions, _ = alone(swap2(3), (0, 1, 2), FakeCourier(player=BO))
    assert "1 or swap" in (await actions.do_line("5")).lines[-1]


async def test_without_a_connection_a_choice_is_put_off_in_words() -> None:
    actions, _ = alone(swap2(3), (0, 1, 2), FakeCourier(player=BO))
    assert "swap" in "".join(await answer(actions, "take x"))


async def test_after_our_choice_we_are_not_on_turn_until_its_state_arrives() -> None:
    _, room = alone(swap2(3), (0, 1, 2), FakeCourier(player=BO))
    assert room.is_my_turn
    await room.choose("more")
    assert not room.is_my_turn
    room._receive(replace(swap2(3, "more"), seq=5))
    await room.choose("more")
    assert room.is_my_turn


RECORD = parse_record(
    """
[Rows "5"] [Columns "5"] [Line "4"] [Opening "swap2"] [X "bo"] [O "ana"]
1. a1 b1 2. c1 {swap2 O more} d1 3. e1 {swap2 X O} a2 4. b2 *
"""
)


async def test_the_list_of_moves_includes_the_choices() -> None:
    actions = RecordActions(RecordedRoom(RECORD), QUIET)
    actions.timeline = actions.timeline.jump(5)
    assert (await actions.do_line("moves")).lines == (
        "Moves: 1 X A1, 2 O B1, 3 X C1, 4 O D1, 5 X E1.",
        "After move 3: bo places two more, then ana chooses.",
        "After move 5: ana takes O: bo is X now.",
    )
    live, _ = alone(swap2(4, "X", seats=BACK), (0, 1, 2, 3))
    assert (await live.do_line("moves")).lines[1:] == ("After move 3: bo takes X: you are O now.",)
