import re
import socket
from collections.abc import AsyncIterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes import FakeClock, TroubledStore
from tests.peer import play_out, two_playing
from tests.raw import open_bytes
from tests.server.test_plain_http import read_answer
from tictactoe_server import OperatorError
from tictactoe_server.features.bots.service import FEATURE as BOTS
from tictactoe_server.features.metrics.feature import FEATURE as METRICS
from tictactoe_server.features.metrics.feature import MetricsOptions
from tictactoe_server.features.metrics.service import MetricsServer
from tictactoe_server.operator.status import DrainOrder
from tictactoe_server.server import Server, kept_by
from tictactoe_server.settings import Settings
from tictactoe_server.storage.sqlite import SqliteStore
from tools.monitoring import render_files

pytestmark = pytest.mark.features(METRICS, BOTS)

HOST = "127.0.0.1"
DEPLOY = Path(__file__).parents[2] / "deploy"


async def get(port: int, path: str) -> tuple[int, str]:
    async with open_bytes(port) as (reader, writer):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = await read_answer(reader)
    return answer.status, answer.body.decode()


async def figures(server: Server) -> dict[str, Any]:
    """Return each sample by its name and labels."""
    status, body = await get(server.service(MetricsServer).port, "/metrics")
    assert status == HTTPStatus.OK
    found = {}
    for family in text_string_to_metric_families(body):
        assert family.documentation
        for sample in family.samples:
            found[sample.name + "".join(f" {value}" for value in sample.labels.values())] = sample.value
    return found


@pytest.fixture
async def metered() -> AsyncIterator[Server]:
    settings = Settings(host=HOST, port=0, features=(MetricsOptions(address=(HOST, 0)),))
    async with Server(settings, SqliteStore.open(None, kept_by()), monotonic_ns=FakeClock()) as running:
        yield running


async def test_the_metrics_count_what_happened(metered: Server) -> None:
    async with two_playing(metered) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4])
        assert await bo.refusal("move", room=room, cell=0, ply=4) == "not_your_turn"
        for _ in range(6):
            await bo.ask("chat", room=room, text="hi")
        before = await figures(metered)
        assert before["tictactoe_connections"] == before["tictactoe_sessions"] == 2
        assert before["tictactoe_connections_accepted_total"] == 2
        assert (before["tictactoe_rooms playing"], before["tictactoe_rooms over"]) == (1, 0)
        assert before["tictactoe_moves_total"] == 4
        assert before["tictactoe_refusals_total not_your_turn"] == 1
        assert before["tictactoe_refusals_total rate_limited"] == before["tictactoe_limited_total chat"] == 1
        assert before["tictactoe_ready"] == 1
        assert before["tictactoe_store_seconds_bucket +Inf"] == before["tictactoe_store_seconds_count"] > 0
        assert before["tictactoe_store_batch_writes_sum"] >= before["tictactoe_store_batch_writes_count"]
        await play_out({"X": ana, "O": bo}, room, [2], first_ply=4)
        after = await figures(metered)
        assert after["tictactoe_games_ended_total line"] == 1
        await metered.carry_out(DrainOrder())
        assert (await figures(metered))["tictactoe_ready"] == 0


async def test_metrics_are_off_by_default(server: Server) -> None:
    with pytest.raises(OperatorError):
        server.service(MetricsServer)
    assert (await get(server.port, "/metrics"))[0] == HTTPStatus.NOT_FOUND


async def test_the_dashboard_and_the_alerts_are_of_today_and_know_no_other_figures(metered: Server) -> None:
    shown = {*re.findall(r"tictactoe_\w+", (await get(metered.service(MetricsServer).port, "/metrics"))[1])}
    without = {"tictactoe_cluster_servers", "tictactoe_rooms_served", "tictactoe_store_lost_writes_total"}
    without |= {"tictactoe_store_faulty_nodes"}
    without |= {"tictactoe_backup_age_seconds", "tictactoe_backup_failing"}
    for name, text in render_files().items():
        assert (DEPLOY / name).read_text(encoding="utf-8") == text, "run python -m tools.monitoring --out deploy/"
        assert {*re.findall(r"tictactoe_\w+", text)} - without <= shown


async def test_a_metrics_address_in_use_prevents_the_start_and_frees_the_folder(tmp_path: Path) -> None:
    with socket.create_server((HOST, 0)) as taken, pytest.raises(OperatorError, match="Cannot serve metrics on"):
        async with Server(
            Settings(
                host=HOST, port=0, data=tmp_path, features=(MetricsOptions(address=(HOST, taken.getsockname()[1])),)
            )
        ):
            pass
    async with Server(Settings(host=HOST, port=0, data=tmp_path)):
        pass


async def test_the_server_is_ready_unless_it_starts_drains_or_waits_for_its_disk(store: TroubledStore) -> None:
    async with Server(Settings(host=HOST, port=0), store) as server:
        assert await get(server.port, "/readyz") == (HTTPStatus.OK, "ok\n")
        store.owes_since = 0.0
        assert await get(server.port, "/readyz") == (HTTPStatus.SERVICE_UNAVAILABLE, "the store does not respond\n")
        assert (await get(server.port, "/healthz"))[0] == HTTPStatus.OK
        store.owes_since = None
        await server.carry_out(DrainOrder())
        assert await get(server.port, "/readyz") == (HTTPStatus.SERVICE_UNAVAILABLE, "draining\n")
        assert (await get(server.port, "/healthz"))[0] == HTTPStatus.OK
