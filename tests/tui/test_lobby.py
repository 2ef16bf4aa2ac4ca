import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.peer import Peer, open_peer
from tests.proxy import Proxy
from tests.tui.conftest import OpenScreen
from tictactoe_client.tui import FirstPage
from tictactoe_server.server import Server


@contextlib.asynccontextmanager
async def cut_off(proxy: Proxy, server: Server) -> AsyncIterator[Peer]:
    """Block the proxy, and unblock it once subscribers have received every change made meanwhile."""
    proxy.lose()
    await proxy.until_called()
    async with open_peer(server.url) as eve:
        await eve.ask("lobby", on=True)
        yield eve
    proxy.is_closed = False


async def until_told_of(eve: Peer, code: str) -> None:
    """Wait until subscribers have heard of a room."""
    await eve.until(
        lambda message: (
            message["type"] == "lobby" and code in {*message["closed"], *(room["room"] for room in message["changed"])}
        )
    )


async def test_rooms_are_reloaded_after_a_reconnect(server: Server, proxy: Proxy, open_screen: OpenScreen) -> None:
    async with open_peer(server.url, "bo") as bo, open_screen(proxy.url) as ana:
        old = (await bo.ask("create"))["room"]
        await ana.until(old)
        async with cut_off(proxy, server) as eve:
            await bo.ask("leave", room=old)
            await until_told_of(eve, old)
            new = (await bo.ask("create", rules="gomoku"))["room"]
            await until_told_of(eve, new)
        await ana.until(new, gone=old)
        await bo.ask("leave", room=new)
        await ana.until("Playing as", gone=new)


async def test_the_list_is_requested_once(server: Server, proxy: Proxy, open_screen: OpenScreen) -> None:
    proxy.down.taken = said = bytearray()
    async with open_peer(server.url, "bo") as bo, open_screen(proxy.url) as ana:
        await ana.until("Find an opponent")
        await bo.ask("lobby", on=True)
        first = (await bo.ask("create", rules="gomoku"))["room"]
        await ana.until(first)
        assert said.count(b'"rooms":[') == 2  # the welcome's, and the list
        await ana.do("enter", "Waiting for")
        second = (await bo.ask("create", rules="gomoku"))["room"]
        await until_told_of(bo, second)
        assert second.encode() not in said
        await ana.do("escape", second)
        assert said.count(b'"rooms":[') == 3


WATCH = FirstPage("watch")


@pytest.mark.parametrize("first_page", [FirstPage(), WATCH])
async def test_games_come_and_go_by_themselves(server: Server, open_screen: OpenScreen, first_page: FirstPage) -> None:
    async with (
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "cy") as cy,
        open_screen(server.url, first_page=first_page) as ana,
    ):
        if first_page is not WATCH:
            await ana.until("Playing as")
            await ana.press("w", "enter")
        await ana.until("No public game", "0 live")
        code = (await bo.ask("create"))["room"]
        await cy.ask("join", room=code)
        await ana.until("1 live", f"> {code}")
        await bo.ask("resign", room=code)
        await ana.until("No public game", "0 live")
