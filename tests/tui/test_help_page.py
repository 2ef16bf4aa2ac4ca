from __future__ import annotations

import pytest

from tests.tui.conftest import AtHome
from tictactoe_client.text.help import list_home_help
from tictactoe_client.tui.keymap import Keymap
from tictactoe_client.tui.screen import lay_out_topics


def test_it_names_ones_own_keys() -> None:
    text = lay_out_topics(list_home_help(Keymap({"help": ("f2",), "claim": ("x",)}).show), 74).plain
    assert "F2" in text
    assert "x  takes the win" in text


@pytest.mark.parametrize("width", [20, 74])
def test_no_line_is_wider_than_the_window_and_what_a_key_does_stands_beside_it(width: int) -> None:
    rows = (("?", "help, and more of it than fits"), ("a very long list of keys", "does it"))
    topics = [("Keys", rows), ("Signs", ())]
    lines = lay_out_topics(topics, width).plain.splitlines()
    assert max(map(len, lines)) <= max(width, len("  a very long list of keys"))
    assert any(line.startswith("  ?") and "help" in line for line in lines)


@pytest.mark.parametrize("size", [(36, 10), (80, 24)])
async def test_it_scrolls_and_goes_back(at_home: AtHome, size: tuple[int, int]) -> None:
    async with at_home(size=size) as ana:
        await ana.do("?", "Help", "Everywhere", "Esc back")
        while "--help" not in ana.text:
            await ana.press("pagedown")
        await ana.do("?", "Playing as")
