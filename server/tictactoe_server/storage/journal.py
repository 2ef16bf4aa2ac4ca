"""Rooms and finished games in the database: a journal with the newest ones, and the tables it is folded into.

The journal guarantees that an acknowledged save survives a crash. A batch of saves is one row of the journal, with a
line for each room and each finished game, and its transaction waits for the disk. A save states the revision that it
replaces and fails with `Conflict` if the stored revision differs. To fold an entry is to copy it from the journal to
its table. A room is in one of two states:

- new: Its newest document is in the journal; older documents of the room in the journal are ignored.
- resting: It has not changed for a while and has been folded into its table. The table is therefore written once per
  pause in a game instead of once per move.

Games are folded many at a time. A row of the journal is deleted in the transaction that folds the row's last entry.
After a transaction, `commit` applies its changes to the state in memory, or `drop` discards all of them. Revisions and
row numbers only increase, even across restarts, because the folder's mark is compared with the row numbers.

All functions block and run on the store's thread. No other module writes these tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
import structlog
from msgspec import Struct

from tictactoe_server.storage.schema import Damaged, checked
from tictactoe_server.storage.specs import GameSpec, Specs, as_bytes
from tictactoe_server.storage.store import MISSING, Conflict, Game, Unreadable, Waiter

FOLDED_AT_ONCE: Final = 250
"""The most rooms that one transaction folds. It folds at least this number of games, if there are enough.

Saves wait while the transaction runs, so the number is small.
"""

_FORGOTTEN_AT_ONCE: Final = 100
_GAME: Final = "+"  # begins the line of a finished game; a room's line begins with its code
LARGEST_ID: Final = 2**63 - 1
_DAMAGED_REVISION: Final = 2**62  # revisions are microseconds since 1970 or little more
PART_BITS: Final = 50
"""The number of low bits in a game's id that count games; the higher bits number the store that added the game."""

Key = TypeVar("Key")

log: Final = structlog.get_logger(__name__)


class Save(Struct, gc=False):
    """A request to store a room, or to delete it if `document` is None.

    Attributes:
        finished: The game that ends with this change, or None.
    """

    code: str
    document: bytes | None
    expected_revision: int | None
    waiter: Waiter
    finished: Any = None


class Write(Struct):
    """A request to change any value except a room.

    Attributes:
        write: Makes the change and returns the waiter's result or a `Conflict`. It may be called again.
        finished: The game that ends with this change, or None.
    """

    write: Callable[[sqlite3.Cursor, Journal], Any]
    waiter: Waiter
    finished: Any = None


class Question(Write):
    """A request to read from the database. `write` returns the result and may raise SQLite's errors or `Unreadable`."""


class Newest(dict[Key, tuple[int, Any, Any]]):
    """The entries that are not folded yet, by key; the least recently changed entry comes first.

    The first item of each entry is the number of its row in the journal.

    Attributes:
        fresh: Entries that the current transaction writes; `commit` adds them.
        folding: How many of the first entries the current transaction folds; `commit` removes them.
    """

    def __init__(self) -> None:
        self.fresh: dict[Key, tuple[int, Any, Any]] = {}
        self.folding = 0

    def commit(self) -> None:
        for key in list(islice(self, self.folding)):
            del self[key]
        for key in self.fresh:
            self.pop(key, None)
        self.update(self.fresh)
        self.fresh.clear()
        self.folding = 0

    def drop(self) -> None:
        self.fresh.clear()
        self.folding = 0


class GameTables:
    """The tables of finished games, and the games in the journal that are not folded yet.

    Attributes:
        pending: The games that are not folded yet, with their documents, by id.
        is_by_time: Whether games are listed by end time instead of by id, because several stores assigned the ids.
    """

    def __init__(self, cursor: sqlite3.Cursor, spec: GameSpec[Any]) -> None:
        self.pending = Newest[int]()
        self._cursor = cursor
        self._spec = spec
        sequence = "SELECT seq FROM sqlite_sequence WHERE name = 'archive' AND typeof(seq) = 'integer'"
        found = cursor.execute(f"SELECT max(ifnull(({sequence}), 0), ifnull(max(id), 0)) FROM archive").fetchall()
        self._next = 1 + checked(found, int)[0][0]
        self.is_by_time = self._next > 1 << PART_BITS

    def replay(self, row: int, id: int, document: bytes) -> None:
        """Add a game from a row of the journal unless it is already in the tables. May raise `Unreadable`."""
        if id >= self._next:
            self.pending[id] = (row, self._spec.read(None, document), document)
            self._next = id + 1

    def write(self, row: int, game: Any) -> tuple[int, bytes]:
        """Add a game to `pending`; return the game's id and document, which the caller writes to row `row`."""
        id, document = self._next + len(self.pending.fresh), self._spec.encode(game)
        self.pending.fresh[id] = (row, game, document)
        return id, document

    def commit(self) -> None:
        self._next += len(self.pending.fresh)
        self.pending.commit()

    def fold(self) -> tuple[int, int | None]:
        """Fold at least the oldest half of the pending games.

        Return the number of folded games, and the oldest row of the journal with a pending game, or None.
        """
        pending = self.pending
        pending.folding = count = min(len(pending), max(FOLDED_AT_ONCE, len(pending) // 2))
        if count:
            self.insert((id, game, document) for id, (_, game, document) in islice(pending.items(), count))
        return count, next((row for row, *_ in islice(pending.values(), count, None)), None)

    def of(self, player: str, limit: int, before: int | None) -> list[tuple[int, Any]]:
        """Return at most `limit` of a player's games with their ids, newest first, skipping damaged games.

        Args:
            before: Return only games older than the game with this id; None for all.
        """
        older_than = LARGEST_ID if before is None else min(before, LARGEST_ID)
        pending = (
            (id, game)
            for id, (_, game, _) in reversed(self.pending.items())
            if id < older_than and player in self._spec.people(game)
        )
        newest = list(islice(pending, limit))
        by_id = """id IN (SELECT game FROM archive_players WHERE player = :player AND game < :older ORDER BY game DESC
            LIMIT :limit) ORDER BY id DESC"""
        by_time = """id IN (SELECT game FROM archive_players WHERE player = :player)
            AND (finished_at, id) < (:at, :last) ORDER BY finished_at DESC, id DESC LIMIT :limit"""
        bounds = self._cursor.execute("SELECT finished_at, id FROM archive WHERE id = ?", (older_than,)).fetchone()
        at, last = bounds or (LARGEST_ID, LARGEST_ID)
        found = self._cursor.execute(
            f"SELECT id, document FROM archive WHERE {by_time if self.is_by_time else by_id}",
            {"player": player, "older": older_than, "at": at, "last": last, "limit": limit - len(newest)},
        )
        return newest + readable(self._spec, found.fetchall())

    def after(self, cursor: int, limit: int, upto: int = LARGEST_ID) -> tuple[list[tuple[int, Any]], int | None]:
        """Return up to `limit` games with ids above `cursor` and up to `upto`, in order, skipping damaged games.

        The second result is the `cursor` for the next call, or None at the end.
        """
        rows = self._cursor.execute(
            "SELECT id, document FROM archive WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
            (min(cursor, LARGEST_ID), upto, limit),
        ).fetchall()
        if rows:
            return readable(self._spec, rows), rows[-1][0]
        pending = ((id, game) for id, (_, game, _) in self.pending.items() if id > cursor)
        games = list(islice(pending, limit))
        return games, games[-1][0] if games else None

    def find(self, id: int) -> Any | None:
        if id in self.pending:
            return self.pending[id][1]
        found = self._cursor.execute("SELECT document FROM archive WHERE id = ?", (min(id, LARGEST_ID),)).fetchone()
        return None if found is None else self._spec.read(None, found[0])

    def at(self, room: str, number: int) -> list[tuple[int, Any]]:
        """Return the games with this number in rooms with this code, with their ids, skipping damaged games."""
        pending = [(id, game) for id, (_, game, _) in self.pending.items() if self._spec.place(game) == (room, number)]
        found = self._cursor.execute(
            "SELECT id, document FROM archive WHERE room = ? AND game = ?", (room, min(number, LARGEST_ID))
        )
        return readable(self._spec, found.fetchall()) + pending

    def old(self, at: int) -> list[tuple[int, Any | None]]:
        """Return some of the oldest games in the tables that ended before `at` (ms since 1970), with their ids.

        A damaged game is None.
        """
        found = self._cursor.execute(
            f"SELECT id, finished_at, document FROM archive {'WHERE finished_at < :at' * self.is_by_time} "
            "ORDER BY id LIMIT :most",
            {"at": at, "most": _FORGOTTEN_AT_ONCE},
        ).fetchall()
        documents = {id: document for id, ended, document in found if isinstance(ended, int) and ended < at}
        games = dict(readable(self._spec, documents.items()))
        return [(id, games.get(id)) for id in documents]

    def forget(self, at: int) -> bool:
        """Delete the games that `old` returns; return True if there may be more."""
        old = self.old(at)
        self._delete([(id, self._spec.people(game) if game else ()) for id, game in old])
        return len(old) == _FORGOTTEN_AT_ONCE

    def _delete(self, games: Sequence[tuple[int, Sequence[str]]]) -> None:
        self._cursor.executemany("DELETE FROM archive WHERE id = ?", [(id,) for id, _ in games])
        played = [(player, id) for id, players in games for player in players]
        self._cursor.executemany("DELETE FROM archive_players WHERE player = ? AND game = ?", played)

    def replace(self, id: int, game: Any) -> None:
        """Replace the game with this id, either in `pending` or in the tables."""
        document, before = self._spec.encode(game), self.find(id)
        self._delete([(id, self._spec.people(before) if before else ())])
        if id in self.pending:
            self.pending[id] = (self.pending[id][0], game, document)
        elif before is not None:
            self.insert([(id, game, document)])

    def drop(self, players: Collection[str], ids: Collection[int] = ()) -> None:
        """Delete from the tables all games of these players and all games with these ids."""
        found = self._cursor.execute(
            "SELECT game FROM archive_players WHERE player IN (SELECT value FROM json_each(?)) "
            "UNION SELECT value FROM json_each(?)",
            [msgspec.json.encode([*values]).decode() for values in (players, ids)],
        )
        games = msgspec.json.encode([id for (id,) in found.fetchall()]).decode()
        for table, column in (("archive", "id"), ("archive_players", "game")):
            self._cursor.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))", (games,))

    def players(self) -> list[str]:
        """Return the ids of all players who have games in the tables."""
        return [player for (player,) in self._cursor.execute("SELECT DISTINCT player FROM archive_players").fetchall()]

    def ids(self) -> list[int]:
        """Return the ids of all games in ascending order."""
        return [id for (id,) in self._cursor.execute("SELECT id FROM archive ORDER BY id")] + list(self.pending)

    def newest(self, below: int = LARGEST_ID) -> int:
        """Return the largest id in the tables that is smaller than `below`, or 0 if there is none."""
        (newest,) = self._cursor.execute("SELECT ifnull(max(id), 0) FROM archive WHERE id < ?", (below,)).fetchone()
        return int(newest)

    def insert(self, games: Iterable[tuple[int, Any, bytes]]) -> None:
        """Insert games, given as id, game and document, into the tables. Games whose ids exist are skipped.

        Two statements insert all games, because the store's thread waits for the interpreter lock after each statement.
        """
        place, at, people = self._spec.place, self._spec.at, self._spec.people
        rows = [(id, *place(game), at(game), people(game), text.decode()) for id, game, text in games]
        parameters = (msgspec.json.encode(rows).decode(),)
        fields = ", ".join(f"json_extract(value, '$[{index}]')" for index in range(4))
        self._cursor.execute(
            "INSERT OR IGNORE INTO archive (id, room, game, finished_at, document) "
            f"SELECT {fields}, CAST(json_extract(value, '$[5]') AS BLOB) FROM json_each(?)",
            parameters,
        )
        self._cursor.execute(
            "INSERT OR IGNORE INTO archive_players SELECT player.value, json_extract(game.value, '$[0]') "
            "FROM json_each(?) AS game, json_each(game.value, '$[4]') AS player",
            parameters,
        )


class Journal:
    """Reads and writes rooms and finished games through one cursor.

    The caller runs `write` and `fold` in a transaction, then calls `commit`, or `drop` if the transaction failed.

    Attributes:
        newest_revision: The largest revision in the database when it was opened.
        next_revision: Returns a new revision, larger than all earlier ones. The caller sets this attribute.
        damaged: Descriptions of the lines of the journal and the rooms that were skipped because they are damaged.
    """

    next_revision: Callable[[], int]

    def __init__(self, cursor: sqlite3.Cursor, specs: Specs) -> None:
        self.games = GameTables(cursor, specs.games)
        self.row = self._next_row = self._rested = self._next_rested = 0
        self.damaged: list[str] = []
        self._cursor = cursor
        self._newest = Newest[str]()  # code: row, revision and document; the document of a deleted room is None
        rooms = cursor.execute("SELECT key, revision FROM rooms").fetchall()
        self._resting = {key: revision for key, revision in rooms if isinstance(revision, int)}  # rooms in the table
        self.damaged += [f"The revision of room {key}." for key, revision in rooms if not isinstance(revision, int)]
        for row, batch in cursor.execute("SELECT id, batch FROM journal ORDER BY id").fetchall():
            self._next_row = row
            self._replay(row, as_bytes(batch))
            self.commit()
        self._rested = self._next_rested = self.row
        stored = [
            cursor.execute(f"SELECT ifnull(max(revision), 0) FROM {spec.name}").fetchone()[0] for spec in specs.tables
        ]
        stored += [revision for _, revision, _ in self._newest.values()]
        sound = (revision for revision in stored if isinstance(revision, int) and revision < _DAMAGED_REVISION)
        self.newest_revision = max(sound, default=0)

    def write(self, jobs: Iterable[Save | Write]) -> list[Any]:
        """Execute the jobs and return their results, in order.

        The result of a `Save` is the new revision, `MISSING` after a deletion, or a `Conflict`.
        """
        results: list[Any] = []
        lines: list[bytes] = []
        newest, fresh, resting, next_revision = self._newest, self._newest.fresh, self._resting, self.next_revision
        row = self.row + 1
        for job in jobs:
            if isinstance(job, Save):
                code, document, expected, finished = job.code, job.document, job.expected_revision, job.finished
                entry = fresh.get(code) or newest.get(code)
                found = resting.get(code, MISSING) if entry is None else entry[1]
                if expected is not None and (found != expected or (document is None and found == MISSING)):
                    results.append(Conflict(code))
                    continue
                revision = MISSING if document is None else next_revision()
                lines.append(_line(code, revision, document or b""))
                fresh[code] = (row, revision, document)
                results.append(revision)
            else:
                results.append(job.write(self._cursor, self))
                finished = None if isinstance(results[-1], Conflict) else job.finished
            if finished is not None:
                lines.append(_line(_GAME, *self.games.write(row, finished)))
        if lines:
            self._cursor.execute("INSERT INTO journal VALUES (?, ?)", (row, b"\n".join(lines)))
            self._next_row = row
        return results

    def commit(self) -> None:
        """Apply the changes of the committed transaction to the state in memory."""
        for code, (_, revision, document) in islice(self._newest.items(), self._newest.folding):
            if document is None:
                self._resting.pop(code, None)
            else:
                self._resting[code] = revision
        self._newest.commit()
        self.games.commit()
        self.row, self._rested = self._next_row, self._next_rested

    def drop(self) -> None:
        """Discard all changes since the last `commit`."""
        self._newest.drop()
        self.games.pending.drop()
        self._next_row, self._next_rested = self.row, self._rested

    def load(self, code: str) -> tuple[bytes, int] | None:
        """Return a room's document and revision, or None if there is no such room."""
        if code in self._newest:
            _, revision, document = self._newest[code]
            return None if document is None else (document, revision)
        row: tuple[bytes, int] | None = self._cursor.execute(
            "SELECT document, revision FROM rooms WHERE key = ?", (code,)
        ).fetchone()
        if row is None and code in self._resting:
            raise Damaged(f"room {code} is listed, and not found")
        return row

    def noted(self, key: str) -> bytes | None:
        row = self._cursor.execute("SELECT value FROM server WHERE key = ?", (key,)).fetchone()
        return None if row is None else row[0]

    def note(self, key: str, value: bytes) -> None:
        self._cursor.execute("INSERT OR REPLACE INTO server VALUES (?, ?)", (key, value))

    def codes(self) -> list[str]:
        deleted = {code for code, (_, _, document) in self._newest.items() if document is None}
        return [code for code in dict.fromkeys([*self._resting, *self._newest]) if code not in deleted]

    def fold(self, note: tuple[str, bytes] | None, *, all_of_it: bool) -> int:
        """Write the note, if any, and fold resting rooms and pending games; return the number of folded entries.

        Args:
            note: A key and a value for the table ``server``.
            all_of_it: Whether rooms that changed since the last call are folded, too.
        """
        if note is not None:
            self.note(*note)
        resting: list[tuple[str, int, bytes | None]] = []
        needed = self.row + (1 if all_of_it else 0)
        for code, (row, revision, document) in self._newest.items():
            if len(resting) == FOLDED_AT_ONCE or (row > self._rested and not all_of_it):
                needed = row
                break
            resting.append((code, revision, document))
        games, needed_for_games = self.games.fold()
        needed = min(needed, needed_for_games or needed)
        self._cursor.executemany(
            "INSERT INTO rooms (key, revision, document) VALUES (?, ?, ?) ON CONFLICT (key) "
            "DO UPDATE SET revision = excluded.revision, document = excluded.document",
            [entry for entry in resting if entry[2] is not None],
        )
        self._cursor.executemany(
            "DELETE FROM rooms WHERE key = ?", [(code,) for code, _, document in resting if document is None]
        )
        self._cursor.execute("DELETE FROM journal WHERE id < ?", (needed,))
        if needed > self.row:  # keep the last row number, which the folder's mark is compared with
            self._cursor.execute("INSERT INTO journal VALUES (?, x'')", (self.row,))
        self._newest.folding, self._next_rested = len(resting), self.row
        return len(resting) + games

    def _replay(self, row: int, batch: bytes) -> None:
        for line in filter(None, batch.split(b"\n")):
            try:
                name, number, document = line.split(b" ", 2)
                if name == _GAME.encode():
                    self.games.replay(row, int(number), document)
                else:
                    self._newest.fresh[name.decode("ascii")] = (row, int(number), document or None)
            except (ValueError, Unreadable):
                self.damaged.append(f"A line of the journal, row {row}.")


def _line(name: str, number: int, document: bytes) -> bytes:
    return b"%b %d %b" % (name.encode(), number, document)


def readable(spec: GameSpec[Game], documents: Iterable[tuple[int, bytes]]) -> list[tuple[int, Game]]:
    """Decode documents of games, given with their ids; damaged documents are logged and skipped."""
    games = []
    for id, document in documents:
        try:
            games.append((id, spec.read(None, document)))
        except Unreadable as damaged:
            log.error("damaged game ignored", id=id, reason=str(damaged))
    return games
