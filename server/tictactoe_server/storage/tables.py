"""The tables of the database, each by its spec: what is done in SQL with their values."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any, Final, Generic

from tictactoe_server.storage.database import Database, checked
from tictactoe_server.storage.journal import Journal, Save, Write
from tictactoe_server.storage.schema import columns_of, insert_into
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import MISSING, Conflict, Stored, Unreadable, Value, Waiter
from tictactoe_server.storage.writer import Writer

_READ_AT_ONCE: Final = 200


class SqliteTable(Generic[Value]):
    """Values in a table of their own; see `Table` for what the methods promise.

    Values without a revision in the file have one of the process's own.
    """

    expires = False

    def __init__(self, writer: Writer, spec: TableSpec[Value]) -> None:
        self._writer = writer
        self._spec = spec
        columns = columns_of(spec)
        numbers = spec.rows.names
        self._has_revision = "revision" in columns
        self._key = columns[0]
        self._kinds = (int, object, *(int for _ in numbers))
        read = ", ".join(("revision" if self._has_revision else str(MISSING), "document", *numbers))
        self._read = f"SELECT {read} FROM {spec.name} WHERE {self._key} = ?"
        self._written = (self._key, "revision", "document", *numbers)

    async def load(self, key: str) -> tuple[Value, int] | None:
        return await self._writer.ask(partial(self._find, key))

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Value]]]:
        async for keys in self._pages(""):
            found = await asyncio.gather(
                *(self._writer.ask(partial(self._find, key)) for key in keys), return_exceptions=True
            )
            yield [_stored(key, each) for key, each in zip(keys, found, strict=True) if each is not None]

    async def first_key(self, prefix: str) -> str | None:
        async for keys in self._pages(prefix):
            return next((key for key in keys if key.startswith(prefix)), None)
        return None

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        row = self._spec.rows.split(value)

        def write(database: Database, journal: Journal) -> int | Conflict:
            if expected_revision is not None and self._revision(key, database, journal) != expected_revision:
                return Conflict(key)
            revision = database.next_revision()
            database.execute(insert_into(self._spec), dict(zip(self._written, (key, revision, *row), strict=True)))
            if not self._has_revision:
                journal.revisions[self._spec.name, key] = revision
            return revision

        self._writer.write(Write(write, waiter, finished))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self._spec.forget(key)

        def write(database: Database, journal: Journal) -> int | Conflict:
            if expected_revision is not None and self._revision(key, database, journal) != (expected_revision or None):
                return Conflict(key)
            database.execute(f"DELETE FROM {self._spec.name} WHERE {self._key} = ?", (key,))
            return MISSING

        self._writer.write(Write(write, waiter))

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[str]]:
        """Return the keys from a prefix on, some at a time."""
        keys = await self._writer.ask(partial(self._keys, prefix, ""))
        while keys:
            yield keys
            keys = await self._writer.ask(partial(self._keys, prefix, keys[-1]))

    def _keys(self, prefix: str, after: str, database: Database, journal: Journal) -> list[str]:
        rows = database.execute(
            f"SELECT {self._key} FROM {self._spec.name} WHERE {self._key} >= ? AND {self._key} > ? ORDER BY 1 LIMIT ?",
            (prefix, after, _READ_AT_ONCE),
        )
        return [key for (key,) in checked(rows.fetchall(), str)]

    def _find(self, key: str, database: Database, journal: Journal) -> tuple[Value, int] | None:
        row = self._row(key, database, journal)
        return row and (self._spec.read_row(key, *row[1:]), row[0])

    def _revision(self, key: str, database: Database, journal: Journal) -> int:
        row = self._row(key, database, journal)
        return MISSING if row is None else int(row[0])

    def _row(self, key: str, database: Database, journal: Journal) -> tuple[Any, ...] | None:
        """Return the revision, the document and the numbers under a key, or None."""
        rows = checked(database.execute(self._read, (key,)).fetchall(), *self._kinds)
        if not rows or self._has_revision:
            return rows[0] if rows else None
        return (journal.revisions.get((self._spec.name, key), journal.first_revision), *rows[0][1:])


class JournaledTable(SqliteTable[Value]):
    """Values whose newest documents stand in the journal."""

    def save(self, key: str, value: Value, expected_revision: int | None, waiter: Waiter, finished: Any = None) -> None:
        self._writer.write(Save(key, self._spec.encode(value), expected_revision, waiter, finished))

    def delete(self, key: str, expected_revision: int | None, waiter: Waiter) -> None:
        self._spec.forget(key)
        self._writer.write(Save(key, None, expected_revision, waiter))

    async def _pages(self, prefix: str) -> AsyncIterator[Sequence[str]]:
        codes = await self._writer.ask(lambda _, journal: journal.codes())
        keys = [code for code in codes if code.startswith(prefix)]
        for first in range(0, len(keys), _READ_AT_ONCE):
            yield keys[first : first + _READ_AT_ONCE]

    def _find(self, key: str, database: Database, journal: Journal) -> tuple[Value, int] | None:
        found = journal.load(key)
        return found and (self._spec.read(key, found[0]), found[1])


def _stored(key: str, found: tuple[Value, int] | BaseException) -> Stored[Value]:
    """Return what is kept under a key, or what is wrong with it where that is damaged; raises other errors."""
    if isinstance(found, Unreadable):
        return Stored(key, found, MISSING)
    if isinstance(found, BaseException):
        raise found
    return Stored(key, *found)
