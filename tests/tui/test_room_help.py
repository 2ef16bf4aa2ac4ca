"""The help in a room speaks of the keys of this board, and fits a small window."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client.states import state
from tests.tui.conftest import OpenScreen
from tests.tui.test_game_page import LOOKS, game
from tictactoe_client.settings import Settings
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.room.help import list_room_help
from tictactoe_engine import PRESETS, Coordinates, Keys, Rules
from tictactoe_server.server import Server


@pytest.mark.parametrize("rules", [*PRESETS.values(), Rules(32, 32, 5), Rules(gravity=True)], ids=str)
@pytest.mark.parametrize("options", [{}, {"ascii": True}, {"keys": Keys.PAD}, {"coordinates": Coordinates.X_Y_1}])
def test_it_fits_a_window_of_80x24(rules: Rules, options: dict[str, Any]) -> None:
    lines = list_room_help(state(rules=rules), Keymap(), Settings(**options))
    assert len(lines) <= 24 - 5
    assert max(map(measure, lines)) <= 80 - 6


def test_it_has_none_of_the_letters_that_would_place() -> None:
    text = "\n".join(list_room_help(state(), Keymap(), Settings()))
    assert "1-9 (1 2 3 on top)" in text
    assert "qwe" not in text
    assert "qwe/asd/zxc" in "\n".join(list_room_help(state(), Keymap(), Settings(keys=Keys.LETTERS)))
    assert "c clocks" not in text
    assert "7 8 9 on top" in "\n".join(list_room_help(state(), Keymap(), Settings(keys=Keys.PAD)))


def test_it_names_ones_own_keys() -> None:
    keymap = Keymap({"chat": ("f2",), "command": ("!",), "accept": ("f3",)})
    text = "\n".join(list_room_help(state(), keymap, Settings(keys=Keys.LETTERS)))
    assert "F2 talks" in text
    assert "F3 accepts" in text
    assert "!b3 Enter" in text
    assert "!draw !undo" in text


def test_larger_boards_take_a_cell_or_a_column() -> None:
    gomoku = "\n".join(list_room_help(state(rules=PRESETS["gomoku"]), Keymap(), Settings()))
    assert "type the cell, h8 or 2,3 (row, column), and Enter" in gomoku
    falling = "\n".join(list_room_help(state(rules=PRESETS["connect-four"]), Keymap(), Settings()))
    assert "type the column (A to G) and Enter; the mark falls" in falling


@pytest.mark.parametrize("look", LOOKS)
async def test_a_letter_that_places_nothing_says_how_names_are_typed(
    server: Server, open_screen: OpenScreen, look: dict[str, Any]
) -> None:
    async with game(open_screen, server, keys=Keys.LETTERS, **look) as (ana, bo, _):
        await ana.press("b")
        await ana.until("Here a letter places: qwe/asd/zxc. For a name such as b3: :b3")
        await ana.press("?")
        await ana.until("A letter places at once:", "A name: :b3 Enter")
        await ana.press("escape")
        await ana.press(":", "b", "3", "enter")
        assert (await bo.state(ply=1))["last"] == 7
