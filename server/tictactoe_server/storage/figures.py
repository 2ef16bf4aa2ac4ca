"""What writing costs, as plain numbers that somebody may read now and then."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
WRITES: Final = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000)


class Histogram:
    """How many values were at most as large as each of the `bounds`, how many were larger, and the `total` of all."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class WriteFigures:
    """How long the transactions of a store took, and how many writes each of them held."""

    __slots__ = ("seconds", "writes")

    def __init__(self) -> None:
        self.seconds = Histogram(SECONDS)
        self.writes = Histogram(WRITES)

    def add(self, seconds: float, writes: int) -> None:
        self.seconds.add(seconds)
        self.writes.add(writes)
