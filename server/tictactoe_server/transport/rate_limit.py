"""How often something may be done: so many times at once, then at an even rate; and such limits by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

_PRUNED_FROM: Final = 1_024


class RateLimit:
    """Allows `times` in each window of `window_ms`, as a bucket that refills evenly (GCRA, ITU-T I.371).

    With 0 times there is no limit. It goes by `monotonic_ns`, which counts on whatever becomes of the store.
    """

    __slots__ = ("_interval", "_monotonic_ns", "_next", "_window")

    def __init__(self, times: int, window_ms: float, monotonic_ns: Callable[[], int]) -> None:
        self._interval = round(window_ms * 1e6 / times) if times else 0
        self._window = self._interval * times
        self._monotonic_ns = monotonic_ns
        self._next = 0

    def take(self, count: int = 1) -> int:
        """Count one use, or so many, and return 0, or return how many ms to wait, counting nothing."""
        now = self._monotonic_ns()
        following = (self._next if self._next > now else now) + self._interval * count
        if following - now > self._window:
            return (following - now - self._window) // 1_000_000 + 1
        self._next = following
        return 0

    def give_back(self, count: int = 1) -> None:
        """Take one use back, or so many, that was counted for nothing."""
        self._next -= self._interval * count

    def wait(self, count: int = 1) -> int:
        """Return how many ms to wait for the next use, or so many, 0 where it may be now; nothing is counted."""
        now = self._monotonic_ns()
        over = (self._next if self._next > now else now) + self._interval * count - now - self._window
        return over // 1_000_000 + 1 if over > 0 else 0

    @property
    def used(self) -> int:
        """How much of what may be at once is used up now."""
        left = self._next - self._monotonic_ns()
        return -(-left // self._interval) if left > 0 else 0

    @property
    def is_untouched(self) -> bool:
        """Whether it is as if it had never been used."""
        return self._next <= self._monotonic_ns()


class RateLimits:
    """One limit for each key: it outlives the connection that it counts, and is forgotten once it is full again."""

    def __init__(self, times: int, window_ms: float, monotonic_ns: Callable[[], int]) -> None:
        self._rate = times, window_ms, monotonic_ns
        self._limits: dict[str, RateLimit] = {}
        self._prune_at = _PRUNED_FROM

    def of(self, key: str) -> RateLimit:
        """Return the limit of a key."""
        limit = self._limits.get(key)
        if limit is None:
            if len(self._limits) >= self._prune_at:
                self._limits = {key: limit for key, limit in self._limits.items() if not limit.is_untouched}
                self._prune_at = max(_PRUNED_FROM, 2 * len(self._limits))
            limit = self._limits[key] = RateLimit(*self._rate)
        return limit

    @property
    def most_used(self) -> int:
        """How much of theirs is used up now by the key that has used most."""
        return max((limit.used for limit in self._limits.values()), default=0)


def take_each(*limits: RateLimit, count: int = 1) -> int:
    """Count a use of each limit, or so many, and return 0, or return how many ms to wait for all, counting nothing."""
    for number, limit in enumerate(limits):
        if limit.take(count):
            for taken in limits[:number]:
                taken.give_back(count)
            return max(limit.wait(count) for limit in limits)
    return 0
