"""From the first page to the end of a game, on small screens and large ones, each only with the keys that they name."""

from __future__ import annotations

from typing import Any

from tests.peer import open_peer
from tests.tui.conftest import OpenScreen
from tests.tui.test_game_page import LOOKS
from tests.walks import Walker, play_a_friend, play_the_computer, watch_others
from tictactoe_server.server import Server

SMALL: dict[str, Any] = {"size": (80, 24), **LOOKS[0]}
LARGE: dict[str, Any] = {"size": (200, 50), **LOOKS[1]}


async def test_a_friend_joins_by_the_code_and_the_game_is_won(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, **SMALL) as ana, open_screen(server.url, name="bo", **LARGE) as bo:
        await play_a_friend(Walker(ana), Walker(bo))
    assert (ana.app.return_code, bo.app.return_code) == (0, 0)


async def test_the_computer_is_played_to_the_end(bots: Server, open_screen: OpenScreen) -> None:
    async with open_screen(bots.url, **SMALL) as ana:
        await play_the_computer(Walker(ana))
    assert ana.app.return_code == 0


async def test_a_game_is_found_in_the_list_and_watched_to_the_end(server: Server, open_screen: OpenScreen) -> None:
    async with (
        open_peer(server.url, "ana") as ana,
        open_peer(server.url, "bo") as bo,
        open_screen(server.url, name="wat", **LARGE) as wat,
    ):
        code = (await ana.ask("create"))["room"]
        await bo.ask("join", room=code)
        await ana.state(status="playing")
        await watch_others(Walker(wat), {"X": ana, "O": bo}, code)
    assert wat.app.return_code == 0
