"""A store in memory, for tests and for servers that store nothing on disk."""

from __future__ import annotations

from bisect import insort
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Collection, Container, Sequence
from itertools import islice
from typing import Any, Final, Generic

from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Game, Stored, Table, Value, Waiter, WriteFigures

MAX_GAMES: Final = 20_000
"""The most finished games, or values in a bounded table; beyond this number, the oldest are dropped."""

_FORGOTTEN_AT_ONCE: Final = 100
_READ_AT_ONCE: Final = 500


class MemoryLog(Generic[Game]):
    """A `GameLog` in a dictionary."""

    def __init__(self, spec: GameSpec[Game], max_games: int = MAX_GAMES) -> None:
        self._spec = spec
        self._max_games = max_games
        self._games: dict[int, Game] = {}
        self._newest = 0
        self._by_key: defaultdict[str | tuple[str, int], deque[int]] = defaultdict(deque)  # by player, and by place
        self._unindexed: deque[int] = deque()

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, Game]]:
        ids = (id for id in reversed(self._index.get(player, ())) if before is None or id < before)
        return [(id, self._games[id]) for id in islice(ids, max(0, min(limit, MAX_LISTED_GAMES)))]

    async def game(self, id: int) -> Game | None:
        return self._games.get(id)

    async def games_at(self, room: str, number: int) -> list[tuple[int, Game]]:
        return [(id, self._games[id]) for id in self._index.get((room, number), ())]

    async def after(self, cursor: str, limit: int) -> AsyncIterator[tuple[str, int, Game]]:
        for id in list(islice((id for id in self._games if id > int(cursor or 0)), max(0, limit))):
            if id in self._games:
                yield str(id), id, self._games[id]

    async def forget_before(self, at: int) -> bool:
        old = [id for id, game in islice(self._games.items(), _FORGOTTEN_AT_ONCE) if self._spec.at(game) < at]
        for id in old:
            self._drop(id)
        return len(old) == _FORGOTTEN_AT_ONCE

    async def replace(self, id: int, game: Game) -> None:
        if id in self._games:
            for key in self._keys(self._games[id]):
                self._index[key].remove(id)
            for key in self._keys(game):
                insort(self._index[key], id)
            self._games[id] = game

    def add(self, game: Game) -> None:
        """Add a game; if there are too many games, drop the oldest."""
        self._newest += 1
        self._games[self._newest] = game
        self._unindexed.append(self._newest)
        if len(self._games) > self._max_games:
            self._drop(next(iter(self._games)))

    @property
    def _index(self) -> defaultdict[str | tuple[str, int], deque[int]]:
        """The ids of games by player, and by room and number. Games are indexed on first use, so that no move waits."""
        while self._unindexed:
            id = self._unindexed.popleft()
            for key in self._keys(self._games[id]):
                self._by_key[key].append(id)
        return self._by_key

    def _keys(self, game: Game) -> list[str | tuple[str, int]]:
        return [self._spec.place(game), *self._spec.people(game)]

    def _drop(self, id: int) -> None:
        index = self._index
        for key in self._keys(self._games.pop(id)):
            index[key].remove(id)
            if not index[key]:
                del index[key]


PersonIndex = defaultdict[str, dict[tuple[str, str], None]]
"""For each person's id, the tables and keys of the values that mention the person."""


class MemoryTable(Table[Value]):
    """A `Table` in a dictionary."""

    def __init__(self, spec: TableSpec[Value], games: MemoryLog[Any], index: PersonIndex | None = None) -> None:
        self._spec = spec
        self._is_indexed = spec.persons_of.is_indexed
        self._index = defaultdict(dict) if index is None else index
        self._games = games
        self._values: dict[str, tuple[Value, int]] = {}
        self._revision = MISSING

    async def load(self, key: str) -> tuple[Value, int] | None:
        return self._values.get(key)

    async def load_all(self, skipped: Container[str] = ()) -> AsyncIterator[Sequence[Stored[Value]]]:
        values = self._values.items()
        stored = [Stored(key, value, revision) for key, (value, revision) in values if key not in skipped]
        for first in range(0, len(stored), _READ_AT_ONCE):
            yield stored[first : first + _READ_AT_ONCE]

    async def first_key(self, prefix: str) -> str | None:
        return next((key for key in self._values if key.startswith(prefix)), None)

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        _, current = self._values.get(key, (None, MISSING))
        if expected_revision not in (None, current):
            waiter.failed(Conflict(key))
            return
        if finished is not None:
            self._games.add(finished)
        self._revision = revision = self._revision + 1
        if self._is_indexed:
            self._replace(key, (value, revision))
        else:
            self._values[key] = (value, revision)
        if self._spec.is_bounded and len(self._values) > MAX_GAMES:
            self._replace(next(iter(self._values)), None)
        waiter.stored(revision)

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        _, current = self._values.get(key, (None, None))
        if expected_revision not in (None, current):
            waiter.failed(Conflict(key))
            return
        self._replace(key, None)
        waiter.stored(MISSING)

    def _replace(self, key: str, row: tuple[Value, int] | None) -> None:
        place, before = (self._spec.name, key), self._values.get(key)
        for id in () if before is None else self._spec.indexed_ids(before[0]):
            self._index[id].pop(place, None)
            if not self._index[id]:
                del self._index[id]
        if row is None:
            self._values.pop(key, None)
            return
        self._values[key] = row
        for id in self._spec.indexed_ids(row[0]):
            self._index[id][place] = None


class MemoryStore:
    """A `Storage` in dictionaries."""

    def __init__(self, specs: Specs, max_games: int = MAX_GAMES) -> None:
        self.games = MemoryLog(specs.games, max_games)
        self._index: PersonIndex = defaultdict(dict)
        self.tables: dict[str, Table[Any]] = {
            spec.name: MemoryTable(spec, self.games, self._index) for spec in specs.tables
        }
        self.figures = WriteFigures()
        self._time: int | None = None

    def table(self, spec: TableSpec[Value]) -> Table[Value]:
        return self.tables[spec.name]

    async def keys_of(self, ids: Collection[str], *, is_exact: bool = False) -> Sequence[tuple[str, str]]:
        return [*dict.fromkeys(place for id in ids for place in self._index.get(id, ()))]

    def owed_since(self) -> float | None:
        return None

    def note_time(self, ms: int) -> None:
        self._time = ms

    async def noted_time(self) -> int | None:
        return self._time

    async def close(self, *_: object) -> None:
        """Do nothing: a store in memory has no files and no copies."""

    drop_copies = scrub = close
