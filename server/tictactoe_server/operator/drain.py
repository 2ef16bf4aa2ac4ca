"""Draining: no new games begin, and the server ends when the running games are over or a time limit is reached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from tictactoe_protocol import ErrorCode
from tictactoe_protocol.pushes import Notice
from tictactoe_server.rooms.room import Refused
from tictactoe_server.transport.connection import encode_push

RESTART_MS: Final = 1000  # the clients' delay before they reconnect after a restart, without jitter
HANDOVER_MS: Final = 100  # the same if other servers in the cluster take over
_LOOK_SECONDS: Final = 0.5
_RETRY_MS: Final = 30_000

log: Final = structlog.get_logger(__name__)


class Drain:
    """The state of draining.

    Attributes:
        is_final: Whether the server stops for good, rather than restarts.
        back_ms: The delay before clients reconnect.
    """

    def __init__(self, count_games: Callable[[], int], broadcast: Callable[[bytes], None]) -> None:
        self.is_on = self.is_final = False
        self.back_ms = RESTART_MS
        self._count_games = count_games
        self._broadcast = broadcast
        self._ends_at: float | None = None
        self._begun = asyncio.Event()

    @property
    def seconds_left(self) -> float | None:
        """The seconds until the time limit, or None if there is no limit."""
        return None if self._ends_at is None else max(0.0, self._ends_at - asyncio.get_running_loop().time())

    def start(self, seconds: float | None, *, is_final: bool) -> None:
        """Start draining, or change the arguments of an earlier call, and notify all clients."""
        self.is_on, self.is_final = True, is_final
        self._ends_at = None if seconds is None else asyncio.get_running_loop().time() + seconds
        log.info("draining", games=self._count_games(), deadline=seconds, restart=not is_final)
        self._broadcast(self.notice(in_ms=None if seconds is None else round(seconds * 1000)))
        self._begun.set()

    def check(self) -> None:
        """Raise `Refused` if the server is draining."""
        if self.is_on:
            left = self.seconds_left
            retry_ms = _RETRY_MS if left is None else round(left * 1000) + self.back_ms
            why = "stopping" if self.is_final else "restarting"
            raise Refused(ErrorCode.BUSY, why, retry_ms=None if self.is_final else retry_ms)

    def notice(self, **content: int | None) -> bytes:
        return encode_push(Notice("stopping" if self.is_final else "restarting", self.back_ms, **content))

    async def until_over(self) -> None:
        await self._begun.wait()
        while self.seconds_left != 0 and self._count_games():
            left = self.seconds_left
            await asyncio.sleep(_LOOK_SECONDS if left is None else min(_LOOK_SECONDS, left))
