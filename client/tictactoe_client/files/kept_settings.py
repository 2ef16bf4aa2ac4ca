"""Settings that are changed while a program runs, written one after the other for later runs."""

from __future__ import annotations

import asyncio

from tictactoe_client.files.config import keep_setting
from tictactoe_client.files.writer import NotKept


class KeptSettings:
    """What is kept; `problem` says why the settings changed last are for this run only, empty where they are not.

    `writing` is held while one is written.
    """

    def __init__(self) -> None:
        self.problem = ""
        self.writing = asyncio.Lock()
        self._unwritten: dict[str, str | bool] = {}

    async def keep(self, name: str, value: str | bool) -> None:
        """Write a setting, after those that were changed before it; what cannot be written waits for the next one."""
        async with self.writing:
            self._unwritten[name] = value
            try:
                for key, latest in tuple(self._unwritten.items()):
                    await asyncio.to_thread(keep_setting, key, latest)
                    del self._unwritten[key]
                self.problem = ""
            except NotKept as refused:
                self.problem = refused.message
