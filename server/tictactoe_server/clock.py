"""Every reading of time in the server, apart from the event loop's own clock.

A simulation assigns other functions to these names before it imports the rest of the server, because default
arguments and default factories are bound at import.
"""

from __future__ import annotations

import time

monotonic = time.monotonic
"""Return seconds since an arbitrary start; never goes back."""
monotonic_ns = time.monotonic_ns
"""Return `monotonic` in nanoseconds."""
wall = time.time
"""Return the Unix time in seconds; goes back when somebody sets the machine's clock."""
cpu = time.thread_time
"""Return the processor time that this thread has used, in seconds."""


def wall_ms() -> int:
    """Return the Unix time in milliseconds."""
    return int(wall() * 1000)
