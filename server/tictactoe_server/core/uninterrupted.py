"""A clock for a server that others go on without: what passes while this process is stopped does not count."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

MOST_NS: Final = 1_000_000_000
"""The longest time between two looks at the clock while the process runs: it is looked at several times a second."""


class Uninterrupted:
    """Call it for the time in ns, like `time.monotonic_ns`, less the times in which nobody could look at it."""

    def __init__(self, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._seen_ns = monotonic_ns()
        self._missed_ns = 0

    def __call__(self) -> int:
        """Return the time in ns."""
        now = self._monotonic_ns()
        if now - self._seen_ns > MOST_NS:
            self._missed_ns += now - self._seen_ns
        self._seen_ns = now
        return now - self._missed_ns
