"""All that a folder's database holds: looked over for damage, or brought into another store, and the other way round.

It is read without a store, and the journal brought into the rest; what cannot be decoded is found out on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

from tictactoe_server.storage import schema
from tictactoe_server.storage.backup import CannotBackUp, back_up, database_in
from tictactoe_server.storage.copying import AT_ONCE, CannotMove, Item
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, StoreUnavailable, Unreadable, read_time, save

_MAX_FINDINGS: Final = 20

Key = TypeVar("Key")


class Findings(NamedTuple):
    """How many of each table and of ``games`` can be read, and a line for each of the first damaged things."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


def check_folder(folder: Path, specs: Specs) -> Findings:
    """Read all of a folder's database, also of a server that runs, and change nothing; raises `CannotBackUp`."""
    path = database_in(folder)
    schema.refuse_newer(path)
    try:
        with schema.reading(path) as connection:
            found = FolderSource(connection, specs)
    except sqlite3.DatabaseError as error:
        nothing = dict.fromkeys([*(spec.name for spec in specs.tables), "games"], 0)
        return Findings(nothing, (f"The database cannot be read: {error}.",))
    counts = {spec.name: sum(1 for _ in found.readable(spec)) for spec in specs.tables}
    counts["games"] = sum(1 for _ in found.readable_games())
    return Findings(counts, tuple(found.damage))


class FolderSource:
    """What is in a database, of a folder that is held until `close`, so that no server changes it; see `CopySource`."""

    def __init__(self, connection: sqlite3.Connection, specs: Specs, held: DataFolder | None = None) -> None:
        self.damage: list[str] = []
        self._specs = specs
        self._held = held
        for (text,) in _rows(connection, f"PRAGMA integrity_check({_MAX_FINDINGS})"):
            if text != "ok":
                self._note(f"A page of the database: {text}.")
        self._time = dict(_rows(connection, "SELECT key, value FROM server")).get(schema.TIME)
        self._tables = {spec.name: dict(_rows_by_key(connection, spec)) for spec in specs.tables}
        self._games: dict[int, Any] = dict(_rows(connection, "SELECT id, document FROM archive"))
        for row, batch in _rows(connection, "SELECT id, batch FROM journal ORDER BY id"):
            self._fold(row, bytes(batch))

    @classmethod
    def open(cls, folder: Path, specs: Specs) -> Self:
        """Return what a copy of a folder holds, which so stays as it is; raises `CannotMove` and `CannotOpenStore`."""
        if not (folder / FILE_NAME).is_file():
            raise CannotMove(f"There is no database in {folder}.")
        held = DataFolder(folder)
        try:
            with tempfile.TemporaryDirectory(prefix="tictactoe-move-") as place:
                copied = Path(place) / FILE_NAME
                back_up(folder, copied)
                with contextlib.closing(schema.open_database(copied)) as connection:
                    return cls(connection, specs, held)
        except BaseException as error:
            held.release()
            if isinstance(error, CannotBackUp):
                raise CannotMove(str(error)) from error
            raise

    def readable(self, spec: TableSpec[Any]) -> Iterator[Item]:
        """Yield the keys and values of a table that can be read, and note the others."""
        return self._readable(self._tables[spec.name], lambda key, row: spec.read_row(key, *row), spec.describe)

    def readable_games(self) -> Iterator[tuple[int, Any]]:
        """Yield the games that can be read with their ids, and note the others."""
        return self._readable(self._games, lambda _, document: self._specs.games.read(document), "Game {}".format)

    async def items(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Item]]:
        found = self.readable(spec)
        while some := list(islice(found, AT_ONCE)):
            yield some

    async def games(self) -> AsyncIterator[Sequence[Any]]:
        found = self.readable_games()
        while some := [game for _, game in islice(found, AT_ONCE)]:
            yield some

    async def time(self) -> int | None:
        return read_time(self._time)

    async def close(self) -> None:
        if self._held is not None:
            self._held.release()

    def _fold(self, row: int, batch: bytes) -> None:
        """Bring a row of the journal into the rest."""
        rooms = self._tables.get(schema.JOURNALED, {})
        for line in schema.lines_of(batch):
            if line is None:
                self._note(f"A line of the journal, row {row}.")
                continue
            name, number, document = line
            if name == schema.GAME:
                self._games[number] = document
            elif document:
                rooms[name] = (document,)
            else:
                rooms.pop(name, None)

    def _readable(
        self, found: Mapping[Key, Any], read: Callable[[Key, Any], Any], name: Callable[[Key], str]
    ) -> Iterator[tuple[Key, Any]]:
        for key, kept in found.items():
            try:
                yield key, read(key, kept)
            except Unreadable as error:
                self._note(f"{name(key)}: {error}")

    def _note(self, line: str) -> None:
        if len(self.damage) < _MAX_FINDINGS:
            self.damage.append(line)


class FolderTarget:
    """A folder that had no database; see `CopyTarget`."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    @classmethod
    def open(cls, folder: Path, specs: Specs) -> Self:
        """Return a new database in a folder, which is made where it is missing; raises like `FolderSource.open`."""
        if (folder / FILE_NAME).exists():
            raise CannotMove(f"{folder} is not empty: it has a database. Nothing in it was changed.")
        return cls(SqliteStore.open(folder, specs))

    async def write(self, spec: TableSpec[Any], items: Sequence[Item]) -> None:
        table = self._store.table(spec)
        with _filling():
            await asyncio.gather(*(save(table, key, value, MISSING) for key, value in items))

    async def write_games(self, games: Sequence[tuple[int, bytes]]) -> None:
        with _filling():
            await self._store.games.take(games)

    async def write_time(self, ms: int) -> None:
        self._store.note_time(ms)

    async def close(self) -> None:
        with _filling():
            await self._store.close()


@contextlib.contextmanager
def _filling() -> Iterator[None]:
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise CannotMove(f"The folder takes no more: {error}") from error


def _rows(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that can be read; the pages that cannot are named by the check of the whole."""
    try:
        yield from connection.execute(statement)
    except sqlite3.DatabaseError:
        return


def _rows_by_key(connection: sqlite3.Connection, spec: TableSpec[Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the rows of a table: its key, its document and its numbers, none where an older schema has none."""
    names = [name for _, name, *_ in _rows(connection, f"PRAGMA table_info({spec.name})")]
    numbers = [name for name in spec.rows.names if name in names]
    if names:
        for key, *row in _rows(connection, f"SELECT {', '.join((names[0], 'document', *numbers))} FROM {spec.name}"):
            yield key, tuple(row)
