"""The actions that each screen outside rooms has keys for."""

from __future__ import annotations

import pytest

from tests.tui.conftest import OpenScreen, ScreenUser
from tests.tui.test_every_key import ANYWHERE
from tictactoe_client.tui.keymap import SITUATIONS
from tictactoe_server.server import Server

pytestmark = pytest.mark.usefixtures("as_in_1_0")


def bound(user: ScreenUser) -> set[str]:
    """Return the actions that have keys on the screen."""
    return {active.binding.id or "" for active in user.app.screen.active_bindings.values()}


async def test_every_screen_outside_rooms_has_its_actions(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url) as ana:
        for keys, words, situation in (
            ((), "Playing as", "on the first page"),
            (("down", "down", "enter"), "> Game", "in the form of a new room"),
            (("escape", "y", "enter"), "You have finished no game", "in a list"),
        ):
            await ana.press(*keys)
            await ana.until(words)
            wanted = {*SITUATIONS[situation], *ANYWHERE}
            of_rows = {"home", "end", "page_up", "page_down", "up", "down", "open", "save", "share"}
            absent = of_rows if situation == "in a list" else set()
            assert (wanted - absent, wanted & absent & bound(ana)) == (wanted & bound(ana), set()), situation


async def test_without_a_server_there_are_keys_that_help(open_screen: OpenScreen) -> None:
    async with open_screen("ws://127.0.0.1:1") as ana:
        await ana.until("r retry")
        assert {*SITUATIONS["without a server"], *ANYWHERE} <= bound(ana)
