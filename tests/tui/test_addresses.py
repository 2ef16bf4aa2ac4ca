"""The full screen at a house with several addresses: it shows the one that it is at, and goes on at the next."""

from __future__ import annotations

from tests.peer import open_peer
from tests.proxy import run_proxy
from tests.tui.conftest import OpenScreen
from tictactoe_client.files.players import KnownPlayers
from tictactoe_server.server import Server


async def test_the_first_page_shows_where_one_is_now(server: Server, open_screen: OpenScreen) -> None:
    async with (
        run_proxy(server.port) as one,
        run_proxy(server.port) as two,
        open_screen(one.url, server=f"{one.url},{two.url}") as ana,
    ):
        await ana.until(one.url, "Playing as")
        one.lose()
        await ana.until(two.url, "Playing as")
        assert {KnownPlayers().find((way.url,)) is not None for way in (one, two)} == {True}


async def test_an_address_that_is_gone_is_passed_over_at_the_start(server: Server, open_screen: OpenScreen) -> None:
    async with run_proxy(server.port) as one, run_proxy(server.port) as two:
        one.is_closed = True
        async with open_screen(one.url, server=f"{one.url},{two.url}") as ana:
            await ana.until(two.url, "Playing as")


async def test_a_link_to_another_address_of_the_house_stays_here(server: Server, open_screen: OpenScreen) -> None:
    async with (
        run_proxy(server.port) as one,
        run_proxy(server.port) as two,
        open_peer(server.url, "bo") as bo,
        open_screen(one.url, server=f"{one.url},{two.url}") as ana,
    ):
        code = (await bo.ask("create"))["room"]
        await ana.until(code)
        await ana.paste(f"{two.url}/{code}")
        await ana.press("enter")
        await bo.state(status="playing")
        assert ana.app.link.address.url == one.url
        assert two.calls == 0
