"""Copies everything from a data folder or a cluster's store to an empty one, or only reads it to check it.

Every value is decoded on the way, so that damage is found before a server meets it. A folder is read from a temporary
copy, so that nothing in it changes.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

from tictactoe_server import OperatorError
from tictactoe_server.features.backups.files import back_up, database_in
from tictactoe_server.storage.folder import FILE_NAME, DataFolder, mark_of
from tictactoe_server.storage.schema import DamagedDatabase, check_file, check_saves, reading, unknown_tables
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import MISSING, Conflict, Stored, StoreUnavailable, Unreadable, save

AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16
_MAX_FINDINGS: Final = 20
CANNOT_READ: Final = "Cannot read the source"
NO_MORE: Final = "Cannot write to the target"


@contextmanager
def refusing(words: str) -> Iterator[None]:
    """Raise `OperatorError` for an error of a store. Its message is `words`, followed by the error's message."""
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise OperatorError(f"{words}: {error}") from error


class CopyEnd(Protocol):
    """The source or the target of a copy. Values are durable once the target is closed.

    Attributes:
        damage: A line for each damaged value that was found.
    """

    damage: list[str]

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]: ...
    async def noted_time(self) -> int | None: ...
    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]: ...
    async def put_time(self, ms: int) -> None: ...


@dataclass(slots=True)
class Sum:
    """The number of values, and a digest of them that does not depend on their order."""

    count: int = 0
    digest: int = 0

    def add(self, key: str, document: bytes) -> None:
        self.count += 1
        found = int.from_bytes(blake2b(b"%b %b" % (key.encode(), document), digest_size=_DIGEST_BYTES).digest())
        self.digest = (self.digest + found) % (1 << 8 * _DIGEST_BYTES)


@dataclass(slots=True)
class Contents:
    """A summary of everything in a store.

    Attributes:
        time: The stored served time in ms, or None if there is none.
        sums: The number and digest of the values of each kind, by the noun of their spec, such as ``room``.
        damage: Lines about the first damaged pages and values, from `check_database`.
    """

    time: int | None = None
    sums: defaultdict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))
    damage: Sequence[str] = field(default=(), compare=False)


async def copy(source: CopyEnd, target: CopyEnd | None, specs: Specs) -> Contents:
    """Copy everything, or only read it if `target` is None, and return a summary. May raise `OperatorError`.

    Tables are copied in the order of their specs, and then games. Rooms come before players, so that the copy has every
    player with a seat even if servers write meanwhile.
    """
    contents = Contents()
    with refusing(CANNOT_READ):
        for spec in (*specs.tables, specs.games):
            found = contents.sums[spec.noun]
            async for some in source.load_all(spec):
                writes = []
                for key, value in ((stored.key, stored.value) for stored in some):
                    if isinstance(value, Unreadable):
                        source.damage.append(f"The {spec.noun} {key}: {value}")
                        continue
                    found.add(key, spec.encode(value))
                    if target is not None:
                        writes.append(target.put(spec, key, value))
                if target is not None:
                    with refusing(NO_MORE):
                        await asyncio.gather(*writes)
            if spec is specs.tables[0]:  # times in rooms are in served time
                try:
                    contents.time = await source.noted_time()
                except Unreadable:
                    source.damage.append("The served time.")
    if target is not None and contents.time is not None:
        with refusing(NO_MORE):
            await target.put_time(contents.time)
    return contents


async def check_database(path: Path, specs: Specs, *, is_backup: bool = False) -> Contents:
    """Read everything in a database without changing it, also while a server uses it; may raise `CannotOpenStore`."""
    mark = mark_of(path)
    with tempfile.TemporaryDirectory(prefix="tictactoe-check-") as place:
        try:
            with reading(path) as reader, closing(sqlite3.connect(Path(place) / FILE_NAME)) as copied:
                reader.backup(copied)
                texts = [text for (text,) in copied.execute(f"PRAGMA integrity_check({_MAX_FINDINGS})")]
            check_saves(path, mark, Path(place) / FILE_NAME)
            opened = _Folder.open(Path(place), specs)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise DamagedDatabase(path, [str(error)], is_backup=is_backup) from error
        except DamagedDatabase as error:
            raise DamagedDatabase(path, error.findings, is_backup=is_backup) from error
        async with aclosing(opened) as source:
            found = await copy(source, None, specs)
    pages = [f"A page of the database: {text}." for text in texts if text != "ok"]
    found.damage = [*pages, *source.damage][:_MAX_FINDINGS]
    return found


@asynccontextmanager
async def folder_source(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Open the database in `folder` as the source of a copy. No server may use the folder meanwhile.

    May raise `OperatorError`.
    """
    check_file(database_in(folder))
    with ExitStack() as stack:
        stack.callback(DataFolder(folder).release)
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tictactoe-move-")))
        back_up(database_in(folder), place / FILE_NAME)
        async with aclosing(_Folder.open(place, specs)) as source:
            with reading(place / FILE_NAME) as copied:
                unknown = unknown_tables(copied, specs.tables)
            source.damage += [f"Table {name}: unknown to this version." for name in unknown]
            yield source


@asynccontextmanager
async def folder_target(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Create a database in `folder` as the target of a copy; raises the same errors as `folder_source`.

    If the folder does not exist, it is created.
    """
    if (folder / FILE_NAME).exists():
        raise OperatorError(f"{folder} is not empty: it contains a database. Nothing was changed.")
    with refusing(NO_MORE):
        async with aclosing(_Folder.open(folder, specs)) as target:
            yield target


class _Folder(SqliteStore):
    """A store in a folder as the source or the target of a copy (see `CopyEnd`). The caller reports the damage."""

    aclose = SqliteStore.close

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]:
        return self.table(spec).load_all()

    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]:
        return save(self.table(spec), key, value, MISSING)

    async def put_time(self, ms: int) -> None:
        self.note_time(ms)
