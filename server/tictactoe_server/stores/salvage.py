"""A new database out of a damaged one: every row that can still be read, and the damaged file kept beside it.

One bad page of a b-tree fails whoever walks over it, and nobody else. So tables are read range by range, and a range
that fails is read from its other end, too.
"""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from tictactoe_protocol import ROOM_CODE_ALPHABET
from tictactoe_server.stores.folder import sync_folder
from tictactoe_server.stores.schema import TODAY, open_database

Row = tuple[Any, ...]
Ranges = Iterable[tuple[int | str, int | str]]
"""From where to where (without the end) a table is read at once."""

_GAMES_AT_ONCE: Final = 64
_AFTER_ALL_LETTERS: Final = "~"

_BY_ID: Final = "SELECT * FROM {} WHERE id >= ? AND id < ? ORDER BY id"
_BY_KEY: Final = "SELECT * FROM {} WHERE key >= ? AND key < ? ORDER BY key"
_OF_DOCUMENTS: Final = (
    "SELECT substr(key, {length} + 1), revision, document{more} FROM documents "
    "WHERE key >= '{prefix}' || ? AND key < '{prefix}' || ? ORDER BY key"
)
_ROOMS: Final = {
    1: _OF_DOCUMENTS.format(prefix="room/", length=5, more=""),
    2: "SELECT * FROM rooms WHERE code >= ? AND code < ? ORDER BY code",
}
_PLAYERS: Final = {
    1: _OF_DOCUMENTS.format(prefix="player/", length=7, more=f", {TODAY}, 1"),
    2: f"SELECT *, {TODAY}, 1 FROM players WHERE key >= ? AND key < ? ORDER BY key",
    3: _BY_KEY.format("players"),
}
"""How rows are read, by the number of the schema."""


def salvage(path: Path) -> tuple[dict[str, int], Path]:
    """Put a new database in the place of a damaged one; return how many rows its tables have, and where the old one is.

    Nobody else may use the file. Raises `sqlite3.Error`, `CannotOpenStore` and OSError, and then nothing has changed.
    """
    fresh, old = path.with_name(f"{path.name}.salvaged"), _free_name(path)
    for leftover in _files(fresh):
        leftover.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with closing(sqlite3.connect(path, isolation_level=None)) as source, closing(open_database(fresh)) as target:
        target.execute("BEGIN")
        (version,) = source.execute("PRAGMA user_version").fetchone()
        counts = {
            "rooms": _copy(source, target, "rooms", _ROOMS[min(version, 2)], _prefixes(ROOM_CODE_ALPHABET, 2)),
            "players": _copy(source, target, "players", _PLAYERS[min(version, 3)], _prefixes("0123456789abcdef", 3)),
            "games": _copy(source, target, "archive", _BY_ID.format("archive"), _game_ids(source)),
        }
        _copy(source, target, "journal", _BY_ID.format("journal"), [(0, 2**63 - 1)])
        _copy(source, target, "server", _BY_KEY.format("server"), [("", _AFTER_ALL_LETTERS)])
        if version >= 3:
            _copy(source, target, "bans", _BY_KEY.format("bans"), [("", _AFTER_ALL_LETTERS)])
        if version >= 4:
            _copy(source, target, "shares", _BY_KEY.format("shares"), [("", _AFTER_ALL_LETTERS)])
        for id, players in target.execute("SELECT id, players FROM archive").fetchall():
            of_players = [(player, id) for player in json.loads(players)]
            target.executemany("INSERT OR IGNORE INTO archive_players VALUES (?, ?)", of_players)
        target.execute("COMMIT")
    os.link(path, old)
    for file, kept in zip(_files(path)[1:], _files(old)[1:], strict=True):
        if file.exists():
            file.rename(kept)
    os.replace(fresh, path)
    sync_folder(path.parent)
    return counts, old


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str, statement: str, ranges: Ranges) -> int:
    """Copy what can be read into a table, range by range, and return how many rows that is."""
    for first, end in ranges:
        try:
            rows = source.execute(f"{statement} ASC", (first, end)).fetchall()
        except sqlite3.DatabaseError:
            rows = [*_walk_up(source, statement, first, end), *_walk_down(source, statement, first, end)]
        for row in rows:
            values = ", ".join("?" * len(row))
            target.execute(f"INSERT OR IGNORE INTO {table} VALUES ({values})", row)
    (count,) = target.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def _walk_up(source: sqlite3.Connection, statement: str, first: int | str, end: int | str) -> Iterator[Row]:
    """Yield rows one after the other, each asked for alone, until one cannot be read."""
    with suppress(sqlite3.DatabaseError):
        while row := source.execute(f"{statement} ASC LIMIT 1", (first, end)).fetchone():
            yield row
            first = row[0] + 1 if isinstance(row[0], int) else f"{row[0]}\0"


def _walk_down(source: sqlite3.Connection, statement: str, first: int | str, end: int | str) -> Iterator[Row]:
    """Yield rows from the last one on, each asked for alone, until one cannot be read."""
    with suppress(sqlite3.DatabaseError):
        while row := source.execute(f"{statement} DESC LIMIT 1", (first, end)).fetchone():
            yield row
            end = row[0]


def _prefixes(alphabet: str, length: int) -> Ranges:
    """Return a range for each beginning of a text."""
    beginnings = map("".join, itertools.product(sorted(alphabet), repeat=length))
    return ((beginning, beginning + _AFTER_ALL_LETTERS) for beginning in beginnings)


def _game_ids(source: sqlite3.Connection) -> Ranges:
    """Return the ranges of the games that there ever were."""
    last = 0
    for statement in ("SELECT seq FROM sqlite_sequence WHERE name = 'archive'", "SELECT max(id) FROM archive"):
        try:
            (found,) = source.execute(statement).fetchone() or (0,)
        except sqlite3.DatabaseError:
            continue
        last = max(last, found or 0)
    return ((first, first + _GAMES_AT_ONCE) for first in range(0, last + 1, _GAMES_AT_ONCE))


def _free_name(path: Path) -> Path:
    """Return a name for the damaged file that nothing has yet."""
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())


def _files(path: Path) -> list[Path]:
    """Return the names of a database and of the files that SQLite keeps beside it."""
    return [path, *(path.with_name(f"{path.name}{suffix}") for suffix in ("-wal", "-shm"))]
