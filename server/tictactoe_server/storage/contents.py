"""All that a folder's database holds: looked over for damage, or brought into another store, and the other way round.

It is read without a store, and the journal brought into the rest; what cannot be decoded is found out on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

from tictactoe_server.storage import schema
from tictactoe_server.storage.backup import back_up, database_in
from tictactoe_server.storage.copying import AT_ONCE, CannotMove, Item, refusing
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Unreadable, read_time, save

_MAX_FINDINGS: Final = 20


class Findings(NamedTuple):
    """How many of each table and of ``games`` can be read, and a line for each of the first damaged things."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


def check_folder(folder: Path, specs: Specs) -> Findings:
    """Read all of a folder's database, also of a server that runs, and change nothing; raises `CannotBackUp`."""
    path = database_in(folder)
    schema.refuse_newer(path)
    kinds = (*specs.tables, specs.games)
    try:
        with schema.reading(path) as connection:
            found = FolderSource(connection, specs)
    except sqlite3.DatabaseError as error:
        return Findings({spec.name: 0 for spec in kinds}, (f"The database cannot be read: {error}.",))
    counts = {spec.name: sum(1 for _ in found.readable(spec)) for spec in kinds}
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
        self._kept: dict[str, dict[Any, tuple[Any, ...]]] = {
            spec.name: dict(_rows_by_key(connection, "archive" if spec is specs.games else spec.name, spec.rows.names))
            for spec in (*specs.tables, specs.games)
        }
        sequence = "SELECT seq FROM sqlite_sequence WHERE name = 'archive' AND typeof(seq) = 'integer'"
        self._newest_game = max(
            (*self._kept[specs.games.name], *(newest for (newest,) in _rows(connection, sequence))), default=0
        )
        for row, batch in _rows(connection, "SELECT id, batch FROM journal ORDER BY id"):
            self._fold(row, _as_bytes(batch))

    @classmethod
    def open(cls, folder: Path, specs: Specs) -> Self:
        """Return what a copy of a folder holds, which so stays as it is; raises `CannotMove` and `CannotOpenStore`."""
        database_in(folder)
        held = DataFolder(folder)
        try:
            with tempfile.TemporaryDirectory(prefix="tictactoe-move-") as place:
                copied = Path(place) / FILE_NAME
                back_up(folder, copied)
                with contextlib.closing(schema.open_database(copied)) as connection:
                    found = cls(connection, specs, held)
                    for name in schema.unknown_tables(connection, specs.tables):
                        found._note(f"The table {name}: nothing here keeps such a one.")
                    return found
        except BaseException:
            held.release()
            raise

    def readable(self, spec: TableSpec[Any]) -> Iterator[Item]:
        """Yield the keys and values of a table that can be read, or the games with their ids, and note the others."""
        for key, row in self._kept[spec.name].items():
            try:
                yield key, spec.read_row(key, *row)
            except Unreadable as error:
                self._note(f"{spec.describe(key)}: {error}")

    async def items(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Item]]:
        found = self.readable(spec)
        while some := list(islice(found, AT_ONCE)):
            yield some

    async def time(self) -> int | None:
        return read_time(self._time)

    async def close(self) -> None:
        if self._held is not None:
            self._held.release()

    def _fold(self, row: int, batch: bytes) -> None:
        """Bring a row of the journal into the rest, without the games that were in the tables already.

        Some of these may have been forgotten there.
        """
        rooms, games = self._kept.get(schema.JOURNALED, {}), self._kept[self._specs.games.name]
        for line in schema.lines_of(batch):
            match line:
                case None:
                    self._note(f"A line of the journal, row {row}.")
                case (schema.GAME, id, document):
                    if id > self._newest_game:
                        games[id] = (document,)
                case (code, _, b""):
                    rooms.pop(code, None)
                case (code, _, document):
                    rooms[code] = (document,)

    def _note(self, line: str) -> None:
        if len(self.damage) < _MAX_FINDINGS:
            self.damage.append(line)


class FolderTarget(SqliteStore):
    """A folder that had no database; see `CopyTarget`."""

    @classmethod
    def open(cls, folder: Path | None, specs: Specs) -> Self:
        """Return a new database in a folder, which is made where it is missing; raises like `FolderSource.open`."""
        if folder is not None and (folder / FILE_NAME).exists():
            raise CannotMove(f"{folder} is not empty: it has a database. Nothing in it was changed.")
        return super().open(folder, specs)

    async def write(self, spec: TableSpec[Any], items: Sequence[Item]) -> None:
        with refusing("The folder takes no more"):
            if isinstance(spec, GameSpec):
                await self.games.take([(int(number), spec.encode(game)) for number, game in items])
            else:
                await asyncio.gather(*(save(self.table(spec), key, value, MISSING) for key, value in items))

    async def write_time(self, ms: int) -> None:
        self.note_time(ms)

    async def close(self) -> None:
        with refusing("The folder takes no more"):
            await super().close()


def _rows(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that can be read; the pages that cannot are named by the check of the whole."""
    try:
        yield from connection.execute(statement)
    except sqlite3.DatabaseError:
        return


def _rows_by_key(
    connection: sqlite3.Connection, table: str, numbers: Sequence[str]
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield the rows of a table: its key, its document and its numbers, none where an older schema has none."""
    names = [name for _, name, *_ in _rows(connection, f"PRAGMA table_info({table})")]
    if names:
        columns = ", ".join((names[0], "document", *(name for name in numbers if name in names)))
        for key, document, *row in _rows(connection, f"SELECT {columns} FROM {table}"):
            yield key, (_as_bytes(document), *row)


def _as_bytes(value: object) -> bytes:
    """Return what should be bytes as such: what is of another kind is then read as damaged, or like its text."""
    return value if isinstance(value, bytes) else str(value).encode()
