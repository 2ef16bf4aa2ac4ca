"""All that a folder's database holds, read without a store, and a look at what is damaged in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from tictactoe_server.storage.backup import database_in
from tictactoe_server.storage.schema import GAME, JOURNALED, SCHEMA, TIME, NewerSchema, lines_of, reading, version_of
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.store import Unreadable

_MAX_FINDINGS: Final = 20

Key = TypeVar("Key")


class Findings(NamedTuple):
    """How many of each table and of ``games`` can be read, and a line for each of the first damaged things."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


def check_folder(folder: Path, specs: Specs) -> Findings:
    """Read all of a folder's database, also of a server that runs, and change nothing; raises `CannotBackUp`."""
    path = database_in(folder)
    if (version := version_of(path)) > SCHEMA:
        raise NewerSchema(path, version, SCHEMA)
    try:
        with reading(path) as connection:
            found = DatabaseContents(connection, specs)
    except sqlite3.DatabaseError as error:
        nothing = dict.fromkeys([*(spec.name for spec in specs.tables), "games"], 0)
        return Findings(nothing, (f"The database cannot be read: {error}.",))
    counts = {spec.name: sum(1 for _ in found.items(spec)) for spec in specs.tables}
    counts["games"] = sum(1 for _ in found.games())
    return Findings(counts, tuple(found.damage))


class DatabaseContents:
    """What is in a database, with the journal brought into the rest; `time` is as it is kept.

    `damage` has a line for each of the first damaged things, as far as everything was read.
    """

    def __init__(self, connection: sqlite3.Connection, specs: Specs) -> None:
        self.damage: list[str] = []
        for (text,) in _rows(connection, f"PRAGMA integrity_check({_MAX_FINDINGS})"):
            if text != "ok":
                self._note(f"A page of the database: {text}.")
        self.time = next(
            (time for (time,) in _rows(connection, f"SELECT value FROM server WHERE key = '{TIME}'")), None
        )
        self._specs = specs
        self._tables = {spec.name: dict(_rows_by_key(connection, spec)) for spec in specs.tables}
        self._games: dict[int, Any] = dict(_rows(connection, "SELECT id, document FROM archive"))
        for row, batch in _rows(connection, "SELECT id, batch FROM journal ORDER BY id"):
            self._fold(row, bytes(batch))

    def items(self, spec: TableSpec[Any]) -> Iterator[tuple[str, Any]]:
        """Yield the keys and values of a table that can be read, and note the others."""
        return self._readable(self._tables[spec.name], lambda key, row: spec.read_row(key, *row), spec.describe)

    def games(self) -> Iterator[tuple[int, Any]]:
        """Yield the games that can be read with their ids, and note the others."""
        return self._readable(self._games, lambda _, document: self._specs.games.read(document), "Game {}".format)

    def _fold(self, row: int, batch: bytes) -> None:
        """Bring a row of the journal into the rest."""
        rooms = self._tables.get(JOURNALED, {})
        for line in lines_of(batch):
            if line is None:
                self._note(f"A line of the journal, row {row}.")
                continue
            name, number, document = line
            if name == GAME:
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


def _rows(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that can be read; the pages that cannot are named by the check of the whole."""
    try:
        yield from connection.execute(statement)
    except sqlite3.DatabaseError:
        return


def _rows_by_key(connection: sqlite3.Connection, spec: TableSpec[Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the rows of a table: its key, its document and its numbers, none where an older schema has none."""
    names = [name for _, name, *_ in _rows(connection, f"PRAGMA table_info({spec.name})")]
    numbers = [name for name in (spec.columns.names if spec.columns else ()) if name in names]
    if names:
        for key, *row in _rows(connection, f"SELECT {', '.join((names[0], 'document', *numbers))} FROM {spec.name}"):
            yield key, tuple(row)
