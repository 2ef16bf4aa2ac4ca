"""The file in which settings last, written beside everything else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from tictactoe_client.files.config import config_path, keep_setting
from tictactoe_client.files.writer import NotKept


class Keeper:
    """The file `path` as the place where settings last; `problem` says why those changed last do not, or is None.

    `written` is told after every attempt. What could not be written is tried again with the next change.
    """

    def __init__(self, written: Callable[[], None], path: Path | None = None) -> None:
        self.path = path or config_path()
        self.problem: str | None = None
        self._written = written
        self._waiting: dict[str, str | bool] = {}
        self._turn = asyncio.Lock()

    async def keep(self, name: str, value: str | bool) -> None:
        """Write a setting, after those that were changed before it."""
        self._waiting[name] = value
        async with self._turn:
            try:
                for key, latest in tuple(self._waiting.items()):
                    await asyncio.to_thread(keep_setting, key, latest, self.path)
                    if self._waiting.get(key) == latest:
                        del self._waiting[key]
            except NotKept as refused:
                self.problem = refused.message
            else:
                self.problem = None
        self._written()

    async def finish(self) -> None:
        """Wait until everything is written."""
        async with self._turn:
            pass
