"""The help outside rooms, and how the page of help breaks lines that are too long for its window."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tui.conftest import OpenScreen
from tests.tui.test_game_page import game
from tictactoe_client.settings import Settings
from tictactoe_client.tui.form_help import list_form_help
from tictactoe_client.tui.help_page import break_line
from tictactoe_client.tui.home_help import list_home_help
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.picture import measure
from tictactoe_client.tui.room_form import RoomForm
from tictactoe_server.server import Server


@pytest.mark.parametrize("options", [{}, {"ascii": True}])
def test_it_fits_a_window_of_80x24(options: dict[str, Any]) -> None:
    lines = list_home_help(Keymap(), Settings(**options))
    assert len(lines) <= 24 - 5
    assert max(map(measure, lines)) <= 80 - 6
    assert "ascii" not in options or "\n".join(lines).isascii()


@pytest.mark.parametrize("alone", [False, True])
def test_the_help_of_the_form_fits_too_and_tells_what_each_line_means(alone: bool) -> None:
    lines = list_form_help(Keymap({"open": ("f5",)}), Settings(), alone=alone)
    assert len(lines) <= 24 - 5
    assert max(map(measure, lines)) <= 80 - 6
    assert "F5 opens the room" in lines[0]
    titles = {field.title for field in RoomForm(alone=alone).fields}
    assert titles <= {line.partition(":")[0] for line in lines}


def test_it_names_ones_own_keys() -> None:
    keys = {"up": ("k",), "down": ("j",), "left": ("h",), "right": ("l",), "end": ("f5",), "review": ("f6",)}
    text = "\n".join(list_home_help(Keymap(keys), Settings()))
    for words in ("h/l step", "F5 returns", "F6 shows", "k/j go from"):
        assert words in text


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("  r asks for a rematch", 40, ["  r asks for a rematch"]),
        ("  r asks for a rematch", 15, ["  r asks for", "    a rematch"]),
        ("Goal: 3 in a row.", 11, ["Goal: 3", "  in a row."]),
        ("", 40, [""]),
    ],
)
def test_what_goes_on_in_another_line_stands_further_in(line: str, width: int, lines: list[str]) -> None:
    assert break_line(line, width) == lines


@pytest.mark.parametrize("width", [36, 50, 80])
async def test_no_line_of_help_is_cut(server: Server, open_screen: OpenScreen, width: int) -> None:
    async with open_screen(server.url, size=(width, 60), colour=False) as ana:
        await ana.until("Playing as")
        await ana.press("?")
        text = await ana.until("At the board:\n     3x3: the digits", "tictactoe-client")
        assert "…" not in text
        assert "saves the game" in " ".join(text.split())


async def test_lines_of_the_help_in_a_room_stand_further_in(server: Server, open_screen: OpenScreen) -> None:
    async with game(open_screen, server) as (ana, *_):
        await ana.press("?")
        await ana.until("   A key places at once:\n     1-9 (1 2 3 on top)")
