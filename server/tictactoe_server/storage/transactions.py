"""What the store's thread does with the database: writes in one transaction, questions, folding of the journal.

What the disk refuses is answered with an error, what is damaged is salvaged and tried again. Everything here blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import structlog

from tictactoe_server.storage.database import Database, concerns_one_job, refusal_of
from tictactoe_server.storage.journal import Journal, Save, Write
from tictactoe_server.storage.specs import GameSpec

log: Final = structlog.get_logger(__name__)


class Transactions:
    """The database and its journal; `is_refusing` while the disk refuses what it is asked."""

    def __init__(self, database: Database, games: GameSpec[Any]) -> None:
        self.database = database
        self.is_refusing = False
        self._journal = Journal(database, games)

    def commit(self, jobs: Sequence[Save | Write]) -> list[Any]:
        """Return what became of writes in one transaction; an error that one may have brought fails that one alone."""
        told = self._attempt(lambda: self._journal.write(jobs), durable=True)
        if not isinstance(told, Exception):
            self._journal.keep()
            return list(told)
        if len(jobs) > 1 and concerns_one_job(told):
            return [outcome for job in jobs for outcome in self.commit([job])]
        return [refusal_of(told)] * len(jobs)

    def answer(self, ask: Callable[[Database, Journal], Any]) -> Any:
        """Return the answer to one question, or the exception that it is answered with."""
        answer = self._attempt(lambda: ask(self.database, self._journal))
        return refusal_of(answer) if isinstance(answer, Exception) else answer

    def keep_up(self, note: tuple[str, bytes] | None, *, all_of_it: bool = False) -> int:
        """Write a note, if there is one, and fold some of the journal; return how much of it."""
        count = self._attempt(lambda: self._journal.fold(note, all_of_it=all_of_it), durable=False)
        if isinstance(count, Exception):
            return 0
        self._journal.folded()
        return int(count)

    def close(self) -> None:
        """Fold all of the journal and let go of the database."""
        while self.keep_up(None, all_of_it=True):
            pass
        self.database.close()

    def _attempt(self, work: Callable[[], Any], *, durable: bool | None = None) -> Any:
        """Return what comes of work in a transaction, durable or not, in none for None; or its error, taken back.

        What met damage is tried again in the database that was made of what can be read.
        """
        try:
            self.database.mend()
            self._journal.refresh()
            if durable is None:
                return work()
            self.database.begin(durable=durable)
            done = work()
            self.database.commit()
        except Exception as error:
            self.database.recover(error)
            if self.database.salvage(error):
                return self._attempt(work, durable=durable)
            self._tell(error)
            return error
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
