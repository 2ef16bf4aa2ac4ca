"""What is done beside everything else, until there is no more of it or it is cancelled, and waiting for a change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Changed(asyncio.Event):
    """Wakes all who wait each time that something has changed, and is never set otherwise."""

    def note(self) -> None:
        """Let all who wait look again."""
        self.set()
        self.clear()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until this holds."""
        while not condition():
            await self.wait()


class Work:
    """Tasks that nobody waits for by themselves."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do something beside everything else."""
        task = asyncio.create_task(work, name="tictactoe work")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finish(self) -> None:
        """Wait until all is done, also what was begun meanwhile."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def cancel(self) -> None:
        """Do no more of it."""
        for task in self._tasks:
            task.cancel()
        await self.finish()
