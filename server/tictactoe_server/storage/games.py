"""The finished games of the database: the newest stand in the journal alone, the others in tables, by player.

A game comes with the save of its room, as a line in the same row of the journal; many are brought into the tables at
once, since they touch a page for each of their players. Everything here blocks, and belongs to the store's thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Final

import msgspec
import structlog

from tictactoe_server.storage.database import Damaged, Database, checked
from tictactoe_server.storage.specs import GameSpec
from tictactoe_server.storage.store import Game, Unreadable

_FOLDED_AT_ONCE: Final = 250
_FORGOTTEN_AT_ONCE: Final = 100
_LARGEST_ID: Final = 2**63 - 1
_decode_players: Final = msgspec.json.Decoder(list[str]).decode

log: Final = structlog.get_logger(__name__)


class GameTables:
    """What is kept of finished games; `write`, `fold`, `keep` and `drop` are done with those of the journal."""

    def __init__(self, database: Database, spec: GameSpec[Any]) -> None:
        self._database = database
        self._spec = spec
        self._pending: dict[int, tuple[int, Any, bytes]] = {}
        self._fresh: dict[int, tuple[int, Any, bytes]] = {}
        self._folding = 0
        found = database.execute(
            """SELECT max(
                ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'archive'), 0),
                ifnull((SELECT max(id) FROM archive), 0)
            )"""
        ).fetchall()
        self._next = 1 + checked(found, int)[0][0]

    def replay(self, row: int, id: int, document: bytes) -> None:
        """Take in a game of the journal, unless it is in the tables by now; raises `Unreadable`."""
        if id >= self._next:
            self._pending[id] = (row, self._spec.read(None, document), document)
            self._next = id + 1

    def write(self, row: int, game: Any) -> tuple[int, bytes]:
        """Take in a game; return its id and its document for that row of the journal."""
        id, document = self._next + len(self._fresh), self._spec.encode(game)
        self._fresh[id] = (row, game, document)
        return id, document

    def keep(self) -> None:
        for id in list(islice(self._pending, self._folding)):
            del self._pending[id]
        self._pending.update(self._fresh)
        self._next += len(self._fresh)

    def drop(self) -> None:
        self._fresh.clear()
        self._folding = 0

    def fold(self) -> tuple[int, int | None]:
        """Bring the oldest half into the tables, or some more.

        Returns how many these are, and which row of the journal is needed for the rest, None for none.
        """
        count = min(len(self._pending), max(_FOLDED_AT_ONCE, len(self._pending) // 2))
        games = [(id, game, document) for id, (_, game, document) in islice(self._pending.items(), count)]
        if games:
            self.insert(games)
        self._folding = count
        return count, next((row for row, *_ in islice(self._pending.values(), count, None)), None)

    def of(self, player: str, limit: int, before: int | None) -> list[tuple[int, Any]]:
        """Return a player's games with their ids, newest first, without damaged ones."""
        older_than = _LARGEST_ID if before is None else min(before, _LARGEST_ID)
        pending = (
            (id, game)
            for id, (_, game, _) in reversed(self._pending.items())
            if id < older_than and player in self._spec.people(game)
        )
        newest = list(islice(pending, limit))
        found = self._database.execute(
            """SELECT id, document FROM archive WHERE id IN (
                SELECT game FROM archive_players WHERE player = ? AND game < ? ORDER BY game DESC LIMIT ?
            ) ORDER BY id DESC""",
            (player, older_than, limit - len(newest)),
        )
        return newest + readable(self._spec, found.fetchall())

    def after(self, cursor: int, limit: int) -> tuple[list[tuple[int, Any]], int | None]:
        """Return some games behind an id, without damaged ones, and the id to go on behind, None at the end."""
        rows = self._database.execute(
            "SELECT id, document FROM archive WHERE id > ? ORDER BY id LIMIT ?", (min(cursor, _LARGEST_ID), limit)
        ).fetchall()
        if rows:
            return readable(self._spec, rows), rows[-1][0]
        pending = ((id, game) for id, (_, game, _) in self._pending.items() if id > cursor)
        games = list(islice(pending, limit))
        return games, games[-1][0] if games else None

    def find(self, id: int) -> Any | None:
        if id in self._pending:
            return self._pending[id][1]
        found = self._database.execute("SELECT document FROM archive WHERE id = ?", (min(id, _LARGEST_ID),)).fetchone()
        return None if found is None else self._spec.read(None, found[0])

    def at(self, room: str, number: int) -> list[tuple[int, Any]]:
        """Return the games of a place with their ids, without damaged ones."""
        pending = [(id, game) for id, (_, game, _) in self._pending.items() if self._spec.place(game) == (room, number)]
        found = self._database.execute(
            "SELECT id, document FROM archive WHERE room = ? AND game = ?", (room, min(number, _LARGEST_ID))
        )
        return readable(self._spec, found.fetchall()) + pending

    def old(self, at: int) -> list[tuple[int, list[str]]]:
        """Return the ids and players of some games that ended before a moment, the oldest, of those in the tables."""
        found = self._database.execute(
            "SELECT id, players, finished_at FROM archive ORDER BY id LIMIT ?", (_FORGOTTEN_AT_ONCE,)
        ).fetchall()
        old = [row for row in checked(found, int, str, int) if row[2] < at]
        try:
            return [(id, _decode_players(players)) for id, players, _ in old]
        except msgspec.DecodeError as error:
            raise Damaged(f"who played is no list: {error}") from error

    def forget(self, at: int) -> bool:
        """Forget those of `old`; tell whether more may follow."""
        old = self.old(at)
        self._database.execute_many("DELETE FROM archive WHERE id = ?", [(id,) for id, _ in old])
        self._database.execute_many(
            "DELETE FROM archive_players WHERE player = ? AND game = ?",
            [(player, id) for id, players in old for player in players],
        )
        return len(old) == _FORGOTTEN_AT_ONCE

    def newest(self) -> int:
        """Return the largest id in the tables, 0 for none."""
        (newest,) = self._database.execute("SELECT ifnull(max(id), 0) FROM archive").fetchone()
        return int(newest)

    def insert(self, games: Iterable[tuple[int, Any, bytes]]) -> None:
        """Bring games, with their ids and documents, into the tables; what is there stays."""
        rows: list[tuple[object, ...]] = []
        people: list[tuple[str, int]] = []
        for id, game, document in games:
            players = self._spec.people(game)
            rows.append((id, *self._spec.place(game), self._spec.at(game), _json(players), document.decode()))
            people += [(player, id) for player in players]
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


def readable(spec: GameSpec[Game], documents: Iterable[tuple[int, bytes]]) -> list[tuple[int, Game]]:
    """Return the games of documents with their ids; those that are damaged are logged and left out."""
    games = []
    for id, document in documents:
        try:
            games.append((id, spec.read(None, document)))
        except Unreadable as damaged:
            log.error("a damaged game is left out", id=id, reason=str(damaged))
    return games


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
