"""The list of rooms after the connection was lost: what happened meanwhile is in it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.peer import Peer, open_peer, two_playing
from tests.proxy import Proxy
from tests.tui.conftest import OpenScreen
from tictactoe_client.tui.opening import Opening
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings as ServerSettings


@contextlib.asynccontextmanager
async def cut_off(proxy: Proxy, server: Server) -> AsyncIterator[Peer]:
    """Let nobody come through, until all that is done meanwhile has been told to those who are there."""
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


async def test_the_rooms_are_read_anew_after_a_loss(server: Server, proxy: Proxy, open_screen: OpenScreen) -> None:
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


@pytest.mark.parametrize("opening", [Opening("watch"), Opening()])
async def test_the_games_to_watch_are_read_anew_after_a_lost_connection(
    server: Server, proxy: Proxy, open_screen: OpenScreen, opening: Opening
) -> None:
    async with (
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "cy") as cy,
        open_screen(proxy.url, opening=opening) as wat,
    ):
        await wat.until("0 live")
        if opening.page == "home":
            await wat.press("w", "enter")
        old = (await bo.ask("create"))["room"]
        await cy.ask("join", room=old)
        await wat.until(f"> {old}")
        async with cut_off(proxy, server) as eve:
            await bo.ask("leave", room=old)
            await cy.ask("leave", room=old)
            await until_told_of(eve, old)
            new = (await bo.ask("create"))["room"]
            await until_told_of(eve, new)
            await cy.ask("join", room=new)
            await until_told_of(eve, new)
        await wat.until(f"> {new}", "1 live", gone=old)


@pytest.mark.parametrize("opening", [Opening("watch"), Opening()])
async def test_the_rooms_are_read_anew_from_a_server_that_knows_of_nothing_any_more(
    server: Server, proxy: Proxy, open_screen: OpenScreen, opening: Opening
) -> None:
    async with (
        Server(ServerSettings(host="127.0.0.1", port=0)) as restarted,
        open_peer(server.url, "bo") as bo,
        open_peer(server.url, "cy") as cy,
        open_peer(restarted.url, "zoe") as zoe,
        open_screen(proxy.url, opening=opening) as wat,
    ):
        old = (await bo.ask("create"))["room"]
        await cy.ask("join", room=old)
        await wat.until("1 live")
        new = (await zoe.ask("create"))["room"]
        async with cut_off(proxy, restarted):
            proxy.port = restarted.port
        await wat.until("does not know that token", "r retry")
        await wat.do("r", "Playing as", "0 live", new, gone=old)
        await zoe.ask("leave", room=new)
        await wat.until("Playing as", gone=new)


async def test_the_list_is_asked_for_once_and_followed_from_no_room(
    server: Server, proxy: Proxy, open_screen: OpenScreen
) -> None:
    async with open_peer(server.url, "bo") as bo, open_screen(proxy.url) as ana:
        await ana.until("Quick match")
        await bo.ask("lobby", on=True)
        first = (await bo.ask("create", rules="gomoku"))["room"]
        await ana.until(first)
        assert bytes(proxy.replies).count(b'"rooms":[') == 2  # those of the welcome, and the list
        await ana.do("enter", "Waiting for")
        second = (await bo.ask("create", rules="gomoku"))["room"]
        await until_told_of(bo, second)
        assert second.encode() not in proxy.replies
        await ana.do("escape", second)
        assert bytes(proxy.replies).count(b'"rooms":[') == 3


@pytest.mark.parametrize(
    ("rules", "size", "words"),
    [
        ({"rows": 32, "columns": 32, "line": 5}, (80, 24), "A-K 1-10"),
        ({"rows": 32, "columns": 32, "line": 5}, (200, 50), " 32  . . ."),
        ("classic", (72, 16), "(O)"),
        ("classic", (200, 50), "━"),
    ],
)
async def test_a_game_that_is_on_is_seen_as_large_as_there_is_room_for(
    server: Server, open_screen: OpenScreen, rules: object, size: tuple[int, int], words: str
) -> None:
    async with two_playing(server, "bo", "cy", rules=rules) as (bo, cy, code):
        for ply, (peer, cell) in enumerate(((bo, 1), (cy, 0))):
            await peer.ask("move", room=code, cell=cell, ply=ply)
        async with open_screen(server.url, size=size) as ana:
            await ana.until("Playing as", "Now here", "bo v cy", words)
