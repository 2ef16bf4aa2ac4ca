"""The library at real servers of one cluster: it goes where its rooms go, and loses nothing on the way."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.limits import uncounted
from tests.peer import until
from tests.server.nats_node import empty_store, node_in
from tictactoe_client.online.client import connect
from tictactoe_client.online.room import Room
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.fixture
async def settings(tmp_path: Path) -> AsyncIterator[Settings]:
    with node_in(tmp_path) as node:
        await (await empty_store(node)).close()
        yield Settings(host="127.0.0.1", port=0, store=node.url, store_unsafe=True)


async def until_moves(room: Room, count: int) -> None:
    await until(lambda: room.state.ply >= count)


async def test_a_game_goes_on_at_a_server_that_came_after_its_players(settings: Settings) -> None:
    async with contextlib.AsyncExitStack() as stack:
        leaving = await stack.enter_async_context(contextlib.AsyncExitStack())
        one = await leaving.enter_async_context(Server(settings, limits=uncounted()))
        ana = await stack.enter_async_context(connect(one.url, name="ana", reconnect=True))
        bo = await stack.enter_async_context(connect(one.url, name="bo", reconnect=True))
        first = await ana.create()
        second = await bo.join(first.code)
        await first.move(4)
        two = await stack.enter_async_context(Server(settings, limits=uncounted()))
        await until(lambda: len(one.cluster.members.urls) == 2)
        await leaving.aclose()
        await until_moves(second, 1)
        await second.move(0)
        for room in (first, second):
            await until_moves(room, 2)
        assert ana.address.url == bo.address.url == two.url
        assert first.moves == second.moves == (4, 0)


async def test_those_who_come_to_two_servers_meet_in_a_match_and_play_at_one(settings: Settings) -> None:
    async with Server(settings, limits=uncounted()) as one, Server(settings, limits=uncounted()) as two:
        await until(lambda: len(one.cluster.members.urls) == len(two.cluster.members.urls) == 2)
        async with connect(one.url, name="ana") as ana, connect(two.url, name="bo") as bo:
            first = await ana.match()
            second = await bo.match()
            assert first.code == second.code
            await until_moves(second, 0)
            await first.move(4)
            await until_moves(second, 1)
            assert bo.address.url == ana.address.url == one.url
