"""Typed test doubles for the server, such as a manual clock and a store that fails on demand."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Container, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from tests.peer import PATIENCE_SECONDS
from tictactoe_server.core.session import Topic
from tictactoe_server.features.all import FEATURES
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.bots.service import FEATURE as BOTS
from tictactoe_server.features.bots.service import make
from tictactoe_server.features.bots.workers import Workers
from tictactoe_server.features.feature import Feature
from tictactoe_server.features.tournaments.event_store import EVENTS
from tictactoe_server.records.tables import PLAYERS, ROOMS
from tictactoe_server.rooms.room import Player
from tictactoe_server.server import kept_by
from tictactoe_server.storage.memory import MemoryLog, MemoryStore, MemoryTable
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.store import MISSING, Stored, Unreadable, Value, Waiter

Operation = Literal["load", "load_all", "save", "delete"]


class FakeClock:
    """A monotonic clock in ns, like `time.monotonic_ns`; it stands still until `advance`."""

    def __init__(self) -> None:
        self._now_ms = 1_000_000

    def __call__(self) -> int:
        return self._now_ms * 1_000_000

    def advance(self, ms: int) -> None:
        self._now_ms += ms


class Trouble:
    """The failures planned for one table.

    `hold` delays writes until `release`.
    """

    def __init__(self) -> None:
        self._failures: dict[Operation, tuple[str | None, Exception, int]] = {}
        self._before_save: list[Callable[[], None]] = []
        self._held: list[tuple[Callable[[], None], Waiter]] | None = None
        self._news = asyncio.Event()

    def fail(self, operation: Operation, error: Exception, *, key: str | None = None, times: int = 1) -> None:
        """Make the next `times` calls of an operation, on this key if given, fail with `error`."""
        self._failures[operation] = (key, error, times)

    def heal(self) -> None:
        self._failures.clear()

    def before_next_save(self, action: Callable[[], None]) -> None:
        """Run `action` just before the next save, like a concurrent write."""
        self._before_save.append(action)

    def hold(self) -> None:
        """Delay writes from now on."""
        self._held = []

    async def until_held(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while self._held is None or len(self._held) < count:
                self._news.clear()
                await self._news.wait()

    def step(self) -> None:
        """Do the delayed writes, and delay the writes that follow."""
        held, self._held = self._held or [], []
        for write, _ in held:
            write()

    def release(self, error: Exception | None = None) -> None:
        """Do the delayed writes, or fail them with `error`, and stop delaying."""
        held, self._held = self._held or [], None
        for write, waiter in held:
            if error is None:
                write()
            else:
                waiter.failed(error)

    def failure(self, operation: Operation, key: str) -> Exception | None:
        """Return and consume the error planned for this call."""
        meant, error, times = self._failures.get(operation, (None, Exception(), 0))
        if times == 0 or meant not in (None, key):
            return None
        self._failures[operation] = (meant, error, times - 1)
        return error

    def write(self, write: Callable[[], None], waiter: Waiter) -> None:
        """Do a write now or delay it."""
        if self._held is None:
            write()
        else:
            self._held.append((write, waiter))
            self._news.set()

    def prepare(self) -> None:
        """Run the action planned before this save, if there is one."""
        if self._before_save:
            self._before_save.pop(0)()


class TroubledTable(MemoryTable[Value]):
    """A table in memory that fails on demand; `now` and `put` bypass the planned failures."""

    def __init__(self, spec: TableSpec[Value], games: MemoryLog[Any]) -> None:
        super().__init__(spec, games)
        self.trouble = Trouble()

    def now(self, key: str) -> Value:
        """Return the stored value."""
        return self._values[key][0]

    def put(self, value: Value | None, key: str = "") -> None:
        """Store a value under its own key, or delete the value under `key`."""
        self._revision += 1
        if value is None:
            del self._values[key]
        elif self._spec.key_of is not None:
            self._values[self._spec.key_of(value)] = (value, self._revision)

    async def load(self, key: str) -> tuple[Value, int] | None:
        if error := self.trouble.failure("load", key):
            raise error
        return await super().load(key)

    async def load_all(self, skipped: Container[str] = ()) -> AsyncIterator[Sequence[Stored[Value]]]:
        if error := self.trouble.failure("load_all", ""):
            raise error
        async for some in super().load_all(skipped):
            yield [self._damaged(stored) for stored in some]

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        trouble = self.trouble
        trouble.prepare()
        if error := trouble.failure("save", key):
            waiter.failed(error)
        else:
            save = super().save
            trouble.write(lambda: save(key, value, expected_revision, waiter, finished), waiter)

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        if error := self.trouble.failure("delete", key):
            waiter.failed(error)
        else:
            delete = super().delete
            self.trouble.write(lambda: delete(key, expected_revision, waiter), waiter)

    def _damaged(self, stored: Stored[Value]) -> Stored[Value]:
        error = self.trouble.failure("load", stored.key)
        return Stored(stored.key, error, MISSING) if isinstance(error, Unreadable) else stored


class TroubledStore(MemoryStore):
    """A store in memory whose tables can fail (see `Trouble`). `owed_since` returns `owes_since`."""

    def __init__(self, specs: Specs | None = None) -> None:
        super().__init__(specs or kept_by())
        self.owes_since: float | None = None
        self.rooms = TroubledTable(ROOMS, self.games)
        self.players = TroubledTable(PLAYERS, self.games)
        self.events = TroubledTable(EVENTS, self.games)
        self.tables |= {ROOMS.name: self.rooms, PLAYERS.name: self.players, EVENTS.name: self.events}

    def owed_since(self) -> float | None:
        return self.owes_since

    @property
    def trouble(self) -> Trouble:
        """The failures of the table of rooms."""
        return self.rooms.trouble


def features_with(workers: Workers) -> list[Feature]:
    """Return all features; the bots think with these workers."""
    bots = replace(BOTS, make=partial(make, pool=ThinkingPool(workers)))
    return [bots if one is BOTS else one for one in FEATURES]


class Watcher:
    def __init__(self, player: str) -> None:
        self.player, self.connection = Player(player, player), self
        self.topics: dict[Topic, None] = {}
        self.seen: list[dict[str, Any]] = []

    def push_frame(self, frame: bytes) -> None:
        self.seen.append(json.loads(frame[frame.index(b'{"') :]))
