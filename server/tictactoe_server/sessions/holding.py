"""What one connection may say, whoever it is, and how it is held back when it says more."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Final

from tictactoe_server.transport.rate_limit import RateLimit

CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000  # how many lines a connection may say in how long
ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000  # how many positions a connection may have analysed in how long
TRIES: Final = 5
TRIES_MS: Final = 60_000  # how many codes may be tried in vain in how long, before a hello or behind an address
NOTICE_SECONDS: Final = 1.0  # how often at most a peer is told that it says too much
_EPISODE_SECONDS: Final = 1.0


class Rates:
    """How often one connection may say, try or ask something, whoever it is."""

    __slots__ = ("analyses", "bad", "chat", "tries")

    def __init__(self, bad: RateLimit, monotonic_ns: Callable[[], int]) -> None:
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, monotonic_ns)
        self.tries = RateLimit(TRIES, TRIES_MS, monotonic_ns)
        self.analyses = RateLimit(ANALYSES, ANALYSES_MS, monotonic_ns)
        self.bad = bad


class Holding:
    """How one is held back who says too much: `in_line` behind others of its address, or until `release`.

    One who goes on like that for `flood_seconds` says too much for good.
    """

    __slots__ = ("_held_at", "_noticed_at", "_over_since", "flood_seconds", "in_line", "is_reading", "release")

    def __init__(self, flood_seconds: float) -> None:
        self.flood_seconds = flood_seconds
        self.in_line, self.is_reading = False, True
        self.release: asyncio.TimerHandle | None = None
        self._held_at = self._over_since = self._noticed_at = -math.inf

    def begin(self, now: float) -> bool:
        """Start holding back; return whether it has gone on for too long."""
        if now - self._held_at > _EPISODE_SECONDS:
            self._over_since = now
        self._held_at = math.inf  # until it is let go
        return now - self._over_since > self.flood_seconds

    def is_to_be_told(self, now: float) -> bool:
        """Return whether to notify the peer, and remember that it was notified."""
        is_due = now - self._noticed_at > NOTICE_SECONDS
        self._noticed_at = now if is_due else self._noticed_at
        return is_due

    def end(self) -> None:
        self.in_line, self.release = False, None
        if self._held_at == math.inf:
            self._held_at = asyncio.get_running_loop().time()
