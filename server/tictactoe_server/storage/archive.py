"""The finished games of the database: the newest stand in the journal alone, the others in tables, by player.

A game comes with the save of its room, as a line in the same row of the journal; many are brought into the tables at
once, since they touch a page for each of their players. Everything here blocks, and belongs to the store's thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec
import structlog

from tictactoe_server.rooms import FinishedGame
from tictactoe_server.storage.database import Database, checked
from tictactoe_server.storage.documents import decode_game, encode_game
from tictactoe_server.storage.store import Unreadable

_FOLDED_AT_ONCE: Final = 250
_LARGEST_ID: Final = 2**63 - 1

log: Final = structlog.get_logger(__name__)


class FinishedGames:
    """What is kept of finished games. `write` and `fold` work inside a transaction of the journal's; see there."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._fresh: list[tuple[FinishedGame, bytes]] = []
        self._pending: dict[int, tuple[int, FinishedGame, bytes]] = {}
        self._next = 1

    def look(self) -> None:
        """Read what the tables hold; each game of the journal follows (`replay`)."""
        self._fresh.clear()
        self._pending.clear()
        (newest,) = self._database.execute(
            """SELECT max(
                ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'archive'), 0),
                ifnull((SELECT max(id) FROM archive), 0)
            )"""
        ).fetchone()
        checked([(newest,)], int)
        self._next = newest + 1

    def replay(self, row: int, id: int, document: bytes) -> None:
        """Take in a game of the journal, unless it is in the tables by now; raises `Unreadable`."""
        if id >= self._next:
            self._pending[id] = (row, decode_game(document), document)
            self._next = id + 1

    def write(self, game: FinishedGame) -> tuple[int, bytes]:
        """Return the id and the document of a game, for the journal."""
        document = encode_game(game)
        self._fresh.append((game, document))
        return self._next + len(self._fresh) - 1, document

    def keep(self, row: int) -> None:
        """Take what was written for kept."""
        for game, document in self._fresh:
            self._pending[self._next] = (row, game, document)
            self._next += 1
        self._fresh.clear()

    def drop(self) -> None:
        """Forget what was written."""
        self._fresh.clear()

    def fold(self) -> tuple[int, int | None]:
        """Bring the oldest half into the tables, or some more; tell `folded` once it is kept.

        Returns how many these are, and which row of the journal is needed for the rest, None for none.
        """
        count = min(len(self._pending), max(_FOLDED_AT_ONCE, len(self._pending) // 2))
        if count:
            self.insert([(id, game, document) for id, (_, game, document) in islice(self._pending.items(), count)])
        return count, next((row for row, *_ in islice(self._pending.values(), count, None)), None)

    def folded(self, count: int) -> None:
        """Take so many of the oldest for folded."""
        for id in list(islice(self._pending, count)):
            del self._pending[id]

    def of(self, player: str, limit: int, before: int | None) -> list[tuple[int, FinishedGame]]:
        """Return a player's games with their ids, newest first, without damaged ones."""
        older_than = _LARGEST_ID if before is None else min(before, _LARGEST_ID)
        pending = (
            (id, game)
            for id, (_, game, _) in reversed(self._pending.items())
            if id < older_than and player in game.people
        )
        newest = list(islice(pending, limit))
        found = self._database.execute(
            """SELECT id, document FROM archive WHERE id IN (
                SELECT game FROM archive_players WHERE player = ? AND game < ? ORDER BY game DESC LIMIT ?
            ) ORDER BY id DESC""",
            (player, older_than, limit - len(newest)),
        )
        for id, document in found.fetchall():
            try:
                newest.append((id, decode_game(document)))
            except Unreadable as damaged:
                log.error("a damaged game is left out", id=id, reason=str(damaged))
        return newest

    def find(self, id: int) -> FinishedGame | None:
        """Return one game, or None where there is none; raises `Unreadable`."""
        if id in self._pending:
            return self._pending[id][1]
        found = self._database.execute("SELECT document FROM archive WHERE id = ?", (min(id, _LARGEST_ID),)).fetchone()
        return None if found is None else decode_game(found[0])

    def insert(self, games: Iterable[tuple[int, FinishedGame, bytes]]) -> None:
        """Bring games, with their ids and documents, into the tables; what is there stays."""
        rows: list[tuple[object, ...]] = []
        people: list[tuple[str, int]] = []
        for id, game, document in games:
            rows.append((id, game.room, game.game, game.at, _json(game.people), document.decode()))
            people += [(player, id) for player in game.people]
        fields = ", ".join(f"json_extract(value, '$[{index}]')" for index in range(5))
        self._database.execute(
            "INSERT OR IGNORE INTO archive (id, room, game, finished_at, players, document) "
            f"SELECT {fields}, CAST(json_extract(value, '$[5]') AS BLOB) FROM json_each(?)",
            (_json(rows),),
        )
        self._database.execute(
            "INSERT OR IGNORE INTO archive_players "
            "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?)",
            (_json(people),),
        )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
