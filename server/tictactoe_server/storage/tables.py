"""The tables of the database, each by its spec: what is done in SQL with their values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, Generic

from tictactoe_server.storage.database import Database, checked
from tictactoe_server.storage.journal import Journal, Save, Write
from tictactoe_server.storage.schema import columns_of
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Stored, Unreadable, Value, Waiter
from tictactoe_server.storage.writer import Writer

_READ_AT_ONCE: Final = 500


class SqliteTable(Generic[Value]):
    """Values in a table of their own; see `Table` for what the methods promise.

    Values without a revision in the file have one of the process's own.
    """

    expires = False

    def __init__(self, writer: Writer, spec: TableSpec[Value]) -> None:
        columns = columns_of(spec)
        self._writer = writer
        self._spec = spec
        self._has_revision = "revision" in columns
        self._key = columns[0]
        revision = "revision" if self._has_revision else str(MISSING)
        written = [name for name in columns[1:] if name not in ("revision", "document")]
        self._read = f"SELECT {', '.join((self._key, revision, 'document', *written))} FROM {spec.name}"
        names = (self._key, *(["revision"] if self._has_revision else []), "document", *written)
        self._kinds = (str, int, object, *(int for _ in written))
        self._write = (
            f"INSERT OR REPLACE INTO {spec.name} ({', '.join(names)}) VALUES ({', '.join('?' for _ in names)})"
        )

    async def load(self, key: str) -> tuple[Value, int] | None:
        def ask(database: Database, _: Journal) -> tuple[Value, int] | None:
            row = self._row(database, key)
            if row is None:
                return None
            return self._spec.read_row(key, *row[2:]), self._revision_of(database, row)

        return await self._writer.ask(ask)

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Value]]]:
        after: str | None = ""
        while after is not None:
            some, after = await self._writer.ask(lambda database, _, after=after: self._page(database, after))  # type: ignore[misc]
            yield some

    async def first_key(self, prefix: str) -> str | None:
        def ask(database: Database, _: Journal) -> str | None:
            found = database.execute(
                f"SELECT {self._key} FROM {self._spec.name} WHERE {self._key} >= ? ORDER BY 1 LIMIT 1", (prefix,)
            ).fetchone()
            return found[0] if found is not None and found[0].startswith(prefix) else None

        return await self._writer.ask(ask)

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        row = (self._spec.encode(value),) if self._spec.columns is None else self._spec.columns.split(value)

        def write(database: Database) -> int | Conflict:
            if expected_revision is not None and self._find(database, key) != expected_revision:
                return Conflict(key)
            revision = database.next_revision()
            if self._has_revision:
                database.execute(self._write, (key, revision, *row))
            else:
                database.execute(self._write, (key, *row))
                database.fresh_revisions[self._spec.name, key] = revision
            return revision

        self._writer.write(Write(write, waiter, finished))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self._spec.forget(key)

        def write(database: Database) -> int | Conflict:
            if expected_revision is not None and self._find(database, key) != (expected_revision or None):
                return Conflict(key)
            database.execute(f"DELETE FROM {self._spec.name} WHERE {self._key} = ?", (key,))
            return MISSING

        self._writer.write(Write(write, waiter))

    def _find(self, database: Database, key: str) -> int:
        """Return the revision of a key, `MISSING` where there is none."""
        row = self._row(database, key)
        return MISSING if row is None else self._revision_of(database, row)

    def _row(self, database: Database, key: str) -> tuple[Any, ...] | None:
        rows = database.execute(f"{self._read} WHERE {self._key} = ?", (key,)).fetchall()
        return next(iter(checked(rows, *self._kinds)), None)

    def _revision_of(self, database: Database, row: tuple[Any, ...]) -> int:
        key, revision, *_ = row
        return int(revision) if self._has_revision else database.revision_of(self._spec.name, key)

    def _page(self, database: Database, after: str) -> tuple[list[Stored[Value]], str | None]:
        """Return some values behind a key, and the key to go on behind, None at the end."""
        rows = database.execute(
            f"{self._read} WHERE {self._key} > ? ORDER BY 1 LIMIT ?", (after, _READ_AT_ONCE)
        ).fetchall()
        found = [self._stored(database, row) for row in checked(rows, *self._kinds)]
        return found, rows[-1][0] if len(rows) == _READ_AT_ONCE else None

    def _stored(self, database: Database, row: tuple[Any, ...]) -> Stored[Value]:
        key, _, document, *numbers = row
        try:
            value = self._spec.read_row(key, document, *numbers)
        except Unreadable as damaged:
            return Stored(key, damaged, MISSING)
        return Stored(key, value, self._revision_of(database, row))


class JournaledTable(SqliteTable[Value]):
    """Values whose newest documents stand in the journal."""

    async def load(self, key: str) -> tuple[Value, int] | None:
        return await self._ask(key)

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Value]]]:
        keys = await self._writer.ask(lambda _, journal: journal.codes())
        for first in range(0, len(keys), _READ_AT_ONCE):
            some = keys[first : first + _READ_AT_ONCE]
            found = await asyncio.gather(*(self._ask(key) for key in some), return_exceptions=True)
            yield [self._told(key, each) for key, each in zip(some, found, strict=True) if each is not None]

    async def first_key(self, prefix: str) -> str | None:
        keys = await self._writer.ask(lambda _, journal: journal.codes())
        return next((key for key in keys if key.startswith(prefix)), None)

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        self._writer.write(Save(key, self._spec.encode(value), expected_revision, waiter, finished))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self._spec.forget(key)
        self._writer.write(Save(key, None, expected_revision, waiter))

    def _ask(self, key: str) -> asyncio.Future[tuple[Value, int] | None]:
        def ask(_: Database, journal: Journal) -> tuple[Value, int] | None:
            found = journal.load(key)
            return None if found is None else (self._spec.read(key, found[0]), found[1])

        return self._writer.ask(ask)

    def _told(self, key: str, found: tuple[Value, int] | BaseException) -> Stored[Value]:
        """Return what is kept, or what is wrong with it where that is damaged; raises other errors."""
        if isinstance(found, Unreadable):
            return Stored(key, found, MISSING)
        if isinstance(found, BaseException):
            raise found
        return Stored(key, *found)
