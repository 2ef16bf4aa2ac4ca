"""Limits for tests of other things: no counts, and short waits for the reply to a close."""

from typing import Any

from tictactoe_server.settings import COUNTS, Limits, with_counts

UNCOUNTED = tuple(word for name in COUNTS for word in ("--limit", f"{name}=0"))
"""The options that switch off all counts."""
COUNTED = tuple(word for name in COUNTS for word in ("--limit", f"{name}=1000000"))
"""The options for limits that are counted but never reached."""


def uncounted(*, close_seconds: float = 0.3, hello_seconds: float = 60.0, **limits: Any) -> Limits:
    """Return limits without counts, except for the given ones."""
    counts = {name: 0 for name in COUNTS if name.replace("-", "_") not in limits}
    return with_counts(Limits(close_seconds=close_seconds, hello_seconds=hello_seconds, **limits), counts)
