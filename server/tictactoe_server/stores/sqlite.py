"""The store of a server on one machine: a SQLite database in its data folder, and every save on disk before it returns.

This module says what is done in SQL; `commits` says when, `database` on which connection. The folder is locked for as
long as the store is open, so that no second server works on the same file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, Self, cast

from tictactoe_server.stores.archive import MAX_LISTED_GAMES, ArchivedGame, GameRecord
from tictactoe_server.stores.commits import MAX_WAITING, PATIENCE_SECONDS, Committer, Job
from tictactoe_server.stores.database import Database
from tictactoe_server.stores.folder import FolderLock
from tictactoe_server.stores.schema import FILE_NAME
from tictactoe_server.stores.store import MISSING, Conflict

_AFTER_EVERY_KEY: Final = "\U0010ffff"
_LARGEST_ID: Final = 2**63 - 1


class SqliteStore:
    """Documents, finished games and notes in a database; see `Storage` for what the methods promise."""

    def __init__(self, committer: Committer, lock: FolderLock | None) -> None:
        self._committer = committer
        self._submit = committer.submit
        self._lock = lock

    @classmethod
    def open(
        cls, folder: Path | None, *, max_waiting: int = MAX_WAITING, patience_seconds: float = PATIENCE_SECONDS
    ) -> Self:
        """Return the store of a data folder, which is made where it is missing; with None it keeps nothing.

        Raises `CannotOpenStore`, or what it is more exactly: `FolderInUse` while another server runs on the folder,
        `NewerSchema` where a newer version wrote in it. Blocks for as long as the disk does.
        """
        lock = None if folder is None else FolderLock(folder)
        try:
            database = Database(None if folder is None else folder / FILE_NAME)
        except BaseException:
            if lock is not None:
                lock.release()
            raise
        return cls(Committer(database, max_waiting=max_waiting, patience_seconds=patience_seconds), lock)

    # -- documents ----------------------------------------------------------------------------------------------

    async def load(self, key: str) -> tuple[bytes, int] | None:
        """Return the document and its revision, or None where there is none; raises `Unreadable` for a damaged one."""
        found: tuple[bytes, int] | None = await self._submit(_Load(key))
        return found

    async def save(
        self, key: str, document: bytes, expected_revision: int, *, archived: GameRecord | None = None
    ) -> int:
        """Keep the document, and the finished game with it, and return its new revision; raises `Conflict`."""
        revision: int = await self._submit(_Save(key, document, expected_revision, archived))
        return revision

    async def delete(self, key: str, expected_revision: int) -> None:
        """Forget the document; raises `Conflict`, also where it is gone already."""
        await self._submit(_Delete(key, expected_revision))

    async def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, in no order."""
        found: list[str] = await self._submit(_Keys(prefix))
        return found

    async def close(self) -> None:
        """Write what is still to be written, and let go of the database and its folder."""
        await self._committer.close(_Close(self._lock))

    # -- finished games -----------------------------------------------------------------------------------------

    async def archive_game(self, record: GameRecord) -> int:
        """Keep a finished game and return its id."""
        id: int = await self._submit(_ArchiveGame(record))
        return id

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[ArchivedGame]:
        """Return a player's games, newest first."""
        return cast(
            list[ArchivedGame], await self._submit(_GamesOf(player, limit, _LARGEST_ID if before is None else before))
        )

    async def game(self, id: int) -> ArchivedGame | None:
        """Return one game, or None where there is none."""
        game: ArchivedGame | None = await self._submit(_Game(id))
        return game

    # -- notes --------------------------------------------------------------------------------------------------

    def note(self, key: str, value: bytes) -> None:
        """Write a value soon, over the one before: with the next saves, or alone and without a flush of the disk."""
        self._committer.submit_silently(_Note(key, value))

    async def noted(self, key: str) -> bytes | None:
        """Return the last value that was written, or None."""
        value: bytes | None = await self._submit(_Noted(key))
        return value


class _Save(Job):
    __slots__ = ("archived", "document", "expected_revision", "key")

    def __init__(self, key: str, document: bytes, expected_revision: int, archived: GameRecord | None) -> None:
        self.key = key
        self.document = document
        self.expected_revision = expected_revision
        self.archived = archived

    def perform(self, database: Database) -> int | Conflict:
        revision = database.next_revision()
        if self.expected_revision == MISSING:
            done = database.execute(
                "INSERT INTO documents (key, revision, document) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (self.key, revision, self.document),
            )
        else:
            done = database.execute(
                "UPDATE documents SET revision = ?, document = ? WHERE key = ? AND revision = ?",
                (revision, self.document, self.key, self.expected_revision),
            )
        if done.rowcount != 1:
            return Conflict(self.key)
        if self.archived is not None:
            _archive(database, self.archived)
        return revision


class _Delete(Job):
    __slots__ = ("expected_revision", "key")

    def __init__(self, key: str, expected_revision: int) -> None:
        self.key = key
        self.expected_revision = expected_revision

    def perform(self, database: Database) -> Conflict | None:
        if self.expected_revision == MISSING:
            found = database.execute("SELECT 1 FROM documents WHERE key = ?", (self.key,)).fetchone()
            return None if found is None else Conflict(self.key)
        done = database.execute(
            "DELETE FROM documents WHERE key = ? AND revision = ?", (self.key, self.expected_revision)
        )
        return None if done.rowcount == 1 else Conflict(self.key)


class _ArchiveGame(Job):
    __slots__ = ("record",)

    def __init__(self, record: GameRecord) -> None:
        self.record = record

    def perform(self, database: Database) -> int:
        return _archive(database, self.record)


class _Note(Job):
    __slots__ = ("key", "value")
    durable = False

    def __init__(self, key: str, value: bytes) -> None:
        self.key = key
        self.value = value

    def perform(self, database: Database) -> None:
        database.execute("INSERT OR REPLACE INTO server VALUES (?, ?)", (self.key, self.value))


class _Read(Job):
    __slots__ = ()
    writes = False


class _Load(_Read):
    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key

    def perform(self, database: Database) -> tuple[bytes, int] | None:
        found = database.execute("SELECT document, revision FROM documents WHERE key = ?", (self.key,))
        row: tuple[bytes, int] | None = found.fetchone()
        return row


class _Keys(_Read):
    __slots__ = ("prefix",)

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def perform(self, database: Database) -> list[str]:
        found = database.execute(
            "SELECT key FROM documents WHERE key >= ? AND key < ?", (self.prefix, self.prefix + _AFTER_EVERY_KEY)
        )
        return [key for (key,) in found.fetchall()]


class _Noted(_Read):
    __slots__ = ("key",)

    def __init__(self, key: str) -> None:
        self.key = key

    def perform(self, database: Database) -> bytes | None:
        found = database.execute("SELECT value FROM server WHERE key = ?", (self.key,)).fetchone()
        return None if found is None else cast(bytes, found[0])


_GAME_COLUMNS: Final = "id, room, game, finished_at, players, document"


class _GamesOf(_Read):
    __slots__ = ("before", "limit", "player")

    def __init__(self, player: str, limit: int, before: int | None) -> None:
        self.player = player
        self.limit = max(0, min(limit, MAX_LISTED_GAMES))
        self.before = _LARGEST_ID if before is None else min(before, _LARGEST_ID)

    def perform(self, database: Database) -> list[ArchivedGame]:
        found = database.execute(
            f"""SELECT {_GAME_COLUMNS} FROM archive WHERE id IN (
                SELECT game FROM archive_players WHERE player = ? AND game < ? ORDER BY game DESC LIMIT ?
            ) ORDER BY id DESC""",
            (self.player, self.before, self.limit),
        )
        return [_archived_game(row) for row in found.fetchall()]


class _Game(_Read):
    __slots__ = ("id",)

    def __init__(self, id: int) -> None:
        self.id = id

    def perform(self, database: Database) -> ArchivedGame | None:
        found = database.execute(f"SELECT {_GAME_COLUMNS} FROM archive WHERE id = ?", (min(self.id, _LARGEST_ID),))
        row = found.fetchone()
        return None if row is None else _archived_game(row)


class _Close(_Read):
    __slots__ = ("lock",)
    is_last = True

    def __init__(self, lock: FolderLock | None) -> None:
        self.lock = lock

    def perform(self, database: Database) -> None:
        database.close()
        if self.lock is not None:
            self.lock.release()


def _archive(database: Database, record: GameRecord) -> int:
    done = database.execute(
        "INSERT INTO archive (room, game, finished_at, players, document) VALUES (?, ?, ?, ?, ?)",
        (record.room, record.game, record.finished_at, json.dumps(record.players), record.document),
    )
    id = cast(int, done.lastrowid)
    for player in set(record.players):
        database.execute("INSERT INTO archive_players VALUES (?, ?)", (player, id))
    return id


def _archived_game(row: tuple[int, str, int, int, str, bytes]) -> ArchivedGame:
    id, room, game, finished_at, players, document = row
    return ArchivedGame(id, GameRecord(room, game, finished_at, tuple(json.loads(players)), document))
