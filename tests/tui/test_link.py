"""The connection behind the full screen: who one is on the server, from one run to the next."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.peer import PATIENCE_SECONDS
from tictactoe_client.address import parse_address
from tictactoe_client.client import Client
from tictactoe_client.players import KnownPlayer, KnownPlayers
from tictactoe_client.settings import Settings
from tictactoe_client.tui.link import Link
from tictactoe_server.server import Server


@asynccontextmanager
async def linked(server: Server, name: str | None = None) -> AsyncIterator[Client]:
    """Run a link until it is connected, and end it afterwards."""
    connected = asyncio.Event()
    link = Link(
        Settings(name=name),
        parse_address(server.url),
        hear=lambda message: None,
        connected=connected.set,
        changed=lambda: None,
        failed=lambda *_: None,
    )
    running = asyncio.create_task(link.run())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await connected.wait()
        assert link.client is not None
        yield link.client
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_later_run_is_the_same_player_and_another_name_another_one(server: Server) -> None:
    async with linked(server) as first, linked(server, "ana") as ana:
        pass
    async with linked(server, first.name) as again:
        assert (again.player, again.name) == (first.player, first.name)
    async with linked(server, "ana") as again:
        assert again.player == ana.player != first.player
    async with linked(server) as last:
        assert last.player == ana.player


async def test_a_server_that_forgot_us_gets_to_know_us_anew(server: Server) -> None:
    KnownPlayers().keep(KnownPlayer(server.url, "ana", "unknown"))
    async with linked(server) as client:
        known = KnownPlayers().find(server.url)
        assert known is not None
        assert known.token == client.token
    assert KnownPlayers().find(server.url, "ana") is None
