"""What the log says of rooms when one address fills them and empties them without end."""

from __future__ import annotations

import logging

import pytest

from tests.limits import uncounted
from tests.peer import open_peer
from tests.server.test_limits import LOOPBACK, speaking_for
from tictactoe_server.listings.room_log import LINES
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return what the log says of rooms, without who and where."""
    return [record.message for record in caplog.records if record.name.endswith(".room_log")]


async def test_one_address_that_comes_and_goes_writes_few_lines_and_one_that_sums_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    settings = Settings("127.0.0.1", 0, trusted_proxies=LOOPBACK)
    async with (
        Server(settings, limits=uncounted()) as server,
        open_peer(server.url) as host,
        speaking_for(server, "192.0.2.1") as loud,
        speaking_for(server, "192.0.2.2") as quiet,
    ):
        room = (await host.ask("create", rules="three-players"))["room"]
        for _ in range(100):
            await loud.ask("join", room=room)
            await loud.ask("leave", room=room)
        await quiet.ask("join", room=room)
        told = lines_of(caplog)
        assert told.count("player joined") + told.count("player left") == LINES + 1
        caplog.clear()
        server.core.registry.log.sum_up()
        (summary,) = [vars(record) for record in caplog.records if record.message == "more in rooms"]
        assert (summary["address"], summary["joined"], summary["left"]) == ("192.0.2.1", 70, 70)
        caplog.clear()
        await loud.ask("join", room=room)
        server.core.registry.log.sum_up()
        assert "player joined" in lines_of(caplog)
        assert "more in rooms" not in lines_of(caplog)
