"""What is said to a line that is typed while there is no connection, by itself."""

from __future__ import annotations

from tests.client.states import ANA, state
from tictactoe_client.input.offline import Offline
from tictactoe_client.input.stepping import Stepping
from tictactoe_client.settings import Settings
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Result

FALLING = PRESETS["connect-four"]


def offline_for(viewer: str) -> Offline:
    return Offline(Settings(), viewer, Stepping(Settings(), viewer))


def test_where_marks_fall_a_column_is_kept_as_the_cell_where_the_mark_will_land() -> None:
    offline, now = offline_for(ANA), state((38, 31), FALLING)
    assert offline.answer("d", now, ()) == ["D4 is kept: it is played when the connection is back."]
    assert offline.take_kept(now) == (24, [])


def test_a_full_column_is_told_and_nothing_is_kept() -> None:
    offline, now = offline_for(ANA), state((35, 28, 21, 14, 7, 0), FALLING)
    assert offline.answer("a", now, ()) == ["Column A is full. Free: B C D E F G."]
    assert offline.kept is None


def test_a_kept_move_is_not_played_into_a_game_that_was_claimed_meanwhile() -> None:
    offline, now = offline_for(ANA), state((0, 4))
    assert offline.answer("b1", now, (0, 4)) == ["B1 is kept: it is played when the connection is back."]
    claimed = state((0, 4), result=Result("O", "claimed"))
    assert offline.take_kept(claimed) == (None, ["B1 is not played: the game has gone on without it."])


def test_stepping_goes_both_ways_without_a_connection() -> None:
    offline, now = offline_for(ANA), state((0, 4))
    assert offline.answer("p", now, (0, 4))[0].startswith("Move 1 of 2")
    assert offline.answer("n", now, (0, 4))[0].startswith("Move 2 of 2")
    assert offline.answer("n", now, (0, 4)) == ["There is no connection: type n again when it is back."]
