"""What the store's thread does with the database: writes in one transaction, questions, folding of the journal.

What the disk refuses is answered with an error, what is damaged is salvaged and tried again. Everything here blocks.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import structlog

from tictactoe_server.storage.database import Database, concerns_one_job, is_damage, met_at_start, refusal_of
from tictactoe_server.storage.journal import Journal, Save, Write
from tictactoe_server.storage.schema import ForeignFile
from tictactoe_server.storage.store import CannotOpenStore, Pending

_ADVICE: Final = "Move it away to start without it, or restore a backup."

log: Final = structlog.get_logger(__name__)


class Question(NamedTuple):
    """What is asked of the database and its journal; `ask` raises SQLite's errors, or `Unreadable`."""

    ask: Callable[[Database, Journal], Any]
    waiter: Pending


class Transactions:
    """The database and its journal; `is_refusing` while the disk refuses what it is asked."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.is_refusing = False
        self._folder = database.folder
        had_log = self._folder is not None and self._folder.has_log()  # else what is in it is made in opening
        self._journal = self._open()
        if self._folder is not None and self._journal.row < self._folder.mark:
            log.error(
                "the database lacks what was kept last: has its log been lost, or is this a backup?",
                batches=self._folder.mark - self._journal.row,
                copy_of_the_log=self._folder.keep_log() if had_log else None,
            )

    def _open(self) -> Journal:
        """Open the database, or a new one with what can be read of a damaged one; raises `CannotOpenStore`."""
        try:
            self.database.open()
            return Journal(self.database)
        except (CannotOpenStore, sqlite3.DatabaseError) as error:
            cause = met_at_start(error)
            if self.database.salvage(cause):
                return Journal(self.database)
            if isinstance(error, CannotOpenStore) and (isinstance(cause, ForeignFile) or not is_damage(cause)):
                raise
            is_read = not isinstance(error, CannotOpenStore)
            reason = f"Cannot read the database {self.database.path}: {error}." if is_read else error
            raise CannotOpenStore(f"{reason} {_ADVICE}") from error

    def commit(self, writes: Sequence[Save | Write]) -> list[Any]:
        """Return what became of writes in one transaction; an error that one may have brought fails that one alone."""
        told = self._attempt(lambda _, journal: journal.write(writes), durable=True)
        if not isinstance(told, Exception):
            if self._folder is not None:
                self._folder.write_mark(self._journal.row)
            return list(told)
        if len(writes) > 1 and concerns_one_job(told):
            return [outcome for write in writes for outcome in self.commit([write])]
        return [refusal_of(told)] * len(writes)

    def answer(self, questions: Sequence[Question]) -> list[Any]:
        """Return the answers to questions, or the exceptions that they are answered with."""
        answers = [self._attempt(question.ask) for question in questions]
        return [refusal_of(answer) if isinstance(answer, Exception) else answer for answer in answers]

    def keep_up(self, note: tuple[str, bytes] | None, *, all_of_it: bool = False) -> int:
        """Write a note, if there is one, and fold some of the journal; return how much of it."""
        count = self._attempt(lambda _, journal: journal.fold(note, all_of_it=all_of_it), durable=False)
        return 0 if isinstance(count, Exception) else int(count)

    def close(self) -> None:
        """Fold all of the journal and let go of the database and its folder."""
        while self.keep_up(None, all_of_it=True):
            pass
        self.database.close()
        if self._folder is not None:
            self._folder.release()

    def _attempt(self, work: Callable[[Database, Journal], Any], *, durable: bool | None = None) -> Any:
        """Return what comes of work in a transaction, durable or not, in none for None; or its error, taken back.

        What met damage is tried again in the database that was made of what can be read.
        """
        try:
            self.database.mend()
            if self._journal.connection is not self.database.connection:
                self._journal = Journal(self.database)
            if durable is None:
                return work(self.database, self._journal)
            self.database.begin(durable=durable)
            done = work(self.database, self._journal)
            self.database.commit()
        except Exception as error:
            self._journal.drop()
            self.database.recover(error)
            if self.database.salvage(error):
                return self._attempt(work, durable=durable)
            self._tell(error)
            return error
        self._journal.keep()
        self._tell(None)
        return done

    def _tell(self, error: Exception | None) -> None:
        """Log when the disk begins to refuse and when it ends, and not once for every job between.

        What concerns one job alone is its caller's to log, who knows what it is about.
        """
        if error is not None and concerns_one_job(error):
            return
        if error is not None and not self.is_refusing:
            log.error("the store refuses", error=str(error))
        elif error is None and self.is_refusing:
            log.warning("the store works again")
        self.is_refusing = error is not None
