"""More players than a server can serve, each of whom asks again when told that it is busy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from tests.bench.load import gather_some
from tests.bench.processes import Measured
from tests.bench.tables import Figures, Hall, Seat, Step, Table, open_room, steps_of
from tests.limits import UNCOUNTED

OPTIONS = (*UNCOUNTED, "--limit", "turn-milliseconds=80")
"""What the server is told: all players come from one address."""

ROOMS = 3_000
CALM_PACE, WILD_PACE = 3.0, 0.03
"""How long each player ponders, in s: a thousand moves a second, and a hundred thousand."""

RETRY_SECONDS = 0.5
RECOVERY_SECONDS = 5.0


class PatientTable(Table):
    """Two who send a move again when they were told that the server is busy; `shed` counts how often that was."""

    def __init__(self, seats: tuple[Seat, Seat], steps: Iterator[Step]) -> None:
        super().__init__(seats, steps)
        self.shed = 0
        self._step: Step | None = None

    def take(self, step: Step) -> None:
        """Take a step, and remember it."""
        self._step = step
        super().take(step)

    def fail(self, payload: bytes) -> None:
        """Wait and take the step again, where that is what was said."""
        if b'"busy"' not in payload or self._step is None:
            super().fail(payload)
            return
        self.shed += 1
        asyncio.get_running_loop().call_later(RETRY_SECONDS, self._again)

    def _again(self) -> None:
        if self._step is not None:
            self.sent_at = time.perf_counter()
            self._step.send(self._step.frame)


async def seat_patiently(url: str, _number: int) -> PatientTable:
    seats, code = await open_room(url)
    return PatientTable(seats, steps_of(seats, code))


async def suffer(server: Measured, seconds: float) -> str:
    """Return how long accepted moves took before, during and after, and how many were refused, as a line."""
    tables = await gather_some(seat_patiently(server.url, number) for number in range(ROOMS))
    calm = Hall(server, list(tables), CALM_PACE)
    before = await calm.play(seconds)
    during = await Hall(server, list(tables), WILD_PACE).play(seconds)
    shed = sum(table.shed for table in tables)
    await asyncio.sleep(RECOVERY_SECONDS)
    after = await calm.play(seconds)
    await calm.close()
    return f"overload {ROOMS:,} rooms: {_felt(before)} -> {_felt(during)}, {shed:,} refused -> {_felt(after)}"


def _felt(figures: Figures) -> str:
    return f"{figures.moves_a_second:,.0f} moves/s with p99 {figures.percentile_ms(99):.0f} ms"
