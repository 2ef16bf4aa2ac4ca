"""A store that is wrong on purpose: it acknowledges saves before they are kept, to show that the checkers find out.

What is new is kept at once. Of what changes it writes the newest to the real store only with every so many saves.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from tictactoe_server.records.tables import GAMES, ROOMS
from tictactoe_server.rooms import FinishedGame, Room
from tictactoe_server.storage.memory import MemoryLog, MemoryTable
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, Pending, Stored, Table, Waiter

SAVES_BETWEEN = 40


class EarlyRooms(MemoryTable[Room]):
    """Keeps in `inner` what it promised some saves ago; `fill` it with what is there before use."""

    def __init__(self, inner: Table[Room]) -> None:
        super().__init__(ROOMS, MemoryLog(GAMES))
        self._inner = inner
        self._kept: dict[str, int] = {}
        self._changed: dict[str, Room] = {}
        self._saves = 0

    async def fill(self) -> None:
        """Read everything that is kept."""
        async for some in self._inner.load_all():
            for stored in some:
                assert isinstance(stored.value, Room)
                self._revision += 1
                self._values[stored.key] = (stored.value, self._revision)
                self._kept[stored.key] = stored.revision

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Room]]]:
        await self.fill()
        async for some in super().load_all():
            yield some

    def save(
        self, key: str, value: Room, expected_revision: int | None, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        if expected_revision is None or self._values.get(key, (None, MISSING))[1] != expected_revision:
            waiter.failed(Conflict(key))
            return
        self._revision += 1
        self._values[key] = (value, self._revision)
        self._saves += 1
        if expected_revision == MISSING:
            self._inner.save(key, value, MISSING, _First(self, key, waiter, self._revision))
            return
        self._changed[key] = value
        waiter.stored(self._revision)
        if self._saves % SAVES_BETWEEN == 0:
            self._write()

    def _write(self) -> None:
        changed, self._changed = self._changed, {}
        for key, room in changed.items():
            if key in self._kept:
                pending = Pending()
                pending.future.add_done_callback(lambda done, key=key: self._kept.__setitem__(key, done.result()))  # type: ignore[misc]
                self._inner.save(key, room, self._kept.pop(key), pending)
            else:
                self._changed[key] = room

    def take_in(self, key: str, revision: int) -> None:
        """Take notice of what the real store has made of a room."""
        self._kept[key] = revision


class _First:
    """The first save of a room, which is acknowledged when it is kept."""

    def __init__(self, rooms: EarlyRooms, key: str, waiter: Waiter, revision: int) -> None:
        self._rooms, self._key, self._waiter, self._revision = rooms, key, waiter, revision

    def stored(self, revision: int) -> None:
        self._rooms.take_in(self._key, revision)
        self._waiter.stored(self._revision)

    def failed(self, error: Exception) -> None:
        self._waiter.failed(error)


def early(store: SqliteStore) -> SqliteStore:
    """Return the real store, in which only the rooms are kept too late."""
    store.tables[ROOMS.name] = EarlyRooms(store.table(ROOMS))
    return store
