"""Connections come, open a room and go, tens of thousands of them; what the server holds afterwards is what it held."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from pathlib import Path

from tools.bench.asker import Asker, open_asker
from tools.bench.load import gather_some
from tools.bench.processes import SERVER, started

WARM_UP = 5_000
GROWTH = 0.05
"""By how much of its size after warming up the server may have grown."""

AT_ONCE = 16
EMPTY_SECONDS = 30.0


@dataclass
class Churn:
    """What came of it; sizes are in KiB."""

    connections: int
    before: int = 0
    after: int = 0
    rooms_left: int = 0

    @property
    def has_failed(self) -> bool:
        return self.after > self.before * (1 + GROWTH) or self.rooms_left > 0

    def __str__(self) -> str:
        growth = (self.after / self.before - 1) * 100
        return (
            f"{self.connections:,} connections, {self.before:,} -> {self.after:,} KiB ({growth:+.1f} %), "
            f"{self.rooms_left} rooms left"
        )


async def run(folder: Path, *, connections: int, seed: int) -> Churn:
    """Let them come and go, with rooms that are kept for a second after their player."""
    found = Churn(connections)
    with started(
        (*SERVER, "--log-level", "warning", "--data", str(folder), "--keep-room", "1"), is_pinned=False
    ) as server:

        async def come_and_go() -> None:
            asker = await open_asker(server.url)
            await asker.ask("create")
            asker.close()

        async def settle(watcher: Asker) -> int:
            """Wait until all rooms are gone, and return how many are left."""
            rooms = -1
            for _ in range(int(EMPTY_SECONDS * 4)):
                rooms = len((await watcher.ask("rooms"))["rooms"])
                if not rooms:
                    break
                await asyncio.sleep(0.25)
            return rooms

        watcher = await open_asker(server.url)
        await gather_some((come_and_go() for _ in range(WARM_UP)), AT_ONCE)
        await settle(watcher)
        found.before = server.resident_kib()
        for done in range(0, connections, WARM_UP):
            await gather_some((come_and_go() for _ in range(min(WARM_UP, connections - done))), AT_ONCE)
            print(f"churn: {done + WARM_UP:,} connections, {server.resident_kib():,} KiB", file=sys.stderr)
        found.rooms_left = await settle(watcher)
        found.after = server.resident_kib()
    return found
