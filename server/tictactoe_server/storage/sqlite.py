"""The store of a server on one machine: a SQLite database in its data folder, and every save on disk before it returns.

This module says what is done in SQL; `writer` says when, `journal` how rooms are kept, `database` on which connection.
The folder is locked for as long as the store is open, so that no second server works on the same file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path
from typing import Final, Self

import msgspec
import structlog

from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_server.rooms import FinishedGame, Player, Room
from tictactoe_server.storage.archive import FinishedGames
from tictactoe_server.storage.backup import keep_older
from tictactoe_server.storage.database import Damaged, Database, checked, refusal_of
from tictactoe_server.storage.documents import (
    RoomEncoder,
    decode_ban,
    decode_game,
    decode_player,
    decode_room_of,
    encode_ban,
    encode_game,
    encode_player,
)
from tictactoe_server.storage.figures import WriteFigures
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.idleness import FORGOTTEN_AT_ONCE, is_idle, today
from tictactoe_server.storage.journal import Journal, Save
from tictactoe_server.storage.store import MISSING, UNAWAITED, Ban, Stored, Unreadable, Waiter
from tictactoe_server.storage.writer import MAX_WAITING, PATIENCE_SECONDS, Write, Writer

TIME: Final = "served-ms"
_ORIGIN: Final = "copy-of"
_LOADED_AT_ONCE: Final = 500
_decode_players: Final = msgspec.json.Decoder(list[str]).decode

log: Final = structlog.get_logger(__name__)


class SqliteStore:
    """Everything in a database; see `Storage` for what the methods promise."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self.rooms = SqliteRooms(writer)
        self.players = SqlitePlayers(writer)
        self.bans = SqliteBans(writer)
        self.archive = SqliteArchive(writer)

    @classmethod
    def open(
        cls, folder: Path | None, *, max_waiting: int = MAX_WAITING, patience_seconds: float = PATIENCE_SECONDS
    ) -> Self:
        """Return the store of a data folder, which is made where it is missing; with None it keeps nothing.

        Raises `CannotOpenStore`, or what it is more exactly: `FolderInUse` while another server runs on the folder,
        `NewerSchema` where a newer version wrote in it. Blocks for as long as the disk does.
        """
        held = None if folder is None else DataFolder(folder)
        try:
            if held is not None:
                held.hold_database()
                keep_older(held.path)
            database = Database(held)
            release = (lambda: None) if held is None else held.release
            return cls(Writer(database, release, max_waiting=max_waiting, patience_seconds=patience_seconds))
        except BaseException:
            if held is not None:
                held.release()
            raise

    @property
    def figures(self) -> WriteFigures:
        """What the transactions took so far."""
        return self._writer.figures

    def owed_since(self) -> float | None:
        """Return since when the disk owes an answer or refuses everything (s, as `time.monotonic`), or None."""
        return self._writer.owed_since()

    def note_time(self, ms: int) -> None:
        """Keep the time over the note before: with the next saves, or alone and without a flush of the disk."""
        self._writer.note(TIME, str(ms).encode())

    async def noted_time(self) -> int | None:
        """Return the last note, or None."""

        def ask(database: Database, _: Journal) -> int | None:
            row = database.execute("SELECT value FROM server WHERE key = ?", (TIME,)).fetchone()
            try:
                return None if row is None else int(row[0])
            except ValueError as error:
                raise Unreadable(f"The time is no number: {error}.") from error

        return await self._writer.ask(ask)

    async def close(self) -> None:
        """Write what is still to be written, and let go of the database and its folder."""
        await self._writer.close()


class SqliteRooms:
    """The rooms in the journal and its table; see `Rooms` for what the methods promise."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._encoder = RoomEncoder()

    async def load(self, key: str) -> tuple[Room, int] | None:
        """Return the room and its revision, or None where there is none; raises `Unreadable` for a damaged one."""

        def ask(_: Database, journal: Journal) -> tuple[Room, int] | None:
            found = journal.load(key)
            return None if found is None else (decode_room_of(key, found[0]), found[1])

        return await self._writer.ask(ask)

    async def load_all(self) -> AsyncIterator[Sequence[Stored[Room]]]:
        """Return all that is kept, some at a time."""
        codes = await self._writer.ask(lambda _, journal: journal.codes())
        for first in range(0, len(codes), _LOADED_AT_ONCE):
            some = codes[first : first + _LOADED_AT_ONCE]
            yield await self._writer.ask(lambda database, journal, some=some: _read_each(database, journal, some))  # type: ignore[misc]

    def save(
        self, key: str, value: Room, expected_revision: int, waiter: Waiter, finished: FinishedGame | None = None
    ) -> None:
        """Keep the room, and the finished game with it, and tell the waiter at the end of the batch."""
        self._writer.write(Save(key, self._encoder.encode(value), expected_revision, waiter, finished))

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the room and tell the waiter at the end of the batch."""
        self._encoder.forget(key)
        self._writer.write(Save(key, None, expected_revision, waiter))


class SqlitePlayers:
    """The players in a table; see `Table` for what the methods promise."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def load(self, key: str) -> tuple[Player, int] | None:
        """Return the player and the revision, or None where there is none; raises `Unreadable` for a damaged one."""

        def ask(database: Database, _: Journal) -> tuple[Player, int] | None:
            found = database.execute("SELECT document, revision FROM players WHERE key = ?", (key,)).fetchone()
            return None if found is None else (decode_player(found[0]), found[1])

        return await self._writer.ask(ask)

    def save(self, key: str, value: Player, expected_revision: int, waiter: Waiter) -> None:
        """Keep the player and tell the waiter at the end of the batch."""
        document = encode_player(value)

        def write(database: Database) -> int | None:
            revision = database.next_revision()
            if expected_revision == MISSING:
                statement = (
                    "INSERT INTO players (revision, document, key, seen, seated) VALUES (?, ?, ?, ?, 0) "
                    "ON CONFLICT (key) DO NOTHING"
                )
                done = database.execute(statement, (revision, document, key, today()))
            else:
                statement = "UPDATE players SET revision = ?, document = ? WHERE key = ? AND revision = ?"
                done = database.execute(statement, (revision, document, key, expected_revision))
            return revision if done.rowcount == 1 else None

        self._writer.write(Write(key, write, waiter))

    def take(self, key: str, value: Player, seen: int, waiter: Waiter, *, is_seated: bool) -> None:
        """Keep a player who is not there yet, and was last seen on that day elsewhere; tell the waiter."""
        document = encode_player(value)

        def write(database: Database) -> int | None:
            revision = database.next_revision()
            row = (key, revision, document, seen, is_seated)
            done = database.execute(
                "INSERT INTO players (key, revision, document, seen, seated) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO NOTHING",
                row,
            )
            return revision if done.rowcount == 1 else None

        self._writer.write(Write(key, write, waiter))

    def delete(self, key: str, expected_revision: int, waiter: Waiter) -> None:
        """Forget the player and tell the waiter at the end of the batch."""

        def write(database: Database) -> int | None:
            done = database.execute("DELETE FROM players WHERE key = ? AND revision = ?", (key, expected_revision))
            return MISSING if done.rowcount == 1 else None

        self._writer.write(Write(key, write, waiter))

    def see(self, key: str, *, is_seated: bool = False) -> None:
        """Note that a player is here today: what is known already is not written again."""
        day = today()

        def write(database: Database) -> int:
            database.execute(
                "UPDATE players SET seen = max(seen, ?), seated = max(seated, ?) "
                "WHERE key = ? AND (seen < ? OR seated < ?)",
                (day, is_seated, key, day, is_seated),
            )
            return MISSING

        self._writer.write(Write(key, write, UNAWAITED))

    async def forget_idle(self, after: str, today: int, stay: Collection[str]) -> str | None:
        """Forget some of those who were not here for long."""
        last: str | None = None

        def write(database: Database) -> int:
            nonlocal last
            found = database.execute(
                "SELECT key, seen, seated, document FROM players WHERE key > ? ORDER BY key LIMIT ?",
                (after, FORGOTTEN_AT_ONCE),
            ).fetchall()
            checked(found, str, int, int)
            last = found[-1][0] if found else None
            for key, seen, seated, document in found:
                if is_idle(seen, today, is_seated=seated) and _may_go(database, document, stay):
                    database.execute("DELETE FROM players WHERE key = ?", (key,))
            return MISSING

        await self._writer.carry_out("", write)
        return last


class SqliteBans:
    """The bans in a table; see `BanList` for what the methods promise."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def load_all(self) -> list[Ban]:
        """Return all that can be read."""
        rows = await self._writer.ask(lambda database, _: database.execute("SELECT * FROM bans").fetchall())
        bans = []
        for subject, document in rows:
            try:
                bans.append(decode_ban(document))
            except Unreadable as damaged:
                log.error("a damaged ban is left alone", subject=subject, reason=str(damaged))
        return bans

    async def keep(self, ban: Ban) -> None:
        """Keep a ban."""

        def write(database: Database) -> int:
            database.execute("INSERT OR REPLACE INTO bans VALUES (?, ?)", (ban.subject, encode_ban(ban)))
            return MISSING

        await self._writer.carry_out(ban.subject, write)

    async def forget(self, subject: str) -> None:
        """Forget a ban."""

        def write(database: Database) -> int:
            database.execute("DELETE FROM bans WHERE key = ?", (subject,))
            return MISSING

        await self._writer.carry_out(subject, write)


class SqliteArchive:
    """The finished games in the journal and two tables; see `Archive` for what the methods promise."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, FinishedGame]]:
        """Return a player's games with their ids, newest first."""
        most = max(0, min(limit, MAX_LISTED_GAMES))
        return await self._writer.ask(lambda _, journal: journal.games.of(player, most, before))

    async def game(self, id: int) -> FinishedGame | None:
        """Return one game, or None where there is none."""
        return await self._writer.ask(lambda _, journal: journal.games.find(id))

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment; the newest, which only the journal has, stay."""
        is_more = False

        def write(database: Database) -> int:
            nonlocal is_more
            old = _old_games(database, at)
            database.execute_many("DELETE FROM archive WHERE id = ?", [(id,) for id, _ in old])
            database.execute_many(
                "DELETE FROM archive_players WHERE player = ? AND game = ?",
                [(player, id) for id, players in old for player in players],
            )
            database.execute("DELETE FROM shares WHERE finished_at < ?", (at,))
            is_more = len(old) == FORGOTTEN_AT_ONCE
            return MISSING

        await self._writer.carry_out("", write)
        return is_more

    async def share(self, id: str, game: FinishedGame) -> None:
        """Keep a copy under an id."""
        row = (id, game.at, encode_game(game))

        def write(database: Database) -> int:
            database.execute("INSERT OR REPLACE INTO shares VALUES (?, ?, ?)", row)
            return MISSING

        await self._writer.carry_out(id, write)

    async def shared_id(self, half: str) -> str | None:
        """Return the id that begins so and under which a copy is kept, or None."""

        def ask(database: Database, _: Journal) -> str | None:
            ids = database.execute("SELECT key FROM shares WHERE key >= ? AND key < ?", (half, f"{half}~")).fetchone()
            return None if ids is None else str(ids[0])

        return await self._writer.ask(ask)

    async def unshare(self, id: str) -> None:
        """Forget what is kept under such an id."""

        def write(database: Database) -> int:
            database.execute("DELETE FROM shares WHERE key = ?", (id,))
            return MISSING

        await self._writer.carry_out(id, write)

    async def shared(self, id: str) -> FinishedGame | None:
        """Return what is kept under such an id, or None; raises `Unreadable` for a damaged one."""

        def ask(database: Database, _: Journal) -> FinishedGame | None:
            found = database.execute("SELECT document FROM shares WHERE key = ?", (id,)).fetchone()
            return None if found is None else decode_game(found[0])

        return await self._writer.ask(ask)

    async def before(self, at: int) -> list[int]:
        """Return the ids of those games that `forget_before` would forget now."""
        return await self._writer.ask(lambda database, _: [id for id, _ in _old_games(database, at)])

    async def newest(self) -> int:
        """Return the largest id of a game that was taken, 0 for none."""

        def ask(database: Database, _: Journal) -> int:
            (newest,) = database.execute("SELECT ifnull(max(id), 0) FROM archive").fetchone()
            return int(newest)

        return await self._writer.ask(ask)

    async def take(self, games: Sequence[tuple[int, bytes]]) -> None:
        """Keep documents of games that have their ids from elsewhere; raises `StoreUnavailable`.

        What is kept already stays as it is, and a damaged document is logged and left out.
        """
        found = []
        for id, document in games:
            try:
                found.append((id, decode_game(document), document))
            except Unreadable as damaged:
                log.error("a damaged game is left out", id=id, reason=str(damaged))

        def write(database: Database) -> int:
            FinishedGames(database).insert(found)
            return MISSING

        await self._writer.carry_out("", write)

    async def begin_copy(self, origin: str, newest: int) -> None:
        """Keep only what is a copy of the games of `origin`, whose ids go up to `newest` now; forget all else."""

        def write(database: Database) -> int:
            row = database.execute("SELECT value FROM server WHERE key = ?", (_ORIGIN,)).fetchone()
            (largest,) = database.execute("SELECT ifnull(max(id), 0) FROM archive").fetchone()
            if row is None or row[0] != origin.encode() or largest > newest:
                database.execute("DELETE FROM archive")
                database.execute("DELETE FROM archive_players")
                database.execute("INSERT OR REPLACE INTO server VALUES (?, ?)", (_ORIGIN, origin.encode()))
            return MISSING

        await self._writer.carry_out("", write)


def _old_games(database: Database, at: int) -> list[tuple[int, list[str]]]:
    """Return the ids and players of some games that ended before a moment, the oldest."""
    found = database.execute(
        "SELECT id, players, finished_at FROM archive ORDER BY id LIMIT ?", (FORGOTTEN_AT_ONCE,)
    ).fetchall()
    old = [row for row in checked(found, int, str, int) if row[2] < at]
    try:
        return [(id, _decode_players(players)) for id, players, _ in old]
    except msgspec.DecodeError as error:
        raise Damaged(f"who played is no list: {error}") from error


def _may_go(database: Database, document: bytes, stay: Collection[str]) -> bool:
    """Tell whether an idle player is not here, and no finished game of theirs is kept; a damaged one stays."""
    try:
        id = decode_player(document).id
    except Unreadable:
        return False
    if id in stay:
        return False
    return database.execute("SELECT 1 FROM archive_players WHERE player = ? LIMIT 1", (id,)).fetchone() is None


def _read_each(database: Database, journal: Journal, codes: Sequence[str]) -> list[Stored[Room]]:
    """Return the rooms of these codes that are still there, with what is wrong with those that are damaged."""
    found: list[Stored[Room]] = []
    for code in codes:
        try:
            row = journal.load(code)
            if row is not None:
                found.append(Stored(code, decode_room_of(code, row[0]), row[1]))
        except Unreadable as damaged:
            found.append(Stored(code, damaged, MISSING))
        except sqlite3.DatabaseError as error:
            if database.salvage(error):
                return _read_each(database, journal, codes)
            damage = refusal_of(error)
            if not isinstance(damage, Unreadable):
                raise
            found.append(Stored(code, damage, MISSING))
    return found
