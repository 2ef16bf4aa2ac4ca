"""Fixtures of a server whose store has trouble on demand."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes import TroubledStore
from tictactoe_server.server import Server
from tictactoe_server.settings import Settings


@pytest.fixture
def store() -> TroubledStore:
    return TroubledStore()


@pytest.fixture
async def troubled(store: TroubledStore) -> AsyncIterator[Server]:
    async with Server(Settings(host="127.0.0.1", port=0), store) as server:
        yield server
