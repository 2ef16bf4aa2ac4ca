"""All that a folder's database holds: looked over for damage, or brought into another store, and the other way round.

What is read is a copy, opened as the store that a server would make of it: so it is told what a server would have, and
the folder stays as it is.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from tictactoe_server.storage.backup import back_up, database_in
from tictactoe_server.storage.copying import CannotMove, CopyEnd, copy, refusing
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.schema import ForeignFile, reading, refuse_newer, unknown_tables
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, CannotOpenStore, Stored, save

_MAX_FINDINGS: Final = 20
_NO_MORE: Final = "The folder takes no more"


class Findings(NamedTuple):
    """How many of each table and of ``games`` can be read, and a line for each of the first damaged things."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


async def check_folder(folder: Path, specs: Specs) -> Findings:
    """Read all of a folder's database, also of a server that runs, and change nothing; raises `CannotBackUp`."""
    path = database_in(folder)
    refuse_newer(path)
    kinds = (*specs.tables, specs.games)
    with tempfile.TemporaryDirectory(prefix="tictactoe-check-") as place:
        try:
            with reading(path) as reader, closing(sqlite3.connect(Path(place) / FILE_NAME)) as copied:
                reader.backup(copied)
                pages = _damaged_pages(copied)
            opened = _Folder.open(Path(place), specs)
        except ForeignFile:
            raise
        except (sqlite3.DatabaseError, CannotOpenStore) as error:
            reason = error.__cause__ or error
            return Findings({spec.name: 0 for spec in kinds}, (f"The database cannot be read: {reason}.",))
        async with aclosing(opened) as source:
            found = await copy(source, None, specs)
    return Findings(
        {spec.name: found.sums[spec.noun].count for spec in kinds}, (*pages, *source.damage)[:_MAX_FINDINGS]
    )


def _damaged_pages(connection: sqlite3.Connection) -> list[str]:
    try:
        texts = [text for (text,) in connection.execute(f"PRAGMA integrity_check({_MAX_FINDINGS})")]
    except sqlite3.DatabaseError as error:
        texts = [str(error)]
    return [f"A page of the database: {text}." for text in texts if text != "ok"]


@asynccontextmanager
async def folder_source(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Give what a folder holds, which no server may use meanwhile; raises `CannotMove` and `CannotOpenStore`."""
    database_in(folder)
    with ExitStack() as stack:
        stack.callback(DataFolder(folder).release)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tictactoe-move-")))
        back_up(folder, place / FILE_NAME)
        async with aclosing(_Folder.open(place, specs)) as source:
            with reading(place / FILE_NAME) as copied:
                unknown = unknown_tables(copied, specs.tables)
            source.damage += [f"The table {name}: nothing here keeps such a one." for name in unknown]
            yield source


@asynccontextmanager
async def folder_target(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Give a new database in a folder, which is made where it is missing; raises like `folder_source`."""
    if (folder / FILE_NAME).exists():
        raise CannotMove(f"{folder} is not empty: it has a database. Nothing in it was changed.")
    with refusing(_NO_MORE):
        async with aclosing(_Folder.open(folder, specs)) as target:
            target.refusal = _NO_MORE
            yield target


class _Folder(SqliteStore):
    """A store as either end of a copy; see `CopyEnd`. What is damaged is said by whoever copies."""

    refusal = "The folder cannot be read"
    logs_damage = False
    aclose = SqliteStore.close

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]:
        return self.table(spec).load_all()

    def describe(self, spec: TableSpec[Any], key: str) -> str:
        return spec.describe(key)

    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]:
        return save(self.table(spec), key, value, MISSING)

    async def put_time(self, ms: int) -> None:
        self.note_time(ms)
