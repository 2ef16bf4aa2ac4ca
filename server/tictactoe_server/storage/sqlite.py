"""The store of a server on one machine: a SQLite database in its data folder, and every save on disk before it returns.

This module says what is done in SQL; `writer` says when, `journal` how rooms are kept, `database` on which connection.
The folder is locked for as long as the store is open, so that no second server works on the same file.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final, Generic, Self

from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_server.storage.backup import keep_older
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.games import readable
from tictactoe_server.storage.journal import Journal
from tictactoe_server.storage.schema import JOURNALED, ORIGIN, TIME
from tictactoe_server.storage.specs import GameSpec, Specs, TableSpec
from tictactoe_server.storage.store import Game, Table, Value, read_time
from tictactoe_server.storage.tables import JournaledTable, SqliteTable
from tictactoe_server.storage.writer import Writer

_READ_AT_ONCE: Final = 500


class SqliteStore:
    """Everything in a database; see `Storage` for what the methods promise."""

    def __init__(self, writer: Writer, specs: Specs) -> None:
        self._writer = writer
        self.figures = writer.figures
        self.owed_since = writer.owed_since
        self.games = SqliteLog(writer, specs.games)
        self.tables: dict[str, Table[Any]] = {
            spec.name: (JournaledTable if spec.name == JOURNALED else SqliteTable)(writer, spec)
            for spec in specs.tables
        }

    @classmethod
    def open(cls, folder: Path | None, specs: Specs) -> Self:
        """Return the store of a data folder, which is made where it is missing; with None it keeps nothing.

        Raises `CannotOpenStore`, or what it is more exactly: `FolderInUse` while another server runs on the folder,
        `NewerSchema` where a newer version wrote in it. Blocks for as long as the disk does.
        """
        held = None if folder is None else DataFolder(folder)
        try:
            if held is not None:
                held.hold_database()
                keep_older(held.path)
            return cls(Writer(Database(held, specs), specs.games), specs)
        except BaseException:
            if held is not None:
                held.release()
            raise

    def table(self, spec: TableSpec[Value]) -> Table[Value]:
        return self.tables[spec.name]

    def note_time(self, ms: int) -> None:
        """Keep the time over the note before: with the next saves, or alone and without a flush of the disk."""
        self._writer.note(TIME, str(ms).encode())

    async def noted_time(self) -> int | None:
        return read_time(await self._writer.ask(lambda database, _: database.noted(TIME)))

    async def close(self) -> None:
        await self._writer.close()


class SqliteLog(Generic[Game]):
    """The finished games in the journal and two tables; see `GameLog` for what the methods promise."""

    def __init__(self, writer: Writer, spec: GameSpec[Game]) -> None:
        self._writer = writer
        self._spec = spec

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[tuple[int, Game]]:
        most = max(0, min(limit, MAX_LISTED_GAMES))
        return await self._writer.ask(lambda _, journal: journal.games.of(player, most, before))

    async def game(self, id: int) -> Game | None:
        return await self._writer.ask(lambda _, journal: journal.games.find(id))

    async def games_at(self, room: str, number: int) -> list[tuple[int, Game]]:
        return await self._writer.ask(lambda _, journal: journal.games.at(room, number))

    async def after(self, cursor: int, limit: int) -> AsyncIterator[tuple[int, Game]]:
        following: int | None = cursor
        while following is not None and limit > 0:
            games, following = await self._some_after(following, min(limit, _READ_AT_ONCE))
            for id, game in games:
                yield id, game
            limit -= len(games)

    async def forget_before(self, at: int) -> bool:
        """Forget some of the games that ended before a moment; the newest, which only the journal has, stay."""
        return await self._writer.change(lambda _, journal: journal.games.forget(at))

    async def before(self, at: int) -> list[int]:
        """Return the ids of those games that `forget_before` would forget now."""
        return await self._writer.ask(lambda _, journal: [id for id, _ in journal.games.old(at)])

    async def newest(self) -> int:
        """Return the largest id of a game that was taken, 0 for none."""
        return await self._writer.ask(lambda _, journal: journal.games.newest())

    async def take(self, games: Sequence[tuple[int, bytes]]) -> None:
        """Keep documents of games that have their ids from elsewhere; raises `StoreUnavailable`.

        What is kept already stays as it is, and a damaged document is logged and left out.
        """
        documents = dict(games)
        found = [(id, game, documents[id]) for id, game in readable(self._spec, games)]
        await self._writer.change(lambda _, journal: journal.games.insert(found))

    async def begin_copy(self, origin: str, newest: int) -> None:
        """Keep only what is a copy of the games of `origin`, whose ids go up to `newest` now; forget all else."""

        def change(database: Database, journal: Journal) -> None:
            if database.noted(ORIGIN) != origin.encode() or journal.games.newest() > newest:
                journal.games.clear()
                database.note(ORIGIN, origin.encode())

        await self._writer.change(change)

    async def _some_after(self, cursor: int, limit: int) -> tuple[list[tuple[int, Game]], int | None]:
        return await self._writer.ask(lambda _, journal: journal.games.after(cursor, limit))
