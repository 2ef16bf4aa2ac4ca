"""All that a store keeps, brought into another one that is empty, or looked over: a folder's, and that of a cluster.

A store says how all of a table is read from it, and how a value is kept in it. Everything is decoded on its way, so
what is damaged is found here and not by a server later. What the other store holds afterwards is read again and
compared. Of a folder a copy is read, opened as the store that a server would make of it: so it is told what a server
would have, and the folder stays as it is.
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

from tictactoe_server.storage.backup import back_up, database_in
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
    """Say by `CannotMove`, with these words before it, what a store refuses inside."""
    try:
        yield
    except (StoreUnavailable, Conflict) as error:
        raise CannotMove(f"{words}: {error}") from error


class CopyEnd(Protocol):
    """A store at one end of a copy: it is read, games by their ids and in their order, or was empty and is filled.

    `damage` has a line for each thing that was found to be damaged, `refusal` are the words before what it refuses. All
    that was put is kept when it is closed.
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
    """How many things, and a number that hardly any others have, in whichever order they come."""

    count: int = 0
    digest: int = 0

    def add(self, key: str, document: bytes) -> None:
        self.count += 1
        found = int.from_bytes(blake2b(b"%b %b" % (key.encode(), document), digest_size=_DIGEST_BYTES).digest())
        self.digest = (self.digest + found) % (1 << 8 * _DIGEST_BYTES)


@dataclass(slots=True)
class Contents:
    """What a store holds, summed up by the nouns of its specs."""

    time: int | None = None
    sums: defaultdict[str, Sum] = field(default_factory=lambda: defaultdict(Sum))


async def copy(
    source: CopyEnd,
    target: CopyEnd | None,
    specs: Specs,
    progress: Callable[[str, int], None] = lambda noun, count: None,
) -> Contents:
    """Bring everything over and return what it was, with None for a target only that; raises `CannotMove`.

    The tables come in the order of their specs: whoever has a seat in a room is there, and of a room that goes on no
    game that it ends later. `progress` is told how many things with a noun are done.
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
            if spec is specs.tables[0]:  # what rooms measure goes by it
                try:
                    contents.time = await source.noted_time()
                except Unreadable:
                    source.damage.append("How long servers have run.")
    if target is not None and contents.time is not None:
        with refusing(target.refusal):
            await target.put_time(contents.time)
    return contents


class Findings(NamedTuple):
    """How many of each table and of ``games`` can be read, and a line for each of the first damaged things."""

    counts: Mapping[str, int]
    damage: tuple[str, ...]


async def check_database(path: Path, specs: Specs) -> Findings:
    """Read all of a database, also while a server uses it, and change nothing; raises `CannotOpenStore`."""
    kinds = (*specs.tables, specs.games)
    with tempfile.TemporaryDirectory(prefix="tictactoe-check-") as place:
        try:
            with reading(path) as reader, closing(sqlite3.connect(Path(place) / FILE_NAME)) as copied:
                reader.backup(copied)
                texts = [text for (text,) in copied.execute(f"PRAGMA integrity_check({_MAX_FINDINGS})")]
            opened = _Folder.open(Path(place), specs)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise DamagedDatabase(path, [str(error)]) from error
        except DamagedDatabase as error:
            raise DamagedDatabase(path, error.findings) from error
        async with aclosing(opened) as source:
            found = await copy(source, None, specs)
    pages = [f"A page of the database: {text}." for text in texts if text != "ok"]
    counts = {spec.name: found.sums[spec.noun].count for spec in kinds}
    return Findings(counts, (*pages, *source.damage)[:_MAX_FINDINGS])


@asynccontextmanager
async def folder_source(folder: Path, specs: Specs) -> AsyncIterator[CopyEnd]:
    """Give what a folder holds, which no server may use meanwhile; raises `CannotMove` and `CannotOpenStore`."""
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
