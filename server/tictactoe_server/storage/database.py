"""The one connection to the database file and its journal: transactions, and getting well after the disk refused.

What the disk refuses is answered with an error, what is damaged is salvaged and tried again. Everything here blocks,
and belongs to the store's thread. SQLite before 3.51.3 can damage its write-ahead log when two connections write or
checkpoint at once, so there is no second one.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import structlog

from tictactoe_server.storage import schema
from tictactoe_server.storage.damage.salvage import salvage
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.journal import Journal, Question, Save, Write
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.store import CannotOpenStore, StoreUnavailable, Unreadable

MAX_SALVAGES: Final = 3
"""How often one process makes a new database out of a damaged one: a disk that goes on like that is beyond help."""

_MAX_NAMED: Final = 20
_ADVICE: Final = "Move it away to start without it, or restore a backup."

log: Final = structlog.get_logger(__name__)


class Database:
    """A connection that comes back by itself, in memory without a `folder`, and what is known of its journal.

    It has one cursor: fetch what that answers before the next call. `damage` has lines about what was left out,
    `is_refusing` while the disk refuses what it is asked, `connections` counts how often the connection was made.
    """

    connection: sqlite3.Connection
    journal: Journal

    def __init__(self, folder: DataFolder | None, specs: Specs, *, logs_damage: bool = True) -> None:
        """Open the database, or a new one with what can be read of a damaged one; raises `CannotOpenStore`."""
        self.connections = 0
        self.damage: list[str] = []
        self.is_refusing = False
        # Larger each time, and larger than in earlier processes while no clock goes back.
        self._next_revision = itertools.count(time.time_ns() // 1_000).__next__
        self._log_damage = log.error if logs_damage else lambda event, **values: None
        self._specs = specs
        self._folder = folder
        self._path = None if folder is None else folder.database
        self._is_suspect = False
        self._is_durable = True
        self._salvages = 0
        self._open()
        if folder is not None and self.journal.row < folder.mark:
            log.error(
                "the database lacks what was kept last: has its log been lost, or is this a backup?",
                batches=folder.mark - self.journal.row,
                copy_of_the_log=folder.keep_log(),
            )

    def write(self, jobs: Sequence[Save | Write]) -> list[Any]:
        """Return what became of writes in one transaction; an error that one may have brought fails that one alone."""
        told = self._attempt(lambda _, journal: journal.write(jobs), durable=True)
        if not isinstance(told, Exception):
            if self._folder is not None:
                self._folder.write_mark(self.journal.row)
            return list(told)
        if len(jobs) > 1 and _concerns_one_job(told):
            return [outcome for job in jobs for outcome in self.write([job])]
        return [_refusal_of(told)] * len(jobs)

    def answer(self, questions: Sequence[Question]) -> list[Any]:
        """Return the answers to questions, or the exceptions that they are answered with."""
        answers = [self._attempt(question.write) for question in questions]
        return [_refusal_of(answer) if isinstance(answer, Exception) else answer for answer in answers]

    def keep_up(self, note: tuple[str, bytes] | None, *, all_of_it: bool = False) -> int:
        """Write a note, if there is one, and fold some of the journal; return how much of it."""
        count = self._attempt(lambda _, journal: journal.fold(note, all_of_it=all_of_it), durable=False)
        return 0 if isinstance(count, Exception) else int(count)

    def scrub(self, upto: int) -> bool:
        """Fold some of the journal, and empty the log once the rows up to this one are gone; tell whether more is left.

        A file of an older version is written anew first, as that left in it what it deleted.
        """
        if not self.journal.noted(schema.SCRUBBED):
            self.execute("VACUUM")
            self.journal.note(schema.SCRUBBED, b"1")
        self.keep_up(None, all_of_it=True)
        (oldest,) = self.execute("SELECT ifnull(min(id), 0) FROM journal WHERE batch != x''").fetchone()
        if 0 < oldest <= upto:
            return True
        (is_busy, *_) = self.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return bool(is_busy)

    def end(self) -> None:
        """Fold all of the journal and let go of the database and its folder."""
        while self.keep_up(None, all_of_it=True):
            pass
        self.close()
        if self._folder is not None:
            self._folder.release()

    def begin(self, *, durable: bool) -> None:
        """Open a transaction; where it is not `durable` the disk may take its time."""
        if durable is not self._is_durable:
            self.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._is_durable = durable
        self.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Write the transaction; what returns from here is kept."""
        self.execute("COMMIT")

    def close(self) -> None:
        """Bring the log into the file and let go of both; the disk's refusals change nothing of what is kept."""
        if self.connections:
            with suppress(sqlite3.Error):
                self.connection.close()

    def distrust(self) -> None:
        """Have the connection made anew before its next use."""
        self._is_suspect = self._path is not None

    def _connect(self) -> None:
        if self._folder is not None:
            self._folder.hold_database()
            if schema.version_of(self._folder.database):
                self._folder.make_database_private()
        self.connection = schema.open_database(self._path)
        schema.make_tables(self.connection, self._specs.tables)
        self.connections += 1
        self._cursor = self.connection.cursor()
        self.execute = self._cursor.execute
        self._is_durable = True
        self.journal = Journal(self._cursor, self._specs, self._next_revision)
        for row in self.journal.damaged:
            self.damage.append(f"A line of the journal, row {row}.")
            self._log_damage("a line of the journal is damaged", row=row)
        self._is_suspect = False

    def _open(self) -> None:
        try:
            self._connect()
            self._try_to_write()
        except (CannotOpenStore, sqlite3.DatabaseError) as error:
            cause = error.__cause__ or error
            if schema.code_of(cause) == sqlite3.SQLITE_ERROR:  # what SQL knows nothing of is missing from the tables
                cause = schema.Damaged(str(cause))
            if self._salvage(cause):
                return
            reason: object = error
            if not isinstance(error, CannotOpenStore):
                reason = f"Cannot read the database {self._path}: {error}."
            elif isinstance(cause, schema.ForeignFile) or not schema.is_damage(cause):
                raise
            raise CannotOpenStore(f"{reason} {_ADVICE}") from error

    def _try_to_write(self) -> None:
        """Raise `CannotOpenStore` where the file's head lets nobody write, though its folder does."""
        try:
            self.execute("DELETE FROM server WHERE 0")
        except sqlite3.OperationalError as error:
            if schema.code_of(error) == sqlite3.SQLITE_READONLY:
                damage = schema.Damaged(str(error))
                raise CannotOpenStore(f"Cannot write in the database {self._path}: {error}.") from damage

    def _attempt(self, work: Callable[[sqlite3.Cursor, Journal], Any], *, durable: bool | None = None) -> Any:
        """Return what comes of work in a transaction, durable or not, in none for None; or its error, taken back.

        What met damage is tried again in the database that was made of what can be read.
        """
        try:
            self._mend()
            if durable is None:
                return work(self._cursor, self.journal)
            self.begin(durable=durable)
            done = work(self._cursor, self.journal)
            self.commit()
        except Exception as error:
            self.journal.drop()
            self.recover(error)
            if self._salvage(error):
                return self._attempt(work, durable=durable)
            self._tell(error)
            return error
        self.journal.commit()
        self._tell(None)
        return done

    def recover(self, error: Exception) -> None:
        """Take back what an error interrupted, and distrust a connection that may be broken."""
        code = schema.code_of(error)
        try:
            if self.connection.in_transaction:
                self.execute("ROLLBACK")
        except sqlite3.Error:
            code = sqlite3.SQLITE_IOERR
        if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
            self.distrust()

    def _mend(self) -> None:
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

    def _salvage(self, error: BaseException) -> bool:
        """Put what can be read of a damaged database into a new one, and tell whether to try again what failed."""
        if self._path is None or not schema.is_damage(error) or self._salvages >= MAX_SALVAGES:
            return False
        self._salvages += 1
        self.close()
        try:
            counts, left_out, old = salvage(self._path, self._specs)
        except schema.ForeignFile:
            return False
        except (sqlite3.Error, CannotOpenStore, OSError) as failure:
            log.error("no new database could be made of what can be read", reason=str(failure))
            self.distrust()
            return False
        self.damage += left_out
        for what in left_out[:_MAX_NAMED]:
            self._log_damage("a damaged row is left out", row=what)
        self._log_damage(
            "the database was damaged: a new one has what could be read, restore a backup if too much is missing",
            reason=str(error),
            damaged=str(old),
            **counts,
            left_out=len(left_out),
        )
        self._connect()
        return True

    def _tell(self, error: Exception | None) -> None:
        """Log when the disk begins to refuse and when it ends, and not once for every job between.

        What concerns one job alone is its caller's to log, who knows what it is about.
        """
        if error is not None and _concerns_one_job(error):
            return
        if error is not None and not self.is_refusing:
            log.error("the store refuses", error=str(error))
        elif error is None and self.is_refusing:
            log.warning("the store works again")
        self.is_refusing = error is not None


def _concerns_one_job(error: Exception) -> bool:
    """Tell whether an error is about what was asked, rather than about the disk, which would refuse anything now."""
    return not isinstance(error, (sqlite3.OperationalError, StoreUnavailable))


def _refusal_of(error: Exception) -> Exception:
    """Return what a caller gets to see of an error."""
    if isinstance(error, sqlite3.Error) and schema.is_damage(error):
        return Unreadable(f"The database is damaged where this is kept: {error}.")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"The database cannot do this now: {error}.")
    return error
