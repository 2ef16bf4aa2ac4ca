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
        try:
            self._begin(durable=True)
            told = self._journal.write(jobs)
            self.database.commit()
        except Exception as error:
            if self._is_mended(error):
                return self.commit(jobs)
            if len(jobs) > 1 and concerns_one_job(error):
                return [outcome for job in jobs for outcome in self.commit([job])]
            self._tell(error)
            return [refusal_of(error)] * len(jobs)
        self._journal.keep()
        self._tell(None)
        return told

    def answer(self, ask: Callable[[Database, Journal], Any]) -> Any:
        """Return the answer to one question, or the exception that it is answered with."""
        try:
            self.database.mend()
            self._journal.refresh()
            return ask(self.database, self._journal)
        except Exception as error:
            if self._is_mended(error):
                return self.answer(ask)
            self._tell(error)
            return refusal_of(error)

    def keep_up(self, note: tuple[str, bytes] | None, *, all_of_it: bool = False) -> int:
        """Write a note, if there is one, and fold some of the journal; return how much of it."""
        try:
            self._begin(durable=False)
            if note is not None:
                self.database.execute("INSERT OR REPLACE INTO server VALUES (?, ?)", note)
            count = self._journal.fold(all_of_it=all_of_it)
            self.database.commit()
        except Exception as error:
            if self._is_mended(error):
                return self.keep_up(note, all_of_it=all_of_it)
            self._tell(error)
            return 0
        self._journal.folded()
        self._tell(None)
        return count

    def close(self, note: tuple[str, bytes] | None) -> None:
        """Fold all of the journal and let go of the database."""
        while self.keep_up(note, all_of_it=True):
            note = None
        self.database.close()

    def _begin(self, *, durable: bool) -> None:
        self.database.begin(durable=durable)
        self._journal.refresh()

    def _is_mended(self, error: Exception) -> bool:
        """Take back what an error interrupted, and tell whether to try it again."""
        self.database.recover(error)
        return self.database.salvage(error)

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
