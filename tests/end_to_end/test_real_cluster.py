"""The library on real servers of a cluster: it follows its rooms, and loses nothing on the way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.limits import uncounted
from tests.peer import PATIENCE_SECONDS, until
from tests.server.nats_node import empty_store, node_in
from tictactoe_client.online.client import connect
from tictactoe_client.online.events import Lost
from tictactoe_client.online.room import Room
from tictactoe_server.features.cluster.cluster import Cluster
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.fixture
async def settings(tmp_path: Path) -> AsyncIterator[Settings]:
    with node_in(tmp_path) as node:
        await (await empty_store(node)).close()
        yield Settings(host="127.0.0.1", port=0, features=(ClusterOptions(store=node.url, store_unsafe=True),))


async def until_known(*servers: Server) -> None:
    """Wait until all these servers know each other and no further server."""
    urls = {server.url for server in servers}
    await until(lambda: all(set(server.service(Cluster).members.urls) == urls for server in servers))


async def until_moves(room: Room, count: int) -> None:
    await until(lambda: room.state.ply >= count)


async def test_games_survive_a_rolling_restart_without_lost_connections(settings: Settings) -> None:
    async with contextlib.AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(contextlib.AsyncExitStack()) for _ in range(3)]
        here = await servers[0].enter_async_context(Server(settings, limits=uncounted()))
        ana, bo = [
            await stack.enter_async_context(
                connect(here.url, name=name, reconnect=True, timeout_seconds=PATIENCE_SECONDS)
            )
            for name in ("ana", "bo")
        ]
        first = await ana.rooms.create()
        second = await bo.rooms.join(first.code)
        await first.move(4)
        lost: list[object] = []
        for room in (first, second):
            room.subscribe(lambda event: lost.append(event) if isinstance(event, Lost) else None)
        for restarted, cell in enumerate((0, 8), 1):
            there = await servers[restarted].enter_async_context(Server(settings, limits=uncounted()))
            await until_known(here, there)
            await servers[restarted - 1].aclose()
            mover = second if restarted == 1 else first
            await until_moves(mover, restarted)
            await mover.move(cell)
            for room in (first, second):
                await until_moves(room, restarted + 1)
            assert ana.address.url == bo.address.url == there.url
            here = there
        assert first.moves == second.moves == (4, 0, 8)
        await asyncio.gather(ana.ping(), bo.ping())
        assert lost == []
