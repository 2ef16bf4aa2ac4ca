"""Fixtures: short waits before a server tries again, connected peers, a store that fails on demand, a node of NATS."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.fakes import TroubledStore
from tests.peer import Peer, open_peer
from tests.server.nats_node import Node, node_in
from tictactoe_server.features.cluster.check import LISTENING_SECONDS
from tictactoe_server.features.cluster.members import HEARTBEAT_SECONDS
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

SOON = {
    "core.change.RETRY_SECONDS": 0.05,
    "records.mirror.AGAIN_SECONDS": 0.05,
    "features.boards.service.LOOK_SECONDS": 0.02,
    "features.tournaments.event_store.REREAD_SECONDS": 0.5,
    "features.tournaments.running.AGAIN_SECONDS": 0.05,
    "features.tournaments.running.LOOK_SECONDS": 0.1,
    "records.changes.LONGEST_REST_SECONDS": 0.05,
    "features.bots.service._AGAIN_SECONDS": 0.05,
    "features.cluster.members.HEARTBEAT_SECONDS": HEARTBEAT_SECONDS / 3,
    "features.cluster.cluster._LISTENING_SECONDS": 2 * HEARTBEAT_SECONDS / 3,
    "features.cluster.check.LISTENING_SECONDS": LISTENING_SECONDS / 2,
}
"""Seconds between retries, checks and heartbeats; no test depends on their length."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the intervals of retries and checks of servers in this process."""
    for name, seconds in SOON.items():
        monkeypatch.setattr(f"tictactoe_server.{name}", seconds)


@pytest.fixture(autouse=True)
def features(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers have no features, unless the test is marked with `features`: all of them, or those it names."""
    marker = request.node.get_closest_marker("features")
    if marker is None or marker.args:
        monkeypatch.setattr("tictactoe_server.server.FEATURES", () if marker is None else marker.args)


def connected(name: str) -> Any:
    """Return a fixture: a peer of this name that is connected to the fixture `server`."""

    @pytest.fixture(name=name)
    async def connect(server: Server) -> AsyncIterator[Peer]:
        async with open_peer(server.url, name) as peer:
            yield peer

    return connect


ana, bo, cy, eve = map(connected, ("ana", "bo", "cy", "eve"))


@pytest.fixture
def store() -> TroubledStore:
    return TroubledStore()


@pytest.fixture
async def troubled(store: TroubledStore) -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0), store) as server:
        yield server


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with node_in(tmp_path_factory.mktemp("nats")) as node:
        yield node
