import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.kept import hold_lock
from tests.peer import PATIENCE_SECONDS
from tests.tui.conftest import OpenScreen
from tictactoe_client.files.players import Identity, KnownPlayers
from tictactoe_client.online.address import parse_cluster
from tictactoe_client.online.client import Client
from tictactoe_client.session import Session, settle_latency
from tictactoe_client.settings import Settings
from tictactoe_server.server import Server


@asynccontextmanager
async def linked(server: Server, name: str | None = None) -> AsyncIterator[Client]:
    """Run a link until it is connected, and end it afterwards."""
    connected = asyncio.Event()
    link = Session(Settings(), parse_cluster(server.url), Identity(name), connected=connected.set)
    running = asyncio.create_task(link.run())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await connected.wait()
            await link.identity.release()
        assert link.client is not None
        yield link.client
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_later_run_is_the_same_player_unless_the_name_differs(server: Server) -> None:
    async with linked(server) as first, linked(server, "ana") as ana:
        pass
    async with linked(server, first.name) as again:
        assert (again.player, again.name) == (first.player, first.name)
    async with linked(server, "ana") as again:
        assert again.player == ana.player != first.player
    async with linked(server) as last:
        assert last.player == ana.player


def test_the_displayed_latency_ignores_small_changes() -> None:
    assert [settle_latency(40, seconds) for seconds in (0.041, 0.035, 0.049, 0.0401)] == [40] * 4
    assert settle_latency(40, 0.050) == 50
    assert settle_latency(50, 0.002) == 2


def test_the_quickest_server_takes_a_millisecond() -> None:
    assert settle_latency(None, 0.0001) == settle_latency(1, 0.002) == 1


async def test_a_locked_player_file_is_reported(
    server: Server, open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_client.files.writer.LOCK_SECONDS", 0.0)
    lock = hold_lock(KnownPlayers().path)
    async with open_screen(server.url, local=False) as ana:
        await ana.until("Playing as  ana", "could not be saved: another program is writing")
    os.close(lock)
