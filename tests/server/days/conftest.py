"""Servers with games over days: on a data folder and a fake clock, with webhooks that reach a receiver."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.fakes import FakeClock
from tests.limits import uncounted
from tests.server.days.receiver import Receiver
from tictactoe_server.features.days import notices, service
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

StartServer = Callable[[], Server]


@pytest.fixture(autouse=True)
def features() -> None:
    """Let servers have all features."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(notices, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(service, "SLEEP_SECONDS", 0.1)


@pytest.fixture
def start(tmp_path: Path, clock: FakeClock) -> StartServer:
    """Return a function that starts a server on the same folder and clock."""
    return lambda: Server(Settings("127.0.0.1", 0, data=tmp_path), None, uncounted(), monotonic_ns=clock)


@pytest.fixture
async def server(start: StartServer) -> AsyncIterator[Server]:
    async with start() as running:
        yield running


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    async with receiver.listen():
        yield receiver
