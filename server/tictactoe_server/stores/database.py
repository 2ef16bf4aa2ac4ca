"""The one connection to the database file: transactions, revisions, and getting well after the disk refused.

Everything here blocks, and belongs to the one thread that the connection was handed to. SQLite before 3.51.3 can
damage its write-ahead log when two connections write or checkpoint at once, so there is no second one.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

from tictactoe_server.stores.schema import open_database
from tictactoe_server.stores.store import MISSING, CannotOpenStore, StoreUnavailable, Unreadable

_REVISIONS_AT_ONCE: Final = 1_000_000
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE: Final = 0xFF


class Database:
    """A connection that comes back by itself; raises `CannotOpenStore` where it cannot be opened at first.

    `execute` is that of its one cursor: fetch what it answers before the next call.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._is_suspect = False
        self._is_durable = True
        self._reserved = MISSING
        self._connect()
        self._revision = self._reserving = self._reserved

    def begin(self, changes: int, *, durable: bool) -> None:
        """Open a transaction of up to so many changes; where it is not `durable` the disk may take its time."""
        self.mend()
        if durable is not self._is_durable:
            self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable
        self.execute("BEGIN IMMEDIATE")
        self._reserving = self._reserved
        if self._revision + changes > self._reserved:
            self._reserving = self._revision + changes + _REVISIONS_AT_ONCE
            self.execute("UPDATE counters SET value = ? WHERE name = 'revisions'", (self._reserving,))

    def commit(self) -> None:
        """Write the transaction; what returns from here is kept."""
        self.execute("COMMIT")
        self._reserved = self._reserving

    def next_revision(self) -> int:
        """Return a number larger than every one before, also before the last start."""
        self._revision += 1
        return self._revision

    def recover(self, error: Exception) -> None:
        """Take back what an error interrupted. A connection that may be broken is made anew before the next use."""
        code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE
        try:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
        except sqlite3.Error:
            code = sqlite3.SQLITE_IOERR
        if self._path is not None and code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            self._is_suspect = True

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

    def _connect(self) -> None:
        self.connection = open_database(self._path)
        self.execute = self.connection.cursor().execute
        try:
            ((reserved,),) = self.execute("SELECT value FROM counters WHERE name = 'revisions'")
        except (sqlite3.Error, ValueError) as error:
            self.close()
            raise CannotOpenStore(f"Cannot read the database {self._path}: {error}.") from error
        self._reserved = reserved
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
