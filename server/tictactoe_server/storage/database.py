"""The only connection to the database file and its journal: transactions, and recovery after disk errors.

If the disk fails during a job, the job fails and the connection is reopened. A damaged database is refused at startup;
a job that finds damage later fails. All functions block and run on the store's thread.

There is only one connection because SQLite before 3.51.3 can damage its write-ahead log if two connections write or
checkpoint at the same time.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import structlog

from tictactoe_server import clock
from tictactoe_server.storage import schema
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.journal import Journal, Question, Save, Write
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable, Unreadable

log: Final = structlog.get_logger(__name__)


class Database:
    """The database connection, which is reopened after errors, and the journal that uses it.

    All statements share one cursor, so fetch the rows of a statement before executing the next statement.

    Attributes:
        damage: Descriptions of the damaged values that were skipped when the database was opened.
        is_refusing: Whether the last operation failed because of the disk.
        connections: The number of times a connection was opened.
    """

    connection: sqlite3.Connection
    journal: Journal

    def __init__(self, folder: DataFolder | None, specs: Specs) -> None:
        """Open the database in `folder`, or an in-memory database if `folder` is None.

        Raises:
            CannotOpenStore: The database cannot be used. `DamagedDatabase` and `SavesMissing` are subclasses.
        """
        self.connections = 0
        self.damage: list[str] = []
        self.is_refusing = False
        self._next_revision: Callable[[], int] | None = None
        self._specs = specs
        self._folder = folder
        self._path = None if folder is None else folder.database
        self._is_suspect = False
        self._is_durable = True
        self._has_reported_damage = False
        self._open()

    def write(self, jobs: Sequence[Save | Write]) -> list[Any]:
        """Run the writes in one transaction and return their results; a failed write's result is its exception.

        If one write causes an error, each write is repeated in a transaction of its own, so that only that one fails.
        """
        results = self._attempt(lambda _, journal: journal.write(jobs), durable=True)
        if not isinstance(results, Exception):
            if self._folder is not None:
                self._folder.write_mark(self.journal.row)
            return list(results)
        if len(jobs) > 1 and _concerns_one_job(results):
            return [outcome for job in jobs for outcome in self.write([job])]
        return [_refusal_of(results)] * len(jobs)

    def answer(self, questions: Sequence[Question]) -> list[Any]:
        """Return the result of each question, or the exception that the question raised."""
        answers = [self._attempt(question.write) for question in questions]
        return [_refusal_of(answer) if isinstance(answer, Exception) else answer for answer in answers]

    def keep_up(self, note: tuple[str, bytes] | None, *, all_of_it: bool = False) -> int:
        """Write the note, if any, and fold part of the journal; return the number of folded rooms and games.

        Args:
            note: A key and a value for the table ``server``.
            all_of_it: Whether rooms that changed recently are folded, too.
        """
        count = self._attempt(lambda _, journal: journal.fold(note, all_of_it=all_of_it), durable=False)
        return 0 if isinstance(count, Exception) else int(count)

    def scrub(self, upto: int) -> bool:
        """Fold part of the journal; once its rows up to `upto` are folded, empty SQLite's write-ahead log.

        Return True if the caller must call again.
        """
        self.keep_up(None, all_of_it=True)
        (oldest,) = self.execute("SELECT ifnull(min(id), 0) FROM journal WHERE batch != x''").fetchone()
        if 0 < oldest <= upto:
            return True
        (is_busy, *_) = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return bool(is_busy)

    def end(self) -> None:
        """Fold the whole journal, close the database and unlock its folder."""
        while self.keep_up(None, all_of_it=True):
            pass
        self.close()
        if self._folder is not None:
            self._folder.release()

    def begin(self, *, durable: bool) -> None:
        """Begin a transaction; its commit waits for the disk only if `durable` is True."""
        if durable is not self._is_durable:
            self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.execute("COMMIT")

    def close(self) -> None:
        """Close the connection. SQLite then moves its write-ahead log into the database, unless the disk fails."""
        if self.connections:
            with suppress(sqlite3.Error):
                self.connection.close()

    def distrust(self) -> None:
        """Reopen the connection before its next use."""
        self._is_suspect = self._path is not None

    def _connect(self) -> None:
        if self._folder is not None:
            self._folder.hold_database()
        self.connection = schema.open_database(self._path, self._specs.tables)
        if self._folder is not None:
            self._folder.make_database_private()
        self.connections += 1
        self._cursor = self.connection.cursor()
        self.execute = self._cursor.execute
        self._is_durable = True
        self.journal = Journal(self._cursor, self._specs)
        if self._next_revision is None:  # revisions grow, even if the clock was set back since the last run
            newest = max(self.journal.newest_revision, int(clock.wall() * 1_000_000))
            self._next_revision = itertools.count(newest + 1).__next__
        self.journal.next_revision = self._next_revision
        for fault in self.journal.damaged:
            self.damage.append(fault)
            log.error("damaged data ignored", what=fault)
        self._is_suspect = False

    def _open(self) -> None:
        if self._folder is not None:
            self._folder.hold_database()
        if self._path is not None and (findings := schema.find_damage(self._path)):
            raise schema.DamagedDatabase(self._path, findings)
        try:
            if self._folder is not None:
                schema.check_saves(self._folder.database, self._folder.mark)
            self._connect()
            self.execute("DELETE FROM server WHERE 0")  # fails if the first page forbids writing
        except (CannotOpenStore, sqlite3.DatabaseError) as error:
            cause = error.__cause__ or error
            self.close()
            is_file_at_fault = schema.code_of(cause) in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY)
            if self._path is not None and (schema.is_damage(cause) or is_file_at_fault):
                raise schema.DamagedDatabase(self._path, [str(cause)]) from error
            if isinstance(error, CannotOpenStore):
                raise
            raise CannotOpenStore(f"Cannot read the database {self._path}: {error}.") from error

    def _attempt(self, work: Callable[[sqlite3.Cursor, Journal], Any], *, durable: bool | None = None) -> Any:
        """Return the result of `work`, or roll back and return the exception that `work` raised.

        Args:
            durable: Whether the transaction waits for the disk; None to run `work` without a transaction.
        """
        try:
            if self._is_suspect:
                self._mend()
            if durable is None:
                return work(self._cursor, self.journal)
            self.begin(durable=durable)
            done = work(self._cursor, self.journal)
            self.commit()
        except Exception as error:
            self.journal.drop()
            self.recover(error)
            self._log_failure(error)
            return error
        self.journal.commit()
        if self.is_refusing:
            self.is_refusing = False
            log.warning("database recovered")
        return done

    def recover(self, error: Exception) -> None:
        """Roll back after an error; if the connection may be broken, schedule its reopening."""
        code = schema.code_of(error)
        try:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
        except sqlite3.Error:
            code = sqlite3.SQLITE_IOERR
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            self.distrust()

    def _mend(self) -> None:
        """Reopen the suspect connection.

        Raises:
            StoreUnavailable: The database cannot be opened, or its file is missing. A missing file is not created
                again, because its disk may come back.
        """
        self.close()
        if self._path is not None and not self._path.is_file():
            raise StoreUnavailable(f"The database {self._path} has been removed.")
        try:
            self._connect()
        except CannotOpenStore as error:
            raise StoreUnavailable(str(error)) from error

    def _log_failure(self, error: Exception) -> None:
        """Log the first damage found, and the disk's first failure since it last worked."""
        if schema.is_damage(error) and not self._has_reported_damage:
            self._has_reported_damage = True
            log.error("database is damaged: restart the server for advice", path=str(self._path), error=str(error))
        if _concerns_one_job(error):
            return
        if not self.is_refusing:
            log.error("database failed", error=str(error))
        self.is_refusing = True


def _concerns_one_job(error: Exception) -> bool:
    return isinstance(error, Unreadable) or not isinstance(error, (sqlite3.OperationalError, StoreUnavailable))


def _refusal_of(error: Exception) -> Exception:
    if isinstance(error, sqlite3.Error) and schema.is_damage(error):
        return Unreadable(f"The database is damaged: {error}.")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"The database failed: {error}.")
    return error
