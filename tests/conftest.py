"""Fixtures that every layer may use: a real server in this process, on a free port of the loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from tictactoe_server.server import Server
from tictactoe_server.settings import Settings

# How long an example takes says nothing about whether it is right.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0)) as running:
        yield running


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what clients write down away from whoever runs the tests."""
    for kind in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
