import os

import pytest

from tests.client.test_several_servers import heard
from tests.faults.hostile_server import hostile_server
from tests.kept import hold_lock
from tests.peer import until
from tests.tui.conftest import OpenScreen
from tictactoe_client.files.players import KnownPlayers
from tictactoe_client.session import settle_latency
from tictactoe_protocol.names import Export
from tictactoe_server.server import Server


def test_the_displayed_latency_ignores_small_changes() -> None:
    assert [settle_latency(40, seconds) for seconds in (0.041, 0.035, 0.049, 0.0401)] == [40] * 4
    assert settle_latency(40, 0.050) == 50
    assert settle_latency(50, 0.002) == 2


def test_the_quickest_server_takes_a_millisecond() -> None:
    assert settle_latency(None, 0.0001) == settle_latency(1, 0.002) == 1


async def test_what_our_own_new_connection_cuts_off_is_no_lost_connection(open_screen: OpenScreen) -> None:
    async with hostile_server() as server, open_screen(server.url) as ana:
        await ana.until("Find an opponent")
        server.answers[Export] = lambda request: []
        ana.app.start_online(lambda client: client.ask(Export()))
        await until(lambda: bool(heard(server, Export)))
        await ana.app.session.greet_again()
        await until(lambda: ana.app.session.phase == "online")
        assert ana.app.status is None


async def test_a_locked_player_file_is_reported(
    server: Server, open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tictactoe_client.files.writer.LOCK_SECONDS", 0.0)
    lock = hold_lock(KnownPlayers().path)
    async with open_screen(server.url, local=False) as ana:
        await ana.until("Playing as  ana", "could not be saved: another program is writing")
    os.close(lock)
