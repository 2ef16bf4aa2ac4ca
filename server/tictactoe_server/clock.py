"""The clocks that the server reads, apart from the event loop's own clock.

A simulation replaces these functions before it imports the rest of the server, because default arguments and default
factories are evaluated at import.
"""

from __future__ import annotations

import time

monotonic = time.monotonic
"""Return the seconds since an arbitrary moment; the value never decreases."""
monotonic_ns = time.monotonic_ns
"""Return the same time as `monotonic`, in nanoseconds."""
wall = time.time
"""Return the Unix time in seconds; the value may decrease when the machine's clock is set."""
cpu = time.thread_time
"""Return the processor time used by this thread, in seconds."""


def wall_ms() -> int:
    """Return the Unix time in milliseconds."""
    return int(wall() * 1000)
