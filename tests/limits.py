"""Limits for tests of anything else: nothing is counted, and who does not answer a close is not waited for long."""

from __future__ import annotations

from typing import Any

from tictactoe_server.settings import COUNTS, Limits, with_counts

UNCOUNTED = tuple(word for name in COUNTS for word in ("--limit", f"{name}=0"))
"""The same for the command line."""
COUNTED = tuple(word for name in COUNTS for word in ("--limit", f"{name}=1000000"))
"""Limits that cost what they always cost, and that nobody reaches."""


def uncounted(*, close_seconds: float = 0.3, hello_seconds: float = 60.0, **limits: Any) -> Limits:
    """Return limits of which none counts anything, but for those that are given."""
    counts = {name: 0 for name in COUNTS if name.replace("-", "_") not in limits}
    return with_counts(Limits(close_seconds=close_seconds, hello_seconds=hello_seconds, **limits), counts)
