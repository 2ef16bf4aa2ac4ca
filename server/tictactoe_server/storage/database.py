"""The one connection to the database file: transactions, and getting well after the disk refused.

Everything here blocks, and belongs to the one thread that the connection was handed to. SQLite before 3.51.3 can
damage its write-ahead log when two connections write or checkpoint at once, so there is no second one.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import time
from collections.abc import Sequence
from typing import Any, Final, TypeVar

import structlog

from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.salvage import salvage
from tictactoe_server.storage.schema import ForeignFile, make_tables, open_database, version_of
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable, Unreadable

MAX_SALVAGES: Final = 3
"""How often one process makes a new database out of a damaged one: a disk that goes on like that is beyond help."""

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_NO_TEXT: Final = "Could not decode to UTF-8"
_PRIMARY_CODE: Final = 0xFF

Row = TypeVar("Row", bound=tuple[Any, ...])

log: Final = structlog.get_logger(__name__)


class Damaged(sqlite3.DatabaseError):
    """What SQLite read without a complaint is not what was written."""


def checked(rows: Sequence[Row], *kinds: type) -> Sequence[Row]:
    """Return rows whose values are of these kinds; raises `Damaged` for others."""
    for row in rows:
        if not all(map(isinstance, row, kinds)):
            raise Damaged(f"a row holds something else than was written: {row!r:.100}")
    return rows


class Database:
    """A connection that comes back by itself once it was opened.

    `execute` and `execute_many` are those of its one cursor: fetch what it answers before the next call. `connections`
    counts how often it was made.
    `next_revision` returns a larger number each time, larger than those of earlier processes while no clock goes back.
    Without a `folder` it is in memory.
    """

    def __init__(self, folder: DataFolder | None, specs: Specs) -> None:
        self.folder = folder
        self.specs = specs
        self.path = None if folder is None else folder.database
        self._is_suspect = False
        self._is_durable = True
        self._salvages = 0
        self.damage: list[str] = []
        self.connections = 0
        self.next_revision = itertools.count(time.time_ns() // 1_000).__next__

    def open(self) -> None:
        """Connect; raises `CannotOpenStore`, also where the file's head lets nobody write, though its folder does."""
        self._connect()
        try:
            self.execute("DELETE FROM server WHERE 0")
        except sqlite3.OperationalError as error:
            if _code_of(error) == sqlite3.SQLITE_READONLY:
                raise CannotOpenStore(f"Cannot write in the database {self.path}: {error}.") from Damaged(str(error))

    def begin(self, *, durable: bool) -> None:
        """Open a transaction; where it is not `durable` the disk may take its time."""
        if durable is not self._is_durable:
            self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Write the transaction; what returns from here is kept."""
        self.execute("COMMIT")

    def noted(self, key: str) -> bytes | None:
        """Return what a server noted under a key."""
        row = self.execute("SELECT value FROM server WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def note(self, key: str, value: bytes) -> None:
        self.execute("INSERT OR REPLACE INTO server VALUES (?, ?)", (key, value))

    def recover(self, error: Exception) -> None:
        """Take back what an error interrupted. A connection that may be broken is made anew before the next use."""
        code = _code_of(error)
        try:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
        except sqlite3.Error:
            code = sqlite3.SQLITE_IOERR
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            self.distrust()

    def distrust(self) -> None:
        self._is_suspect = self.path is not None

    def close(self) -> None:
        """Bring the log into the file and let go of both; the disk's refusals change nothing of what is kept."""
        with contextlib.suppress(sqlite3.Error):
            self.connection.close()

    def mend(self) -> None:
        """Make the connection anew where it may be broken; raises `StoreUnavailable`.

        It never makes a new file: one that is gone may come back with its disk.
        """
        if not self._is_suspect:
            return
        self.close()
        if self.path is not None and not self.path.is_file():
            raise StoreUnavailable(f"The database {self.path} is gone.")
        try:
            self._connect()
        except CannotOpenStore as error:
            raise StoreUnavailable(str(error)) from error

    def salvage(self, error: BaseException) -> bool:
        """Put what can be read of a damaged database into a new one, and tell whether to try again what failed."""
        if self.path is None or not is_damage(error) or self._salvages >= MAX_SALVAGES:
            return False
        self._salvages += 1
        if self.connections:
            self.close()
        try:
            counts, left_out, old = salvage(self.path, self.specs)
        except ForeignFile:
            return False
        except (sqlite3.Error, CannotOpenStore, OSError) as failure:
            log.error("no new database could be made of what can be read", reason=str(failure))
            self.distrust()
            return False
        self.damage += left_out
        log.error(
            "the database was damaged: a new one has what could be read, restore a backup if too much is missing",
            reason=str(error),
            damaged=str(old),
            **counts,
        )
        self._connect()
        return True

    def _connect(self) -> None:
        if self.folder is not None:
            self.folder.hold_database()
            if version_of(self.folder.database):
                self.folder.make_database_private()
        self.connection = open_database(self.path)
        make_tables(self.connection, self.specs.tables)
        cursor = self.connection.cursor()
        self.execute, self.execute_many = cursor.execute, cursor.executemany
        self.connections += 1
        self._is_durable = True
        self._is_suspect = False


def is_damage(error: BaseException) -> bool:
    """Tell whether an error says that what is in the file is not what was written."""
    return (
        isinstance(error, (Damaged, ForeignFile, UnicodeDecodeError))
        or _code_of(error) in _DAMAGE
        or (isinstance(error, sqlite3.Error) and str(error).startswith(_NO_TEXT))
    )


def met_at_start(error: BaseException) -> BaseException:
    """Return what is behind an error at the start, where what SQL knows nothing of is missing from the tables."""
    cause = error.__cause__ or error
    return Damaged(str(cause)) if _code_of(cause) == sqlite3.SQLITE_ERROR else cause


def concerns_one_job(error: Exception) -> bool:
    """Tell whether an error is about what was asked, rather than about the disk, which would refuse anything now."""
    return not isinstance(error, (sqlite3.OperationalError, StoreUnavailable))


def refusal_of(error: Exception) -> Exception:
    """Return what a caller gets to see of an error."""
    if not isinstance(error, sqlite3.Error):
        return error
    if is_damage(error):
        return Unreadable(f"The database is damaged where this is kept: {error}.")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"The database cannot do this now: {error}.")
    return error


def _code_of(error: BaseException) -> int:
    """Return SQLite's own code of an error, 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & _PRIMARY_CODE
