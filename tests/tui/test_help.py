import re
from typing import Any

import pytest

from tests.tui.conftest import AtHome, Game
from tictactoe_client.settings import Settings
from tictactoe_client.text.help import list_room_help
from tictactoe_client.tui.keymap import Keymap
from tictactoe_engine import PRESETS, Rules


def rows_of(
    rules: Rules = PRESETS["classic"], keymap: Keymap | None = None, *, plays: bool = True, **options: Any
) -> dict[str, str]:
    """Return the help's descriptions by key, for all topics."""
    settings, show = Settings(**options), (keymap or Keymap()).show
    return {does: keys for _, rows in list_room_help(rules, settings, show, plays=plays) for keys, does in rows}


def test_help_shows_user_defined_keys() -> None:
    told = rows_of(keymap=Keymap({"chat": ("f2",), "command": ("!",), "accept": ("f3",)}))
    assert (told["says it to all"], told["accepts"], told["gives up"]) == ("F2", "F3", "!resign")


async def test_help_in_a_room_lists_only_possible_actions(game: Game) -> None:
    async with game(size=(80, 50)) as (ana, *_):
        assert "plays again" not in await ana.do("?", "gives up", "offers a draw")
    async with game(size=(80, 50), moves=(0, 3), gives_up=True) as (ana, *_):
        assert "gives up" not in await ana.do("?", "plays again")


@pytest.mark.parametrize("width", [30, 80])
async def test_help_lines_are_complete_with_keys_beside_effects(at_home: AtHome, width: int) -> None:
    async with at_home(size=(width, 40)) as ana:
        text = await ana.do("?", "Everywhere")
        while "--help" not in ana.text:
            await ana.press("pagedown")
            text += ana.text
        await ana.do("?", "Playing as")
    assert "…" not in text
    assert re.search(r"  Ctrl\+Q +ends the program", text)
