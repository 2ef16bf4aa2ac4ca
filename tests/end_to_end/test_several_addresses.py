"""A cluster with several addresses: the next one is taken when one is gone, as the same player in the same seat."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.clients import run_client
from tests.end_to_end.test_client_library import state_where
from tests.end_to_end.test_reconnect import QUICK, sees_online
from tests.end_to_end.test_server_command import started, stopped, url_of
from tests.kept import rooms_left
from tests.peer import open_peer
from tests.proxy import Proxy
from tictactoe_client import connect
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.backoff import Backoff
from tictactoe_server.server import Server

NEVER = Backoff((3600,), hold_seconds=3600, steady_seconds=0)
"""Whoever waits at all waits in vain."""


@pytest.fixture
async def ways(server: Server) -> AsyncIterator[tuple[Proxy, Proxy]]:
    """Two addresses of one server."""
    async with Proxy(server.port) as one, Proxy(server.port) as two:
        yield one, two


def lose(proxy: Proxy) -> None:
    """Let an address be gone from now on, with all that lead over it."""
    proxy.lose()


def given(*proxies: Proxy) -> list[str]:
    """Return the options that name these addresses."""
    return [word for proxy in proxies for word in ("-s", proxy.url)]


async def test_the_game_goes_on_when_the_server_is_started_again_elsewhere(tmp_path: Path) -> None:
    arguments = ("--host", "127.0.0.1", "--port", "0", "--data", str(tmp_path / "data"))
    async with contextlib.AsyncExitStack() as stack:
        server = await stack.enter_async_context(started(*arguments))
        port = parse_address(await url_of(server)).port or 0
        one, two = [await stack.enter_async_context(Proxy(port)) for _ in range(2)]
        two.is_closed = True
        ana, bo = [
            await stack.enter_async_context(connect([one.url, two.url], name=name, reconnect=QUICK))
            for name in ("ana", "bo")
        ]
        room = await ana.create()
        other = await bo.join(room.code)
        await state_where(room, status="playing")
        await room.move(4)
        seq = (await state_where(other, ply=1)).seq
        one.is_closed = True
        await stopped(server)
        again = await stack.enter_async_context(started(*arguments))
        two.target = parse_address(await url_of(again)).port or 0
        two.is_closed = False
        await other.move(0)
        state = await state_where(room, ply=2)
        assert (state.board, state.seq > seq) == ("O...X....", True)
        assert {client.address for client in (ana, bo)} == {parse_address(two.url)}


# -- the faces --------------------------------------------------------------------------------------------------


async def test_a_check_looks_at_all_addresses_and_says_where_it_came(ways: tuple[Proxy, Proxy]) -> None:
    ways[0].is_closed = True
    async with run_client("check", *given(*ways)) as ana:
        assert await ana.end() == 0
        assert ana.lines[:3] == ["Resolve   ok, 127.0.0.1", "Resolve   ok, 127.0.0.1", f"Connect   ok, {ways[1].url}"]


# -- who one is -------------------------------------------------------------------------------------------------


async def test_a_seat_left_at_one_address_is_taken_up_at_another(server: Server, ways: tuple[Proxy, Proxy]) -> None:
    one, two = ways
    async with open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create"))["room"]
        async with run_client("join", code, "-n", "ana", *given(one, two)) as ana:
            await ana.until("You are O.")
            lose(one)
            await ana.until("Now at")
            await ana.kill()
        await sees_online(bo, "O", is_online=False)
        one.is_closed = False
        for address in (one, two):
            assert code in rooms_left(address.url)
        async with run_client("join", code, *given(one)) as again:
            await again.until("You are O, ana. bo is X.")
            again.type("leave", "leave")
            assert await again.end() == 0
