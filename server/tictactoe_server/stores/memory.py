"""A store that lasts as long as the process: for tests, and for rooms that nobody needs tomorrow."""

from __future__ import annotations

from tictactoe_server.stores.archive import MAX_LISTED_GAMES, ArchivedGame, GameRecord
from tictactoe_server.stores.store import MISSING, Conflict


class MemoryArchive:
    """Finished games in a dictionary; see `Archive` for what the methods promise."""

    def __init__(self) -> None:
        self._games: dict[int, GameRecord] = {}

    async def archive_game(self, record: GameRecord) -> int:
        """Keep a finished game and return its id."""
        return self._keep(record)

    async def games_of(self, player: str, limit: int, before: int | None = None) -> list[ArchivedGame]:
        """Return a player's games, newest first."""
        found = [
            ArchivedGame(id, record)
            for id, record in reversed(self._games.items())
            if player in record.players and (before is None or id < before)
        ]
        return found[: max(0, min(limit, MAX_LISTED_GAMES))]

    async def game(self, id: int) -> ArchivedGame | None:
        """Return one game, or None where there is none."""
        record = self._games.get(id)
        return None if record is None else ArchivedGame(id, record)

    def _keep(self, record: GameRecord) -> int:
        id = len(self._games) + 1
        self._games[id] = record
        return id


class MemoryStore(MemoryArchive):
    """Documents in a dictionary; see `Store`, `Archive` and `Notes` for what the methods promise."""

    def __init__(self) -> None:
        super().__init__()
        self._documents: dict[str, tuple[bytes, int]] = {}
        self._notes: dict[str, bytes] = {}
        self._revision = MISSING

    async def load(self, key: str) -> tuple[bytes, int] | None:
        """Return the document and its revision, or None where there is none."""
        return self._documents.get(key)

    async def save(
        self, key: str, document: bytes, expected_revision: int, *, archived: GameRecord | None = None
    ) -> int:
        """Keep the document, and the finished game with it, and return its new revision; raises `Conflict`."""
        self._check(key, expected_revision)
        self._revision += 1
        self._documents[key] = (document, self._revision)
        if archived is not None:
            self._keep(archived)
        return self._revision

    async def delete(self, key: str, expected_revision: int) -> None:
        """Forget the document; raises `Conflict`, also where it is gone already."""
        self._check(key, expected_revision)
        self._documents.pop(key, None)

    async def keys(self, prefix: str) -> list[str]:
        """Return the keys that begin with `prefix`, in no order."""
        return [key for key in self._documents if key.startswith(prefix)]

    def note(self, key: str, value: bytes) -> None:
        """Write a value over the one before."""
        self._notes[key] = value

    async def noted(self, key: str) -> bytes | None:
        """Return the last value that was written, or None."""
        return self._notes.get(key)

    async def close(self) -> None:
        """Do nothing: there is nothing to write."""

    def _check(self, key: str, expected_revision: int) -> None:
        current = self._documents.get(key)
        if (current[1] if current else MISSING) != expected_revision:
            raise Conflict(key)
