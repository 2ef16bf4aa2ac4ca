"""What is said to a line that is typed while there is no connection, by itself."""

from __future__ import annotations

from tests.client.states import ANA, state
from tictactoe_client.settings import Settings
from tictactoe_client.typed.offline import Offline
from tictactoe_engine import PRESETS

FALLING = PRESETS["connect-four"]


def test_where_marks_fall_a_column_is_kept_as_the_cell_where_the_mark_will_land() -> None:
    offline, now = Offline(Settings(), ANA), state((38, 31), FALLING)
    assert offline.answer("d", now, ()) == ["D4 is kept: it is played when the connection is back."]
    assert offline.take_kept(now) == (24, [])


def test_a_full_column_is_told_and_nothing_is_kept() -> None:
    offline, now = Offline(Settings(), ANA), state((35, 28, 21, 14, 7, 0), FALLING)
    assert offline.answer("a", now, ()) == ["Column A is full. Free: B C D E F G."]
    assert offline.kept is None
