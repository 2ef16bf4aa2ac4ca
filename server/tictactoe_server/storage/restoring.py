"""A copy of a database put in the place of a folder's own, and a look at what is damaged in a folder.

Nothing is overwritten: what was there is moved aside as a whole, with what SQLite keeps beside it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tictactoe_server.storage.backup import CannotBackUp, copy_database
from tictactoe_server.storage.folder import FILE_NAME, DataFolder, files_of, free_name, sync_folder
from tictactoe_server.storage.schema import (
    GAME,
    JOURNALED,
    SCHEMA,
    NewerSchema,
    check_ours,
    columns_of,
    lines_of,
    version_of,
)
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.store import Unreadable

_MAX_FINDINGS: Final = 20


@dataclass(frozen=True, slots=True)
class Findings:
    """How many of each table and of ``games`` can be read, and a line for each of the first damaged things."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


def restore_backup(folder: Path, backup: Path) -> list[Path]:
    """Put a copy that `back_up` made in the place of a folder's database; return where what was there is now.

    Raises `CannotBackUp`, `NewerSchema`, and `FolderInUse` while a server runs there; then nothing has changed.
    """
    if not backup.is_file():
        raise CannotBackUp(f"There is no file {backup}.")
    if (version := version_of(backup)) > SCHEMA:
        raise NewerSchema(backup, version, SCHEMA)
    held = DataFolder(folder)
    try:
        if (folder / FILE_NAME).exists():
            held.hold_database()
        fresh = folder / f"{FILE_NAME}.restored"
        fresh.unlink(missing_ok=True)
        copy_database(backup, fresh)
        try:
            aside = _move_aside(folder)
            os.rename(fresh, folder / FILE_NAME)
            held.write_mark(0)
            sync_folder(folder)
        except OSError as error:
            raise CannotBackUp(f"Cannot put {backup} into {folder}: {error.strerror or error}.") from error
    finally:
        held.release()
    return aside


def check_folder(folder: Path, specs: Specs) -> Findings:
    """Read all of a folder's database, also of a server that runs, and change nothing; raises `CannotBackUp`."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise CannotBackUp(f"There is no database in {folder}.")
    if (version := version_of(path)) > SCHEMA:
        raise NewerSchema(path, version, SCHEMA)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            check_ours(connection, path)
            return _check(connection, specs)
    except sqlite3.DatabaseError as error:
        return Findings(
            dict.fromkeys([*(spec.name for spec in specs.tables), "games"], 0),
            (f"The database cannot be read: {error}.",),
        )


def _check(connection: sqlite3.Connection, specs: Specs) -> Findings:
    damage = [
        f"A page of the database: {text}."
        for (text,) in _rows(connection, f"PRAGMA integrity_check({_MAX_FINDINGS})")
        if text != "ok"
    ]
    tables = {name for (name,) in _rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    documents: dict[str, dict[str, Any]] = {
        spec.name: dict(_rows(connection, f"SELECT {columns_of(spec)[0]}, document FROM {spec.name}"))
        for spec in specs.tables
        if spec.name in tables
    }
    rooms = documents.get(JOURNALED, {})
    games: dict[int, Any] = dict(_rows(connection, "SELECT id, document FROM archive"))
    for row, batch in _rows(connection, "SELECT id, batch FROM journal ORDER BY id") if "journal" in tables else ():
        for line in lines_of(bytes(batch)):
            if line is None:
                damage.append(f"A line of the journal, row {row}.")
                continue
            name, number, document = line
            if name == GAME:
                games[number] = document
            elif document:
                rooms[name] = document
            else:
                rooms.pop(name, None)
    counts = {
        spec.name: _count(documents.get(spec.name, {}), spec.read_row, spec.describe, damage) for spec in specs.tables
    }
    counts["games"] = _count(games, lambda _, document: specs.games.read(document), "Game {}".format, damage)
    return Findings(counts, tuple(damage[:_MAX_FINDINGS]))


def _rows(connection: sqlite3.Connection, statement: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that can be read; the pages that cannot are named by the check of the whole."""
    try:
        yield from connection.execute(statement)
    except sqlite3.DatabaseError:
        return


def _count(
    documents: Mapping[Any, Any], read: Callable[[Any, bytes], object], name: Callable[[Any], str], damage: list[str]
) -> int:
    """Return how many documents can be read, and note the others."""
    count = 0
    for key, document in documents.items():
        try:
            read(key, document if isinstance(document, bytes) else str(document).encode())
            count += 1
        except Unreadable as error:
            damage.append(f"{name(key)}: {error}")
    return count


def _move_aside(folder: Path) -> list[Path]:
    """Rename a database and all that belongs to it; return the new names, the database first."""
    database = folder / FILE_NAME
    moved = []
    for path, new in zip(files_of(database), files_of(free_name(database, "replaced")), strict=True):
        if path.exists():
            path.rename(new)
            moved.append(new)
    return moved
