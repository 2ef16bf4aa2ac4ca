"""A server that its players do not reach and the other servers do: the game goes on at another one, from a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from tests.cluster.servers import Cluster
from tests.end_to_end.clients import ClientProcess, run_client
from tests.limits import uncounted
from tests.peer import until
from tests.proxy import Proxy
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@contextlib.asynccontextmanager
async def two_servers(folder: Path) -> AsyncIterator[tuple[Server, Server, Proxy]]:
    """Yield two servers on three nodes, and the only way by which players reach the first."""
    async with Cluster(folder, servers=0) as nodes, Proxy(0) as way:
        settings = Settings(host="127.0.0.1", port=0, store=nodes.nodes.url)
        async with (
            Server(replace(settings, advertise=way.url), limits=uncounted()) as one,
            Server(settings, limits=uncounted()) as two,
        ):
            way.target = one.port
            await until(lambda: len(one.cluster.members.others) == len(two.cluster.members.others) == 1)
            yield one, two, way


@contextlib.asynccontextmanager
async def a_game(url: str) -> AsyncIterator[tuple[ClientProcess, ClientProcess, str]]:
    """Let ana and bo play one from two terminals; yield both and the room, bo to move."""
    options = "--plain", "--timeout", "1", "-s", url
    async with run_client("new", "-n", "ana", *options) as ana:
        room = (await ana.until("Code")).split()[1]
        async with run_client("join", room, "-n", "bo", *options) as bo:
            await ana.until("Your move, X.")
            await ana.ask("b2", "You play B2")
            await bo.until("Your move, O.")
            yield ana, bo, room


async def test_a_game_goes_on_at_another_server_when_players_do_not_reach_its_own(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as (one, two, way), a_game(way.url) as (ana, bo, room):
        way.lose()
        for client in (ana, bo):
            silent = await client.until("Nobody answers")
            assert silent.startswith(f"Nobody answers at {way.url}, where room {room} is.")
            assert await client.until("The room is at") == f"The room is at {two.url} now."
        await bo.ask("a1", "You play A1")
        await ana.until("bo plays A1")
        await ana.ask("c3", "You play C3")
        await bo.until("ana plays C3")
        assert room in two.cluster.own_rooms.rooms
        assert room not in one.cluster.own_rooms.rooms
        assert one.cluster.members.others, "all the time the servers heard each other"
