"""What is said to a line that is typed while there is no connection, by itself."""

from __future__ import annotations

from typing import cast

from tests.client.states import ANA, state
from tictactoe_client.input.actions import Actions, Outcome
from tictactoe_client.online.room import Room
from tictactoe_client.settings import Settings
from tictactoe_engine import PRESETS
from tictactoe_protocol.pushes import Result, RoomState

FALLING = PRESETS["connect-four"]


def alone() -> Actions:
    return Actions(cast(Room, None), Settings(), ANA)


def answer(actions: Actions, line: str, now: RoomState, moves: tuple[int, ...] = ()) -> list[str]:
    return list(actions.do_line_offline(line, now, moves).lines)


def test_where_marks_fall_a_column_is_kept_as_the_cell_where_the_mark_will_land() -> None:
    actions, now = alone(), state((38, 31), FALLING)
    assert answer(actions, "d", now) == ["D4 is kept: it is played when the connection is back."]
    assert actions.kept is not None
    assert actions.kept.cell == 24


def test_a_full_column_is_told_and_nothing_is_kept() -> None:
    actions, now = alone(), state((35, 28, 21, 14, 7, 0), FALLING)
    assert answer(actions, "a", now) == ["Column A is full. Free: B C D E F G."]
    assert actions.kept is None


async def test_a_kept_move_is_not_played_into_a_game_that_was_claimed_meanwhile() -> None:
    actions, now = alone(), state((0, 4))
    assert answer(actions, "b1", now, (0, 4)) == ["B1 is kept: it is played when the connection is back."]
    claimed = state((0, 4), result=Result("O", "claimed"))
    assert await actions.play_kept(claimed) == Outcome(("B1 is not played: the game has gone on without it.",))
    assert actions.kept is None


def test_stepping_goes_both_ways_without_a_connection() -> None:
    actions, now = alone(), state((0, 4))
    assert answer(actions, "p", now, (0, 4))[0].startswith("Move 1 of 2")
    assert answer(actions, "n", now, (0, 4))[0].startswith("Move 2 of 2")
    assert answer(actions, "n", now, (0, 4)) == ["There is no connection: type n again when it is back."]
