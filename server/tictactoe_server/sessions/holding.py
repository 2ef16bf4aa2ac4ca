"""Rate limits of one connection, and the state of a connection that exceeds them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Final

from tictactoe_server.transport.rate_limit import RateLimit

CHAT_LINES: Final = 5
CHAT_MS: Final = 5_000
ANALYSES: Final = 10
ANALYSES_MS: Final = 10_000
TRIES: Final = 5
TRIES_MS: Final = 60_000  # also of an address
NOTICE_SECONDS: Final = 1.0  # shortest time between two notices that messages are delayed
_EPISODE_SECONDS: Final = 1.0


class Rates:
    """The rate limits of one connection: `bad` of unreadable messages, `tries` of wrong codes with a hello."""

    __slots__ = ("analyses", "bad", "chat", "tries")

    def __init__(self, bad: RateLimit, monotonic_ns: Callable[[], int]) -> None:
        self.chat = RateLimit(CHAT_LINES, CHAT_MS, monotonic_ns)
        self.tries = RateLimit(TRIES, TRIES_MS, monotonic_ns)
        self.analyses = RateLimit(ANALYSES, ANALYSES_MS, monotonic_ns)
        self.bad = bad


class Holding:
    """How a connection is delayed: `in_line` behind others of its address, or until the timer `release`."""

    __slots__ = ("_held_at", "_noticed_at", "_over_since", "flood_seconds", "in_line", "is_reading", "release")

    def __init__(self, flood_seconds: float) -> None:
        self.flood_seconds = flood_seconds
        self.in_line = False
        self.is_reading = True
        self.release: asyncio.TimerHandle | None = None
        self._held_at = self._over_since = self._noticed_at = -math.inf

    def begin(self, now: float) -> bool:
        """Begin a delay; return True if delays with short pauses between them have lasted `flood_seconds`."""
        if now - self._held_at > _EPISODE_SECONDS:
            self._over_since = now
        self._held_at = math.inf  # until the delay ends
        return now - self._over_since > self.flood_seconds

    def is_notice_due(self, now: float) -> bool:
        is_due = now - self._noticed_at > NOTICE_SECONDS
        self._noticed_at = now if is_due else self._noticed_at
        return is_due

    def end(self) -> None:
        self.in_line, self.release = False, None
        if self._held_at == math.inf:
            self._held_at = asyncio.get_running_loop().time()
