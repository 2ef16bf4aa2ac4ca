"""What is in a data folder, read from a copy so that the folder stays as it is, and a new folder to be filled."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, Self

from tictactoe_server.rooms import FinishedGame, Room
from tictactoe_server.storage.backup import CannotBackUp, back_up
from tictactoe_server.storage.contents import AT_ONCE, CannotMove, Item, Kind, KnownPlayer, SharedGame
from tictactoe_server.storage.documents import decode_ban, decode_game, decode_player, decode_room, encode_game
from tictactoe_server.storage.folder import FILE_NAME, DataFolder
from tictactoe_server.storage.restoring import check_folder
from tictactoe_server.storage.sqlite import TIME, SqliteStore
from tictactoe_server.storage.store import (
    MISSING,
    Ban,
    Conflict,
    Pending,
    StoreUnavailable,
    Unreadable,
)

_STATEMENTS: Final[dict[Kind, str]] = {
    "rooms": "SELECT document FROM rooms ORDER BY code",
    "players": "SELECT document, key, seen, seated FROM players ORDER BY key",
    "bans": "SELECT document FROM bans ORDER BY key",
    "shares": "SELECT document, key FROM shares ORDER BY key",
    "games": "SELECT document FROM archive ORDER BY id",
}


class FolderSource:
    """The folder is held until `close`, so that no server changes it meanwhile; see `Source`."""

    def __init__(self, held: DataFolder, copy: tempfile.TemporaryDirectory[str], damage: list[str]) -> None:
        """Take over what `open` has made."""
        self.damage = damage
        self._held = held
        self._copy = copy
        self._database = sqlite3.connect(Path(copy.name) / FILE_NAME)

    @classmethod
    async def open(cls, folder: Path) -> Self:
        """Return what a folder holds; raises `CannotMove`, and `CannotOpenStore` and its kinds."""
        if not (folder / FILE_NAME).is_file():
            raise CannotMove(f"There is no database in {folder}.")
        held = DataFolder(folder)
        copy = tempfile.TemporaryDirectory(prefix="tictactoe-move-")
        try:
            back_up(folder, Path(copy.name) / FILE_NAME)
            damage = check_folder(Path(copy.name)).damage
            await SqliteStore.open(Path(copy.name)).close()  # of whichever version it was, all is in its tables now
            return cls(held, copy, list(damage))
        except (CannotBackUp, StoreUnavailable) as error:
            held.release()
            copy.cleanup()
            raise CannotMove(str(error)) from error
        except BaseException:
            held.release()
            copy.cleanup()
            raise

    async def read(self, kind: Kind) -> AsyncIterator[Sequence[Item]]:
        """Yield all of a kind that can be read."""
        with closing(self._database.execute(_STATEMENTS[kind])) as rows:
            while some := rows.fetchmany(AT_ONCE):
                yield [item for item in (_decode(kind, *row) for row in some) if item is not None]

    async def time(self) -> int | None:
        """Return the last note."""
        row = self._database.execute("SELECT value FROM server WHERE key = ?", (TIME,)).fetchone()
        try:
            return None if row is None else int(row[0])
        except ValueError:
            self.damage.append("How long servers have run.")
            return None

    async def close(self) -> None:
        """Let go of the folder, and of the copy."""
        self._database.close()
        self._copy.cleanup()
        self._held.release()


class FolderTarget:
    """A folder that had no database; see `Target`."""

    def __init__(self, store: SqliteStore) -> None:
        """Fill a new store; see `open`."""
        self._store = store
        self._games = 0

    @classmethod
    async def open(cls, folder: Path) -> Self:
        """Return a new database in a folder, which is made where it is missing; raises like `FolderSource.open`."""
        if (folder / FILE_NAME).exists():
            raise CannotMove(f"{folder} is not empty: it has a database. Nothing in it was changed.")
        return cls(SqliteStore.open(folder))

    async def write(self, items: Sequence[Item]) -> None:
        """Keep all of these."""
        store, waiting, games = self._store, list[Pending](), list[tuple[int, bytes]]()
        try:
            for item in items:
                match item:
                    case Room():
                        waiting.append(Pending())
                        store.rooms.save(item.code, item, MISSING, waiting[-1])
                    case KnownPlayer():
                        waiting.append(Pending())
                        store.players.take(item.key, item.player, item.seen, waiting[-1], is_seated=item.is_seated)
                    case Ban():
                        await store.bans.keep(item)
                    case SharedGame():
                        await store.archive.share(item.id, item.game)
                    case FinishedGame():
                        self._games += 1
                        games.append((self._games, encode_game(item)))
            if games:
                await store.archive.take(games)
            for each in waiting:
                await each.future
        except (StoreUnavailable, Conflict) as error:
            raise CannotMove(f"The folder takes no more: {error}") from error

    async def write_time(self, ms: int) -> None:
        """Keep the time, at the latest when the store is closed."""
        self._store.note_time(ms)

    async def close(self) -> None:
        """Write what is still to be written, and let go of the folder."""
        try:
            await self._store.close()
        except StoreUnavailable as error:
            raise CannotMove(f"The folder takes no more: {error}") from error


def _decode(kind: Kind, document: bytes, *more: Any) -> Item | None:
    """Return what a row holds, None for what cannot be read: `check_folder` has named it."""
    try:
        match kind:
            case "rooms":
                return decode_room(document)
            case "players":
                key, seen, is_seated = more
                return KnownPlayer(key, decode_player(document), seen, bool(is_seated))
            case "bans":
                return decode_ban(document)
            case "shares":
                return SharedGame(more[0], decode_game(document))
            case "games":
                return decode_game(document)
    except Unreadable:
        return None
