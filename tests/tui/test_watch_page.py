"""The list of games to watch, and the code of one that is not listed."""

from __future__ import annotations

import pytest

from tests.peer import open_peer, two_playing
from tests.tui.conftest import OpenScreen
from tictactoe_client.tui.opening import Opening
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings as ServerSettings

WATCH = Opening("watch")


async def test_a_private_game_is_watched_by_its_code(server: Server, open_screen: OpenScreen) -> None:
    async with (
        two_playing(server, "bo", "cy", visibility="private") as (*_, code),
        open_screen(server.url, opening=WATCH) as ana,
    ):
        await ana.until("No public game", "Private games are not listed: type their code")
        await ana.type(code.lower(), "The code of a room to watch", code.lower())
        await ana.do("enter", f"WATCHING {code}")
        await ana.do("escape", "Private games are not listed")


@pytest.mark.parametrize("opening", [Opening(), WATCH])
async def test_games_come_and_go_by_themselves(server: Server, open_screen: OpenScreen, opening: Opening) -> None:
    async with (
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "cy") as cy,
        open_screen(server.url, opening=opening) as ana,
    ):
        if opening is not WATCH:
            await ana.until("Playing as")
            await ana.press("w", "enter")
        await ana.until("No public game", "0 live")
        code = (await bo.ask("create"))["room"]
        await cy.ask("join", room=code)
        await ana.until("1 live", f"> {code}")
        await bo.ask("resign", room=code)
        await ana.until("No public game", "0 live")


async def test_a_wrong_code_is_said_and_taken_off(server: Server, open_screen: OpenScreen) -> None:
    async with open_screen(server.url, opening=WATCH) as ana:
        await ana.until("Private games")
        await ana.enter("r7", '"r7" has 2')
        await ana.type("k7m4pq", "k7m4pq")
        await ana.do("enter", "No room K7M4PQ")
        await ana.do("escape", "Playing as")


async def test_a_link_is_followed_to_its_server(server: Server, open_screen: OpenScreen) -> None:
    async with (
        Server(ServerSettings(host="127.0.0.1", port=0)) as other,
        open_peer(other.url, "bo") as bo,
        open_peer(other.url, "cy") as cy,
    ):
        code = (await bo.ask("create"))["room"]
        await cy.ask("join", room=code)
        async with open_screen(server.url, opening=WATCH) as ana:
            await ana.until("Private games")
            await ana.paste(f"tictactoe-client watch {other.url}/{code}")
            await ana.do("enter", f"WATCHING {code}")
