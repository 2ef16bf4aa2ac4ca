"""The servers that are measured beside each other, and how two sit down at one of their tables."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass

from tests.bench.processes import IN_MEMORY, RELAY, SERVER, started
from tests.bench.tables import Meter, Seating, seat_at_relay, seat_at_server


@dataclass(frozen=True)
class Contestant:
    """A server to measure. `{folder}` in its command stands for an empty folder."""

    name: str
    command: tuple[str, ...]
    seating: Seating
    is_durable: bool = False

    @contextlib.asynccontextmanager
    async def started(self) -> AsyncIterator[Meter]:
        with (
            tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as folder,
            started([word.replace("{folder}", folder) for word in self.command]) as server,
        ):
            yield server


OURS = (
    Contestant("relay", RELAY, seat_at_relay),
    Contestant("memory", (*SERVER, *IN_MEMORY), seat_at_server),
    Contestant("disk", (*SERVER, "--data", "{folder}"), seat_at_server, is_durable=True),
)
"""The yardstick, a bare relay, and our own server without and with every move on disk before it is shown."""
