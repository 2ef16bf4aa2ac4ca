"""How late the event loop is: what is due then is done only so much later."""

from __future__ import annotations

import asyncio
from typing import Final

_LOOK_SECONDS: Final = 0.25
_WINDOW_SECONDS: Final = 10.0


class LoopLag:
    """Let `keep` run beside the server."""

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
