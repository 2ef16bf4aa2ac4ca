"""The file in which settings last, written beside everything else."""

from __future__ import annotations

import asyncio

from tictactoe_client.files.config import config_path, keep_setting
from tictactoe_client.files.writer import NotKept


class Keeper:
    """The file `path` as the place where settings last; `problem` says why those changed last do not, or is None."""

    def __init__(self) -> None:
        self.path = config_path()
        self.problem: str | None = None
        self._waiting: dict[str, str | bool] = {}
        self._turn = asyncio.Lock()

    async def keep(self, name: str, value: str | bool) -> None:
        """Write a setting, after those that were changed before it; what cannot be written waits for the next one."""
        async with self._turn:
            self._waiting[name] = value
            try:
                for key, latest in tuple(self._waiting.items()):
                    await asyncio.to_thread(keep_setting, key, latest, self.path)
                    del self._waiting[key]
            except NotKept as refused:
                self.problem = refused.message
            else:
                self.problem = None

    async def finish(self) -> None:
        async with self._turn:
            pass
