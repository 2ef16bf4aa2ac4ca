"""The one connection to the database file: transactions, and getting well after the disk refused.

Everything here blocks, and belongs to the one thread that the connection was handed to. SQLite before 3.51.3 can
damage its write-ahead log when two connections write or checkpoint at once, so there is no second one.
"""

from __future__ import annotations

import contextlib
import itertools
import sqlite3
import time
from typing import Final

import structlog

from tictactoe_server.stores.folder import FILE_NAME, DataFolder
from tictactoe_server.stores.salvage import salvage
from tictactoe_server.stores.schema import open_database, version_of
from tictactoe_server.stores.store import CannotOpenStore, StoreUnavailable, Unreadable

MAX_SALVAGES: Final = 3
"""How often one process makes a new database out of a damaged one: a disk that goes on like that is beyond help."""

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE: Final = 0xFF

log: Final = structlog.get_logger(__name__)


class Database:
    """A connection that comes back by itself; raises `CannotOpenStore` where it cannot be opened at first.

    `execute` and `execute_many` are those of its one cursor: fetch what it answers before the next call. `connections`
    counts how often it was made, so that whoever keeps something of what is in the file knows when to look again.
    `next_revision` returns a larger number each time, larger than those of earlier processes while no clock goes back.
    Without a `folder` it is in memory.
    """

    def __init__(self, folder: DataFolder | None) -> None:
        self._folder = folder
        self._path = None if folder is None else folder.path / FILE_NAME
        self._is_suspect = False
        self._is_durable = True
        self._salvages = 0
        self.connections = 0
        self.next_revision = itertools.count(time.time_ns() // 1_000).__next__
        try:
            self._connect()
        except CannotOpenStore as error:
            if not (isinstance(error.__cause__, sqlite3.Error) and self.salvage(error.__cause__)):
                raise

    @property
    def mark(self) -> int:
        """What the last server left as its own account of what it kept."""
        return 0 if self._folder is None else self._folder.mark

    def write_mark(self, mark: int) -> None:
        """Leave an account of what is kept."""
        if self._folder is not None:
            self._folder.write_mark(mark)

    def begin(self, *, durable: bool) -> None:
        """Open a transaction; where it is not `durable` the disk may take its time."""
        self.mend()
        if durable is not self._is_durable:
            self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Write the transaction; what returns from here is kept."""
        self.execute("COMMIT")

    def recover(self, error: Exception) -> None:
        """Take back what an error interrupted. A connection that may be broken is made anew before the next use."""
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
        try:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
        except sqlite3.Error:
            code = sqlite3.SQLITE_IOERR
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            self.distrust()

    def distrust(self) -> None:
        """Make the connection anew before the next use."""
        self._is_suspect = self._path is not None

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
        if self._path is not None and not self._path.is_file():
            raise StoreUnavailable(f"The database {self._path} is gone.")
        try:
            self._connect()
        except CannotOpenStore as error:
            raise StoreUnavailable(str(error)) from error

    def salvage(self, error: Exception) -> bool:
        """Put what can be read of a damaged database into a new one, and tell whether to try again what failed."""
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
        if self._path is None or code != sqlite3.SQLITE_CORRUPT or self._salvages >= MAX_SALVAGES:
            return False
        self._salvages += 1
        if self.connections:
            self.close()
        try:
            counts, old = salvage(self._path)
        except (sqlite3.Error, CannotOpenStore, OSError) as failure:
            log.error("the database is damaged, and nothing could be read from it", reason=str(failure))
            self.distrust()
            return False
        log.error(
            "the database was damaged: a new one has what could be read, restore a backup if too much is missing",
            reason=str(error),
            damaged=str(old),
            **counts,
        )
        self._connect()
        return True

    def _connect(self) -> None:
        if self._folder is not None:
            self._folder.hold_database()
            if version_of(self._folder.path / FILE_NAME):
                self._folder.make_database_private()
        self.connection = open_database(self._path)
        cursor = self.connection.cursor()
        self.execute, self.execute_many = cursor.execute, cursor.executemany
        self.connections += 1
        self._is_durable = True
        self._is_suspect = False


def concerns_one_job(error: Exception) -> bool:
    """Tell whether an error is about what was asked, rather than about the disk, which would refuse anything now."""
    return not isinstance(error, (sqlite3.OperationalError, StoreUnavailable))


def refusal_of(error: Exception) -> Exception:
    """Return what a caller gets to see of an error."""
    if not isinstance(error, sqlite3.Error):
        return error
    if getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE in _DAMAGE:
        return Unreadable(f"The database is damaged where this is kept: {error}.")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"The database cannot do this now: {error}.")
    return error
