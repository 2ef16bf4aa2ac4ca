"""Thousands who only look on and a thousand who play, on one server: how long a move takes among them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.bench.asker import open_askers
from tools.bench.processes import SERVER, allow_many_connections, started
from tools.bench.tables import Figures, Hall, seat_at_server

PACE_SECONDS = 1.0
MOST_MS = 50.0
"""How long a move may take, in 99 of 100 cases."""


@dataclass
class Crowd:
    """What came of it."""

    idle: int
    playing: int
    kib_each: float
    figures: Figures
    lost: int

    @property
    def has_failed(self) -> bool:
        return self.figures.percentile_ms(99) > MOST_MS or self.lost > 0

    def __str__(self) -> str:
        figures = self.figures
        return (
            f"{self.idle:,} idle and {self.playing:,} playing, {figures.moves_a_second:,.0f} moves/s on disk with "
            f"p50 {figures.percentile_ms(50):.1f} ms, p99 {figures.percentile_ms(99):.1f} ms; {self.lost} lost, "
            f"{self.kib_each:.1f} KiB for an idle one, the server {figures.busy:.0%} busy"
        )


async def run(folder: Path, *, idle: int, playing: int, seconds: int, seed: int) -> Crowd:
    """Let them all be there, and play for so many seconds."""
    allow_many_connections()
    with started((*SERVER, "--log-level", "warning", "--data", str(folder))) as server:
        before = server.resident_kib()
        onlookers = await open_askers(server.url, idle)
        kib_each = (server.resident_kib() - before) / idle
        hall = await Hall.open(server, seat_at_server, playing // 2, pace_seconds=PACE_SECONDS)
        figures = await hall.play(seconds)
        lost = sum(onlooker.is_lost for onlooker in onlookers)
        await hall.close()
        for onlooker in onlookers:
            onlooker.close()
    return Crowd(idle, playing, kib_each, figures, lost)
