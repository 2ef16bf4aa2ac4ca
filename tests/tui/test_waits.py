"""Entering a room can be cancelled at once and then has no effect."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.peer import PATIENCE_SECONDS, Peer, open_peer
from tests.proxy import Proxy
from tests.tui.conftest import OpenScreen, ScreenUser
from tests.tui.test_home_page import a_seat_left
from tictactoe_client.tui import FirstPage
from tictactoe_server.server import Server


@contextlib.asynccontextmanager
async def slow_screen(
    open_screen: OpenScreen, server: Server, first_page: FirstPage | None = None, **options: object
) -> AsyncIterator[tuple[ScreenUser, Peer, Proxy]]:
    """Open ana's screen behind a slow proxy, and connect bo directly."""
    async with (
        open_peer(server.url, "bo") as bo,
        Proxy(server.port) as proxy,
        open_screen(proxy.url, first_page=first_page, **options) as ana,
    ):
        await ana.until("Playing as" if first_page is None else "Watch a game")
        try:
            yield ana, bo, proxy
        finally:
            proxy.down.go_on()


async def until_rooms_wait(peer: Peer, count: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while sum(room["status"] == "waiting" for room in (await peer.ask("rooms"))["rooms"]) != count:
            pass


FORM = ("down down enter end right end up up right", "The room is public.")


async def test_a_new_room_that_is_given_up_is_left_again(server: Server, open_screen: OpenScreen) -> None:
    async with slow_screen(open_screen, server) as (ana, bo, proxy):
        await ana.do(*FORM)
        proxy.down.hold_up()
        await ana.do("enter", "Opening the room...   Esc cancel")
        await ana.do("escape", "Playing as", gone="FirstPage")
        await until_rooms_wait(bo, 1)
        proxy.down.go_on()
        await until_rooms_wait(bo, 0)
        await ana.until("Playing as", gone="Waiting for")
        assert ana.app.is_running


async def test_a_second_enter_opens_no_second_room(server: Server, open_screen: OpenScreen) -> None:
    async with slow_screen(open_screen, server) as (ana, bo, proxy):
        await ana.do(*FORM)
        proxy.down.hold_up()
        await ana.press("enter", "enter", "enter")
        proxy.down.go_on()
        await ana.until("Waiting for another player")
        await ana.do("escape", "Playing as")
        await until_rooms_wait(bo, 0)


async def test_to_give_up_a_resumed_game_keeps_the_seat(server: Server, proxy: Proxy, open_screen: OpenScreen) -> None:
    async with (
        a_seat_left(server, url=proxy.url) as (bo, code),
        open_screen(proxy.url, name=None) as ana,
    ):
        await ana.until(f"> Resume {code}")
        calls = proxy.calls
        proxy.down.hold_up()
        await ana.do("enter escape", "Playing as  ana", gone="Joining")
        await bo.until(lambda message: (message.get("seats", {}).get("O") or {}).get("online") is True)
        proxy.down.go_on()
        await bo.until(lambda message: (message.get("seats", {}).get("O") or {}).get("online") is False)
        while proxy.calls == calls or ana.app.session.phase != "online":
            await ana.pilot.pause()
        await ana.do("enter", "It's bo's move", "O  ana (you)")


@pytest.mark.parametrize("keys", [("enter",), ("down", "down", "enter", "enter")])
async def test_quitting_while_entering_leaves_the_room(
    server: Server, open_screen: OpenScreen, keys: tuple[str, ...]
) -> None:
    async with slow_screen(open_screen, server) as (ana, bo, proxy):
        proxy.down.delay_seconds = 0.05
        await ana.press(*keys, "ctrl+q")
        await ana.until_it_ends()
        await until_rooms_wait(bo, 0)
