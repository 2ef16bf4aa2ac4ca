"""The rooms of the database: a journal of their newest documents, and the table into which it is folded.

A batch of saves is one row of the journal, whatever the number of rooms in it. A room that is played keeps its newest
document there, and its older ones go unread; one that rests is folded into the table with time. So the table is
written once for each rest and not for each move. Games that are over are lines of the same rows.

Everything here blocks, and belongs to the store's thread.
"""

from __future__ import annotations

from collections import ChainMap, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import structlog

from tictactoe_server.storage.database import Damaged, Database, checked
from tictactoe_server.storage.games import GameTables
from tictactoe_server.storage.schema import GAME, journal_line, lines_of
from tictactoe_server.storage.specs import GameSpec
from tictactoe_server.storage.store import MISSING, Conflict, Unreadable, Waiter

FOLDED_AT_ONCE: Final = 250  # how many rooms one transaction folds, so that those who save meanwhile hardly wait

log: Final = structlog.get_logger(__name__)


class Save(NamedTuple):
    """A room to be kept, or to be forgotten where there is no document, and a game that is `finished` by that."""

    code: str
    document: bytes | None
    expected_revision: int | None
    waiter: Waiter
    finished: Any = None


class Write(NamedTuple):
    """A change of anything but a room. `write` returns what the waiter is told, or a `Conflict`; it may rerun."""

    write: Callable[[Database, Journal], Any]
    waiter: Waiter
    finished: Any = None


class Journal:
    """What is kept of the rooms, with the revision of each, and of finished `games`, as read from one connection.

    `write` or `fold` works inside a transaction of the caller's, who then calls `keep`, or `drop` where that failed.
    Values that have no revision in the file have one in `revisions`, or else the `first_revision`.
    """

    def __init__(self, database: Database, games: GameSpec[Any]) -> None:
        self.connection = database.connection
        self.games = GameTables(database, games)
        self.row = 0
        self.revisions = ChainMap[tuple[str, str], int]({}, {})  # those of the transaction, and those that are kept
        self.first_revision = database.next_revision()
        self._database = database
        self._newest: OrderedDict[str, tuple[int, int, bytes | None]] = OrderedDict()
        self._fresh: dict[str, tuple[int, bytes | None]] = {}
        self._folding = 0
        rooms = database.execute("SELECT code, revision FROM rooms").fetchall()
        self._rooms = dict(checked(rooms, str, int))
        batches = database.execute("SELECT id, batch FROM journal ORDER BY id").fetchall()
        for row, batch in checked(batches, int, bytes):
            self.row = row
            self._replay(batch)
        self._rested = self._next_rested = self._next_row = self.row

    def write(self, jobs: Iterable[Save | Write]) -> list[Any]:
        """Make changes and return what each waiter is told: a new revision, `MISSING` after a delete, a `Conflict`."""
        told: list[Any] = []
        lines: list[bytes] = []
        fresh, revision_of, next_revision = self._fresh, self._rooms.get, self._database.next_revision
        row = self.row + 1
        for job in jobs:
            if isinstance(job, Save):
                code, document, expected, _, finished = job
                found = fresh[code][0] if code in fresh else revision_of(code, MISSING)
                if expected is not None and (found != expected or (document is None and found == MISSING)):
                    told.append(Conflict(code))
                    continue
                revision = MISSING if document is None else next_revision()
                lines.append(journal_line(code, revision, document or b""))
                fresh[code] = (revision, document)
                told.append(revision)
            else:
                told.append(job.write(self._database, self))
                finished = None if isinstance(told[-1], Conflict) else job.finished
            if finished is not None:
                lines.append(journal_line(GAME, *self.games.write(row, finished)))
        if lines:
            self._database.execute("INSERT INTO journal VALUES (?, ?)", (row, b"\n".join(lines)))
            self._next_row = row
        return told

    def keep(self) -> None:
        """Know what was written or folded, as it is kept now."""
        for _ in range(self._folding):
            self._newest.popitem(last=False)
        self.row, self._rested = self._next_row, self._next_rested
        for code, (revision, document) in self._fresh.items():
            self._know(code, revision, document)
        self.games.keep()
        fresh, kept = self.revisions.maps
        kept.update(fresh)
        self.drop()

    def drop(self) -> None:
        """Forget what was written or folded since the last `keep`."""
        self._fresh.clear()
        self._folding = 0
        self._next_row, self._next_rested = self.row, self._rested
        self.games.drop()
        self.revisions.maps[0].clear()

    def load(self, code: str) -> tuple[bytes, int] | None:
        """Return a room's document and revision, or None where there is none."""
        if code in self._newest:
            _, revision, document = self._newest[code]
            return None if document is None else (document, revision)
        row: tuple[bytes, int] | None = self._database.execute(
            "SELECT document, revision FROM rooms WHERE code = ?", (code,)
        ).fetchone()
        if row is None and code in self._rooms:
            raise Damaged(f"room {code} is listed, and not found")
        return row

    def codes(self) -> list[str]:
        return list(self._rooms)

    def fold(self, note: tuple[str, bytes] | None, *, all_of_it: bool) -> int:
        """Bring rooms that rest and games into their tables, and let go of the journal's rows that nobody needs then.

        Writes a note, if there is one, on the way. Returns how many these were.
        """
        if note is not None:
            self._database.note(*note)
        resting: list[tuple[str, int, bytes | None]] = []
        needed = self.row + (1 if all_of_it else 0)
        for code, (row, revision, document) in self._newest.items():
            if len(resting) == FOLDED_AT_ONCE or (row > self._rested and not all_of_it):
                needed = row
                break
            resting.append((code, revision, document))
        games, needed_for_games = self.games.fold()
        needed = min(needed, needed_for_games or needed)
        self._database.execute_many(
            "INSERT INTO rooms (code, revision, document) VALUES (?, ?, ?) ON CONFLICT (code) "
            "DO UPDATE SET revision = excluded.revision, document = excluded.document",
            [entry for entry in resting if entry[2] is not None],
        )
        self._database.execute_many(
            "DELETE FROM rooms WHERE code = ?", [(code,) for code, _, document in resting if document is None]
        )
        self._database.execute("DELETE FROM journal WHERE id < ?", (needed,))
        if needed > self.row:  # the numbers of rows go on, and are what the mark of the folder is compared with
            self._database.execute("INSERT INTO journal VALUES (?, x'')", (self.row,))
        self._folding, self._next_rested = len(resting), self.row
        return len(resting) + games

    def _replay(self, batch: bytes) -> None:
        for line in lines_of(batch):
            try:
                if line is None:
                    raise Unreadable("It is no line.")
                name, number, document = line
                if name == GAME:
                    self.games.replay(self.row, number, document)
                else:
                    self._know(name, number, document or None)
            except Unreadable:
                log.error("a line of the journal is damaged", row=self.row)

    def _know(self, code: str, revision: int, document: bytes | None) -> None:
        """Take this for the newest of a room, None for one that is forgotten."""
        if document is None:
            self._rooms.pop(code, None)
        else:
            self._rooms[code] = revision
        self._newest[code] = (self.row, revision, document)
        self._newest.move_to_end(code)
