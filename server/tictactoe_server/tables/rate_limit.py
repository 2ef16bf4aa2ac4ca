"""How often somebody may do something: so many times at once, then at an even rate."""

from __future__ import annotations

from collections.abc import Callable


class RateLimit:
    """Allows `times` in each window of `window_ms`, as a bucket that refills evenly (GCRA, ITU-T I.371).

    It goes by `monotonic_ns`, which counts on whatever becomes of the store.
    """

    __slots__ = ("_interval", "_monotonic_ns", "_next", "_window")

    def __init__(self, times: int, window_ms: int, monotonic_ns: Callable[[], int]) -> None:
        self._interval = window_ms / times
        self._window = window_ms
        self._monotonic_ns = monotonic_ns
        self._next = 0.0

    def take(self) -> int:
        """Count one use and return 0, or return how many ms to wait, counting nothing."""
        now = self._monotonic_ns() / 1e6
        following = max(self._next, now) + self._interval
        wait = following - self._window - now
        if wait > 0:
            return int(wait) + 1
        self._next = following
        return 0
