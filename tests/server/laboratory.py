"""A store on a real database whose thread, commits and pragmas a test controls."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from tests.server.stored import keep, room_of
from tictactoe_server.server import kept_by
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING
from tictactoe_server.storage.writer import PATIENCE_SECONDS, Writer


class WatchedDatabase(Database):
    """A real database that records its transactions (durable or not) and fails the next commits on demand."""

    def __init__(self, folder: DataFolder) -> None:
        self.transactions: list[bool] = []
        self.commits = 0
        self.failures: list[BaseException] = []
        self.closed = threading.Event()
        super().__init__(folder, kept_by())

    def begin(self, *, durable: bool) -> None:
        self.transactions.append(durable)
        super().begin(durable=durable)

    def commit(self) -> None:
        if self.failures:
            raise self.failures.pop(0)
        super().commit()
        self.commits += 1

    def close(self) -> None:
        super().close()
        self.closed.set()


class Laboratory:
    """A store; `hold` keeps its thread busy until `go_on`."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        self.folder = DataFolder(folder)
        self.database = WatchedDatabase(self.folder)
        self.writer = Writer(self.database, **limits)
        self.store = SqliteStore(self.writer, kept_by())
        self._gates: list[threading.Event] = []

    async def pragma(self, text: str) -> list[Any]:
        return await self.writer.ask(lambda database, _: database.execute(f"PRAGMA {text}").fetchall())

    async def hold(self) -> None:
        """Block the thread, and return once it is blocked."""
        loop, waits, gate = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        self._gates.append(gate)

        def wait(*_: object) -> None:
            loop.call_soon_threadsafe(waits.set)
            gate.wait()

        asking = asyncio.ensure_future(self.writer.ask(wait))
        asking.add_done_callback(lambda done: done.cancelled() or done.exception())
        await waits.wait()

    def go_on(self) -> None:
        """Unblock the thread and restore the usual patience, as the machine may be busy."""
        self.writer._patience_seconds = PATIENCE_SECONDS
        while self._gates:
            self._gates.pop().set()

    async def save_all(self, codes: Iterable[str]) -> list[Any]:
        """Save rooms in one batch and return each result."""
        await self.hold()
        saves = [asyncio.ensure_future(keep(self.store, room_of(code), MISSING)) for code in codes]
        await asyncio.sleep(0)
        self.go_on()
        return await asyncio.gather(*saves, return_exceptions=True)

    async def close(self) -> None:
        self.go_on()
        await self.store.close()


@contextlib.asynccontextmanager
async def open_laboratory(folder: Path, **limits: Any) -> AsyncIterator[Laboratory]:
    opened = Laboratory(folder, **limits)
    try:
        yield opened
    finally:
        await opened.close()
