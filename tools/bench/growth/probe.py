"""How long others wait meanwhile: a table whose two players move every millisecond, and the longest of their waits."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple, Self

from tools.bench.load import Spin
from tools.bench.processes import Measured
from tools.bench.tables import Table, open_room, steps_of

PACE_SECONDS = 0.001


class Wait(NamedTuple):
    """How long a move waited, and how long the server worked meanwhile: less, where others had the core or the disk.

    The kernel tells the work of a process that runs to 4 ms.
    """

    ms: float
    work_ms: float


class ObservedTable(Table):
    """A table that notes for each step how long the server worked until it was answered."""

    server: Measured
    waits: list[Wait]
    _worked = 0.0

    def begin_step(self) -> None:
        self._worked = self.server.cpu_seconds()
        super().begin_step()

    def go_on(self) -> None:
        self.waits.append(self.wait_until_now())
        super().go_on()

    def wait_until_now(self) -> Wait:
        waited = time.perf_counter() - self.sent_at
        return Wait(waited * 1e3, (self.server.cpu_seconds() - self._worked) * 1e3)


class Probe:
    """The table, and the loop that never sleeps; `begin` forgets what was until then."""

    def __init__(self, table: ObservedTable, spin: Spin) -> None:
        self._table = table
        self._spin = spin
        self._playing = table.play(1 << 60, PACE_SECONDS)

    @classmethod
    async def open(cls, server: Measured, spin: Spin) -> Self:
        seats, code = await open_room(server.url)
        table = ObservedTable(seats, steps_of(seats, code))
        table.server, table.waits = server, []
        return cls(table, spin)

    def begin(self) -> None:
        self._table.waits.clear()
        self._spin.longest_seconds = 0.0

    def longest(self) -> Wait:
        """Return the longest wait and the most work of any since `begin`, that of a move that still waits too."""
        waits = [*self._table.waits, Wait(0.0, 0.0)]
        if self._table.awaited:
            waits.append(self._table.wait_until_now())
        return Wait(max(wait.ms for wait in waits), max(wait.work_ms for wait in waits))

    def remark(self) -> str:
        """Say that the load itself was held up, where it was: then the longest wait may be its own."""
        own = self._spin.longest_seconds * 1e3
        return f"the load itself was held up for {own:.0f} ms" if own > self.longest().ms / 2 else ""

    async def close(self) -> None:
        self._table.stop()
        await asyncio.wait_for(self._playing, 30)
        self._table.close()
