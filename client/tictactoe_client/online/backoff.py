"""Computes the waits between attempts to reconnect."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat


@dataclass(frozen=True, slots=True)
class Backoff:
    """When to reconnect, and when to give up; all times are in seconds.

    Attributes:
        first: The first waits. After them, every wait is `longest`.
        jitter: The largest fraction to subtract from a wait at random.
        moment: The longest wait before another address of the cluster is tried.
        steady_seconds: If the lost connection was shorter, other addresses are also tried only after the first wait.
        hold_seconds: When to give up; None for as long as the server holds a seat.
        absent_seconds: When to give up while no server answers; the hold of a seat is paused while no server runs.
    """

    first: tuple[float, ...] = (0.4, 0.8, 1.6, 3.2)
    longest: float = 4.0
    jitter: float = 0.5
    moment: float = 0.1
    steady_seconds: float = 1.0
    hold_seconds: float | None = None
    absent_seconds: float = 600.0

    def patience(self, hold_ms: int) -> tuple[float, float]:
        """Return how many seconds to keep trying while a server answers, and while none does."""
        if self.hold_seconds is not None:
            return self.hold_seconds, self.hold_seconds
        held = hold_ms / 1000
        return held, max(held, self.absent_seconds)

    def ways(
        self, addresses: int, announced_ms: float | None = None, *, lasted_seconds: float = math.inf
    ) -> Iterator[tuple[int, float]]:
        """Yield the index of the address to try next, 0 for the lost one, and the wait before the attempt.

        Args:
            announced_ms: After how long the lost server said that it would be back; infinite for never. We wait up to
                twice as long, so that not all clients return at once.
            lasted_seconds: How long the lost connection lasted.

        >>> [way for way, _ in zip(Backoff(jitter=0, moment=0).ways(2), range(5))]
        [(1, 0.0), (0, 0.4), (1, 0.0), (0, 0.8), (1, 0.0)]
        """
        absent = 0.0 if announced_ms is None else announced_ms / 1000 * random.uniform(1, 2)
        passed = absent if addresses == 1 else 0.0
        if passed:
            yield 0, passed
        is_steady = lasted_seconds >= self.steady_seconds
        pause = random.uniform(0, self.moment) if is_steady else self._vary((*self.first, self.longest)[0])
        for step in range(1, addresses):
            yield step, pause
            pause = random.uniform(0, self.moment)
        for wait in map(self._vary, chain(self.first, repeat(self.longest))):
            passed += wait
            for number, step in enumerate(range(0 if passed >= absent else 1, addresses)):
                yield step, 0.0 if number else wait

    def _vary(self, wait: float) -> float:
        return wait * random.uniform(1 - self.jitter, 1)
