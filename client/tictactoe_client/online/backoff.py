"""How long to wait before each attempt to come back, and for how long to try at all; values only."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, repeat


@dataclass(frozen=True, slots=True)
class Backoff:
    """The waits in seconds: `first` one after another, then `longest` again and again, less up to `jitter` of each.

    Another address of the cluster is tried within a `moment`, but only after the first wait where the connection did
    not last for `steady_seconds`: two servers that let nobody stay are not run against. It is tried for as long as the
    server says that it holds a seat, and for `absent_seconds` while no server answers at all: then nobody else can take
    the seat either. `hold_seconds` takes the place of both where it is given.
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
        """Yield which of so many addresses to try next, 0 being the one that was lost, and how long to wait before.

        The others come at once, and the waits grow after each round. `announced_ms` is when the lost one, and it alone,
        said that it would be back, infinite for never: up to twice as long is waited for it, so that not all come at
        once.

        >>> [way for way, _ in zip(Backoff(jitter=0, moment=0).ways(2), range(5))]
        [(1, 0.0), (0, 0.4), (1, 0.0), (0, 0.8), (1, 0.0)]
        """
        absent = 0.0 if announced_ms is None else announced_ms / 1000 * random.uniform(1, 2)
        passed = absent if addresses == 1 else 0.0
        if passed:
            yield 0, passed
        is_steady = lasted_seconds >= self.steady_seconds
        rest = random.uniform(0, self.moment) if is_steady else self._vary((*self.first, self.longest)[0])
        for step in range(1, addresses):
            yield step, rest
            rest = random.uniform(0, self.moment)
        for wait in map(self._vary, chain(self.first, repeat(self.longest))):
            passed += wait
            for number, step in enumerate(range(0 if passed >= absent else 1, addresses)):
                yield step, 0.0 if number else wait

    def _vary(self, wait: float) -> float:
        return wait * random.uniform(1 - self.jitter, 1)
