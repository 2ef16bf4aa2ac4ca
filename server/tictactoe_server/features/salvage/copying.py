"""Copies of everything in a data folder or a cluster into an empty one, and checks without a target.

Values are decoded on the way, which finds damage before a server does. A folder is read through a temporary copy, so
that it stays as it is.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from tictactoe_server.features.backups.files import back_up, database_in
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.schema import DamagedDatabase, check_file, reading, unknown_tables
from tictactoe_server.storage.specs import Specs, TableSpec
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.store import (
    MISSING,
    CannotMove,
    Conflict,
    Stored,
    StoreUnavailable,
    Unreadable,
    save,
)

AT_ONCE: Final = 500
_DIGEST_BYTES: Final = 16
_MAX_FINDINGS: Final = 20
_NO_MORE: Final = "The folder takes no more"


@contextmanager
def refusing(words: str) -> Iterator[None]:
    """Raise `CannotMove`, prefixed with these words, for errors of a store."""
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise CannotMove(f"{words}: {error}") from error


class CopyEnd(Protocol):
    """The source or the target of a copy. Values are durable once the target is closed.

    Attributes:
        damage: A line for each damaged value.
        refusal: The words before the reason of an error.
    """

    refusal: str
    damage: list[str]

    def load_all(self, spec: TableSpec[Any]) -> AsyncIterator[Sequence[Stored[Any]]]: ...
    def describe(self, spec: TableSpec[Any], key: str) -> str: ...
    async def noted_time(self) -> int | None: ...
    def put(self, spec: TableSpec[Any], key: str, value: Any) -> Awaitable[object]: ...
    async def put_time(self, ms: int) -> None: ...


@dataclass(slots=True)
class Sum:
    """The count of values, and a digest that does not depend on their order."""

    count: int = 0
    digest: int = 0

    def add(self, key: str, document: bytes) -> None:
        self.count += 1
        found = int.from_bytes(blake2b(b"%b %b" % (key.encode(), document), digest_size=_DIGEST_BYTES).digest())
        self.digest = (self.digest + found) % (1 << 8 * _DIGEST_BYTES)


@dataclass(slots=True)
class Contents:
    """The contents of a store, as sums by the nouns of its specs."""

    time: int | None = None
    sums: defaultdict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))


async def copy(
    source: CopyEnd,
    target: CopyEnd | None,
    specs: Specs,
    progress: Callable[[str, int], None] = lambda noun, count: None,
) -> Contents:
    """Copy everything, or only read it if there is no target; return its sums. Raises `CannotMove`.

    The tables come in the order of their specs: rooms before players, so that each player with a seat is there, and
    games last. `progress` is called with a noun and the number of values copied so far.
    """
    contents = Contents()
    with refusing(source.refusal):
        for spec in (*specs.tables, specs.games):
            found = contents.sums[spec.noun]
            async for some in source.load_all(spec):
                writes = []
                for key, value in ((stored.key, stored.value) for stored in some):
                    if isinstance(value, Unreadable):
                        source.damage.append(f"{source.describe(spec, key)}: {value}")
                        continue
                    found.add(key, spec.encode(value))
                    if target is not None:
                        writes.append(target.put(spec, key, value))
                if target is not None:
                    with refusing(target.refusal):
                        await asyncio.gather(*writes)
                progress(spec.noun, found.count)
            if spec is specs.tables[0]:  # the times in rooms are relative to it
                try:
                    contents.time = await source.noted_time()
                except Unreadable:
                    source.damage.append("How long servers have run.")
    if target is not None and contents.time is not None:
        with refusing(target.refusal):
            await target.put_time(contents.time)
    return contents


class Findings(NamedTuple):
    """The number of sound values of each table and of ``games``, and lines about the first damaged ones."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


async def check_database(path: Path, specs: Specs, *, is_backup: bool = False) -> Findings:
    """Read all of a database, also while a server uses it, and change nothing; raises `CannotOpenStore`."""
    kinds = (*specs.tables, specs.games)
    with tempfile.TemporaryDirectory(prefix="tictactoe-check-") as place:
        try:
            with reading(path) as reader, closing(sqlite3.connect(Path(place) / FILE_NAME)) as copied:
                reader.backup(copied)
                texts = [text for (text,) in copied.execute(f"PRAGMA integrity_check({_MAX_FINDINGS})")]
            opened = _Folder.open(Path(place), specs)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise DamagedDatabase(path, [str(error)], is_backup=is_backup) from error
        except DamagedDatabase as error:
            raise DamagedDatabase(path, error.findings, is_backup=is_backup) from error
        async with aclosing(opened) as source:
            found = await copy(source, None, specs)
    pages = [f"A page of the database: {text}." for text in texts if text != "ok"]
    counts = {spec.name: found.sums[spec.noun].count for spec in kinds}
    return Findings(counts, (*pages, *source.damage)[:_MAX_FINDINGS])


@asynccontextmanager
async def folder_source(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Yield the contents of a folder, which no server may use meanwhile; raises `CannotMove` and `CannotOpenStore`."""
    check_file(database_in(folder))
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
    """Yield a new database in a folder, which is created if missing; raises like `folder_source`."""
    if (folder / FILE_NAME).exists():
        raise CannotMove(f"{folder} is not empty: it has a database. Nothing in it was changed.")
    with refusing(_NO_MORE):
        async with aclosing(_Folder.open(folder, specs)) as target:
            target.refusal = _NO_MORE
            yield target


class _Folder(SqliteStore):
    """A store as either end of a copy, see `CopyEnd`; the caller reports the damage."""

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
