"""What is measured beside serving: how late the event loop is, how much is refused, how many bytes go out."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import structlog

from tictactoe_server.core.tally import Tally
from tictactoe_server.transport.connection import Connection

_LOOK_SECONDS: Final = 0.25
_WINDOW_SECONDS: Final = 10.0

log: Final = structlog.get_logger(__name__)


class LoopLag:
    """How late the event loop does what is due. Let `keep` run beside the server."""

    def __init__(self) -> None:
        self._worst = self._worst_before = 0.0

    @property
    def seconds(self) -> float:
        """The longest delay of the last ten to twenty seconds."""
        return max(self._worst, self._worst_before)

    async def keep(self) -> None:
        """Look until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            self._worst, self._worst_before = 0.0, self._worst
            for _ in range(round(_WINDOW_SECONDS / _LOOK_SECONDS)):
                due = loop.time() + _LOOK_SECONDS
                await asyncio.sleep(_LOOK_SECONDS)
                self._worst = max(self._worst, loop.time() - due)


async def log_refusals(tally: Tally, seconds: float = 60.0) -> None:
    """Log how much was refused, by code, so often and only where there is something to say, until cancelled."""
    told = tally.refusals.copy()
    while True:
        await asyncio.sleep(seconds)
        news = tally.refusals - told
        if news:
            told = tally.refusals.copy()
            log.info("refused", **{str(code): count for code, count in news.most_common(5)})


class MeteredConnection(Connection):
    """A connection that counts the bytes that it sends, together with others, as `sent` of a tally."""

    __slots__ = ("_tally",)

    def __init__(self, tally: Tally, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._tally = tally

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        write, tally = self._write, self._tally

        def count(data: bytes) -> None:
            tally.sent += len(data)
            write(data)

        self._write = count
