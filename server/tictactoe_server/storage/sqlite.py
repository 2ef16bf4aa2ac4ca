"""The store of a single server: a SQLite database in its data folder. A save is acknowledged once it is on disk.

This module contains the SQL of the tables. `writer` schedules it, `journal` stores rooms and games, and `database`
holds the connection. The folder is locked while the store is open, so that no other server uses it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Container, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, Self

from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.journal import LARGEST_ID, GameTables, Journal, Save, Write, readable
from tictactoe_server.storage.schema import JOURNALED, ORIGIN, TIME, check_file, checked, index_persons
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Game, Stored, Table, Unreadable, Value, Waiter, read_time
from tictactoe_server.storage.writer import Answer, Writer

_READ_AT_ONCE: Final = 500
_KEYS_AT_ONCE: Final = 50  # few, so that saves wait only briefly while a whole table is read
_SCRUB_PAUSE_SECONDS: Final = 0.02


class SqliteStore:
    """A `Storage` in a data folder.

    Attributes:
        damage: Descriptions of the damaged values that were skipped when the database was opened.
        tables: The tables by name, including one with the finished games by id.
    """

    def __init__(self, writer: Writer, specs: Specs) -> None:
        self._writer = writer
        self.damage = writer.damage
        self.figures = writer.figures
        self.owed_since = writer.owed_since
        self.games = SqliteLog(writer, specs.games)
        self.tables: dict[str, Table[Any]] = {
            spec.name: (JournaledTable if spec.name == JOURNALED else SqliteTable)(writer, spec)
            for spec in specs.tables
        }
        self.tables[specs.games.name] = GamesTable(writer, specs.games)

    @classmethod
    def open(cls, folder: Path | None, specs: Specs) -> Self:
        """Open the store in a data folder, creating the folder if it is missing.

        Args:
            folder: The data folder; None for a database in memory.

        Raises:
            CannotOpenStore: The folder or its database cannot be used. `DamagedDatabase` and `SavesMissing` are
                subclasses.
        """
        if folder is not None:
            check_file(folder / FILE_NAME)
        held = None if folder is None else DataFolder(folder)
        try:
            return cls(Writer(Database(held, specs)), specs)
        except BaseException:
            if held is not None:
                held.release()
            raise

    def table(self, spec: TableSpec[Value]) -> Table[Value]:
        return self.tables[spec.name]

    async def keys_of(self, ids: Collection[str], *, is_exact: bool = False) -> Sequence[tuple[str, str]]:
        def find(cursor: sqlite3.Cursor, journal: Journal) -> list[tuple[str, str]]:
            rows = (cursor.execute("SELECT place, key FROM persons WHERE person = ?", (id,)).fetchall() for id in ids)
            return [*dict.fromkeys(place for found in rows for place in checked(found, str, str))]

        return await self._writer.ask(find)

    def note_time(self, ms: int) -> None:
        """Schedule storing the run time; the transaction does not wait for the disk."""
        self._writer.note(TIME, str(ms).encode())

    async def noted_time(self) -> int | None:
        return read_time(await self._writer.ask(lambda _, journal: journal.noted(TIME)))

    async def drop_copies(self, keys: Collection[str]) -> None:
        pass  # there are none

    async def scrub(self) -> None:
        """Fold the journal and empty the write-ahead log.

        SQLite itself overwrites deleted content; see `secure_delete` in `schema`.
        """
        upto = await self._writer.ask(lambda _, journal: journal.row)
        while await self._writer.scrub(upto):  # noqa: ASYNC110
            await asyncio.sleep(_SCRUB_PAUSE_SECONDS)

    async def close(self) -> None:
        await self._writer.close()


class SqliteLog(Generic[Game]):
    """A `GameLog` in the journal and two tables."""

    def __init__(self, writer: Writer, spec: GameSpec[Game]) -> None:
        self.writer = writer
        self.spec = spec

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, Game]]:
        most = max(0, min(limit, MAX_LISTED_GAMES))
        return await self._ask(lambda games: games.of(player, most, before))

    async def game(self, id: int) -> Game | None:
        return await self._ask(lambda games: games.find(id))

    async def games_at(self, room: str, number: int) -> list[tuple[int, Game]]:
        return await self._ask(lambda games: games.at(room, number))

    async def after(self, cursor: str, limit: int) -> AsyncIterator[tuple[str, int, Game]]:
        async for id, game in self._between(int(cursor or 0), LARGEST_ID, limit):
            yield str(id), id, game

    async def _between(self, cursor: int, upto: int, limit: int) -> AsyncIterator[tuple[int, Game]]:
        """Yield at most `limit` games with ids above `cursor` and up to `upto`, in ascending order."""
        following: int | None = cursor
        while following is not None and limit > 0:
            some = partial(GameTables.after, cursor=following, limit=min(limit, _READ_AT_ONCE), upto=upto)
            games, following = await self._read(some)
            for id, game in games:
                yield id, game
            limit -= len(games)

    async def forget_before(self, at: int) -> bool:
        """Delete old games as `GameLog.forget_before` does, except for games that are still in the journal."""
        return await self.writer.ask(lambda _, journal: journal.games.forget(at), Write)

    async def replace(self, id: int, game: Game) -> None:
        await self.writer.ask(lambda _, journal: journal.games.replace(id, game), Write)

    async def import_games(self, games: Sequence[tuple[int, bytes]]) -> None:
        """Store games from another store under their ids there, replacing games with the same ids.

        Args:
            games: The ids and documents of the games. Damaged documents are skipped.
        """
        documents = dict(games)
        found = [(id, game, documents[id]) for id, game in readable(self.spec, games)]

        def replace(cursor: sqlite3.Cursor, journal: Journal) -> None:
            journal.games.drop((), documents)
            journal.games.insert(found)

        await self.writer.ask(replace, Write)

    async def begin_copy(self, origin: str) -> bool:
        """Prepare this store for a copy of the games of the store `origin`.

        Deletes all games of this store, unless they were copied from `origin`. Returns True if they were kept.
        """

        def change(cursor: sqlite3.Cursor, journal: Journal) -> bool:
            journal.games.is_by_time = True
            if is_same := journal.noted(ORIGIN) == origin.encode():
                return is_same
            cursor.execute("DELETE FROM archive")
            cursor.execute("DELETE FROM archive_players")
            journal.note(ORIGIN, origin.encode())
            return is_same

        return bool(await self.writer.ask(change, Write))

    async def _ask(self, ask: Callable[[GameTables], Answer]) -> Answer:
        return await self._read(ask)

    async def _read(self, ask: Callable[[GameTables], Answer]) -> Answer:
        return await self.writer.ask(lambda _, journal: ask(journal.games))


class SqliteTable(Table[Value]):
    """A `Table` in the database. It loses no revisions: a server does not start on a database that has lost saves."""

    def __init__(self, writer: Writer, spec: TableSpec[Value]) -> None:
        self._writer = writer
        self._spec = spec
        self._insert = f"INSERT OR REPLACE INTO {spec.name} VALUES (?, ?, ?)"
        self._read = f"SELECT revision, document FROM {spec.name} WHERE key = ?"

    async def load(self, key: str) -> tuple[Value, int] | None:
        return await self._writer.ask(partial(self._find, key))

    async def load_all(self, skipped: Container[str] = ()) -> AsyncIterator[Sequence[Stored[Value]]]:
        async for keys in self._pages(""):
            wanted = [key for key in keys if key not in skipped]
            try:
                found = await self._writer.ask(partial(self._find_all, wanted))
            except Unreadable:  # one by one, to lose only what is damaged
                found = [(key, await self._load_or_damage(key)) for key in wanted]
            yield [Stored(key, *row) for key, row in found if row is not None]

    def _find_all(self, keys: Sequence[str], cursor: sqlite3.Cursor, journal: Journal) -> list[tuple[str, Any]]:
        return [(key, self._find(key, cursor, journal)) for key in keys]

    async def _load_or_damage(self, key: str) -> tuple[Any, int] | None:
        try:
            return await self.load(key)
        except Unreadable as damaged:
            return damaged, MISSING

    async def first_key(self, prefix: str) -> str | None:
        async for keys in self._pages(prefix):
            return next((key for key in keys if key.startswith(prefix)), None)
        return None

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        document = self._spec.encode(value)

        def write(cursor: sqlite3.Cursor, journal: Journal) -> int | Conflict:
            if expected_revision not in (None, self._row(key, cursor)[0]):
                return Conflict(key)
            revision = journal.next_revision()
            cursor.execute(self._insert, (key, revision, document))
            self._index(cursor, key, self._spec.indexed_ids(value))
            return revision

        self._writer.write(Write(write, waiter, finished))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self._spec.forget(key)

        def write(cursor: sqlite3.Cursor, journal: Journal) -> int | Conflict:
            found = self._row(key, cursor)[0]
            if expected_revision is not None and (found != expected_revision or found == MISSING):
                return Conflict(key)
            cursor.execute(f"DELETE FROM {self._spec.name} WHERE key = ?", (key,))
            self._index(cursor, key, ())
            return MISSING

        self._writer.write(Write(write, waiter))

    def _index(self, cursor: sqlite3.Cursor, key: str, ids: Collection[str]) -> None:
        if self._spec.persons_of.is_indexed:
            index_persons(cursor, self._spec.name, key, ids)

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[str]]:
        """Yield the keys in batches, in order, from the first key that is not smaller than `prefix`."""
        last = ""
        while keys := await self._writer.ask(partial(self._keys, prefix, last)):
            yield keys
            last = keys[-1]

    def _keys(self, prefix: str, after: str, cursor: sqlite3.Cursor, journal: Journal) -> list[str]:
        rows = cursor.execute(
            f"SELECT key FROM {self._spec.name} WHERE key >= ? AND key > ? ORDER BY 1 LIMIT ?",
            (prefix, after, _KEYS_AT_ONCE),
        )
        return [key for (key,) in checked(rows.fetchall(), str)]

    def _find(self, key: str, cursor: sqlite3.Cursor, journal: Journal) -> tuple[Value, int] | None:
        revision, document = self._row(key, cursor)
        return None if document is None else (self._spec.read(key, document), revision)

    def _row(self, key: str, cursor: sqlite3.Cursor) -> tuple[int, object]:
        """Return a value's revision and document, or `MISSING` and None if there is no value."""
        rows = checked(cursor.execute(self._read, (key,)).fetchall(), int, object)
        return rows[0] if rows else (MISSING, None)


class JournaledTable(SqliteTable[Value]):
    """The table whose newest documents are in the journal."""

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        self._writer.write(Save(key, self._spec.encode(value), expected_revision, waiter, finished))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self._spec.forget(key)
        self._writer.write(Save(key, None, expected_revision, waiter))

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[str]]:
        keys = [key for key in await self._writer.ask(self._all) if key.startswith(prefix)]
        for first in range(0, len(keys), _KEYS_AT_ONCE):
            yield keys[first : first + _KEYS_AT_ONCE]

    def _all(self, cursor: sqlite3.Cursor, journal: Journal) -> list[str]:
        return journal.codes()

    def _find(self, key: str, cursor: sqlite3.Cursor, journal: Journal) -> tuple[Value, int] | None:
        found = journal.load(key)
        return found and (self._spec.read(key, found[0]), found[1])


class GamesTable(JournaledTable[Game]):
    """The finished games as a table, for copying the store. Saving a game does nothing if its id exists."""

    def save(self, key: str, value: Game, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        game = (int(key), value, self._spec.encode(value))
        self._writer.write(Write(lambda _, journal: journal.games.insert([game]), waiter))

    def _all(self, cursor: sqlite3.Cursor, journal: Journal) -> list[str]:
        return list(map(str, journal.games.ids()))

    def _find(self, key: str, cursor: sqlite3.Cursor, journal: Journal) -> tuple[Game, int] | None:
        game = journal.games.find(int(key))
        return game and (game, MISSING)
