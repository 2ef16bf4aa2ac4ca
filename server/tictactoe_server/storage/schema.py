"""The database file of a server: how it is opened, which tables it has, and how older files become today's.

A row of the journal has many lines, each of a room or a finished game. A file that is not ours, or that a newer
version wrote, is refused before anything in it changes. Damage is what is in a file and is not what was written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from tictactoe_server.storage.specs import GameSpec, TableSpec
from tictactoe_server.storage.store import CannotOpenStore

APPLICATION_ID: Final = 0x74746F65  # marks the file as ours, for us and for programs like ``file``
BUSY_SECONDS: Final = 2.0  # how long another program may keep the file locked before a transaction is given up
_WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024
_PAGES_BETWEEN_CHECKPOINTS: Final = 4_000

TODAY: Final = "CAST(strftime('%s', 'now') AS INTEGER) / 86400"  # the number of the day in SQL, counted from 1970
MIGRATIONS: Final[Sequence[Sequence[str]]] = (
    (
        """CREATE TABLE documents (
            id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, document BLOB NOT NULL
        )""",
        "CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
        "INSERT INTO counters VALUES ('revisions', 0)",
        "CREATE TABLE server (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
        """CREATE TABLE archive (
            id INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT NOT NULL, game INTEGER NOT NULL,
            finished_at INTEGER NOT NULL, players TEXT NOT NULL, document BLOB NOT NULL
        )""",
        """CREATE TABLE archive_players (
            player TEXT NOT NULL, game INTEGER NOT NULL, PRIMARY KEY (player, game)
        ) WITHOUT ROWID""",
    ),
    (
        "CREATE TABLE rooms (code TEXT PRIMARY KEY, revision INTEGER NOT NULL, document BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE players (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, document BLOB NOT NULL) WITHOUT ROWID",
        "CREATE TABLE journal (id INTEGER PRIMARY KEY, batch BLOB NOT NULL)",
        "INSERT INTO rooms SELECT substr(key, 6), revision, document FROM documents WHERE key LIKE 'room/%'",
        "INSERT INTO players SELECT substr(key, 8), revision, document FROM documents WHERE key LIKE 'player/%'",
        "DROP TABLE documents",
        "DROP TABLE counters",
    ),
    (
        "CREATE TABLE bans (key TEXT PRIMARY KEY, document BLOB NOT NULL) WITHOUT ROWID",
        "ALTER TABLE players ADD COLUMN seen INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE players ADD COLUMN seated INTEGER NOT NULL DEFAULT 1",
        f"UPDATE players SET seen = {TODAY}",
    ),
    (
        """CREATE TABLE shares (
            key TEXT PRIMARY KEY, finished_at INTEGER NOT NULL, document BLOB NOT NULL
        ) WITHOUT ROWID""",
    ),
)
"""What leads from each schema number to the next, from 0, an empty file. Only ever append."""

SCHEMA: Final = len(MIGRATIONS)

JOURNALED: Final = "rooms"  # the table whose newest values stand in the journal
_COLUMNS: Final = {
    "rooms": ("code", "revision", "document"),
    "players": ("key", "revision", "document", "seen", "seated"),
    "bans": ("key", "document"),
    "shares": ("key", "finished_at", "document"),
}
"""Of the tables that migrations make; all others are like that of the players."""

TIME: Final = "served-ms"
ORIGIN: Final = "copy-of"
"""The keys of the table of what servers note."""

SCRUBBED: Final = "scrubbed"
"""The key under which it is noted there that a file holds nothing of what was deleted."""

GAME: Final = "+"  # stands in the line of a finished game where that of a room has its code

_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_NO_TEXT: Final = "Could not decode to UTF-8"

Row = TypeVar("Row", bound=tuple[Any, ...])
JournalLine = tuple[str, int, bytes]
"""A room's code, revision and newest document, empty for one that is forgotten; or `GAME`, a game's id and document."""


class NewerSchema(CannotOpenStore):
    """The file was written by a newer version; `found` and `known` are the two schema numbers."""

    def __init__(self, path: Path | None, found: int, known: int) -> None:
        super().__init__(
            f"The database {path} has schema {found}, but this version knows schemas up to {known}: "
            "install the newer version again, or restore a backup."
        )
        self.found = found
        self.known = known


class ForeignFile(CannotOpenStore):
    """The file says that it is another program's."""


class Damaged(sqlite3.DatabaseError):
    """What SQLite read without a complaint is not what was written."""


def checked(rows: Sequence[Row], *kinds: type) -> Sequence[Row]:
    """Return rows whose values are of these kinds; raises `Damaged` for others."""
    for row in rows:
        if not all(map(isinstance, row, kinds)):
            raise Damaged(f"a row holds something else than was written: {row!r:.100}")
    return rows


def code_of(error: BaseException) -> int:
    """Return SQLite's own primary code of an error, 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Tell whether an error says that what is in the file is not what was written."""
    return (
        isinstance(error, (Damaged, ForeignFile, UnicodeDecodeError))
        or code_of(error) in _DAMAGE
        or (isinstance(error, sqlite3.Error) and str(error).startswith(_NO_TEXT))
    )


def open_database(path: Path | None, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> sqlite3.Connection:
    """Return a connection to the database with today's tables, made where it is missing; raises `CannotOpenStore`.

    With None it is a private one in memory. The connection may be handed to another thread.
    """
    try:
        connection = sqlite3.connect(
            path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _check_ours(connection, path)
            _migrate(connection, path, migrations)
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        raise CannotOpenStore(f"Cannot open the database {path}: {error}. Nothing in it was changed.") from error
    return connection


def columns_of(spec: TableSpec[Any]) -> tuple[str, ...]:
    """Return the columns of a table in their order, the key first; not every table has a revision."""
    return _COLUMNS.get(spec.name) or ("key", "revision", "document", *spec.rows.names)


def insert_into(spec: TableSpec[Any]) -> str:
    """Return the statement that puts a row, with its columns by name, in the place of that with its key."""
    columns = columns_of(spec)
    return f"INSERT OR REPLACE INTO {spec.name} ({', '.join(columns)}) VALUES (:{', :'.join(columns)})"


def insert_games(cursor: sqlite3.Cursor, spec: GameSpec[Any], games: Iterable[tuple[int, Any, bytes]]) -> None:
    """Bring games, with their ids and documents, into the tables; what is there stays.

    Two statements do that for all, since the store's thread waits for its turn after each.
    """
    rows = [(id, *spec.place(game), spec.at(game), spec.people(game), text.decode()) for id, game, text in games]
    told = (msgspec.json.encode(rows).decode(),)
    fields = ", ".join(f"json_extract(value, '$[{index}]')" for index in range(5))
    cursor.execute(
        "INSERT OR IGNORE INTO archive (id, room, game, finished_at, players, document) "
        f"SELECT {fields}, CAST(json_extract(value, '$[5]') AS BLOB) FROM json_each(?)",
        told,
    )
    cursor.execute(
        "INSERT OR IGNORE INTO archive_players SELECT player.value, json_extract(game.value, '$[0]') "
        "FROM json_each(?) AS game, json_each(game.value, '$[4]') AS player",
        told,
    )


def make_tables(connection: sqlite3.Connection, tables: Sequence[TableSpec[Any]]) -> None:
    """Make the tables that no migration makes, where they are missing."""
    for spec in tables:
        if spec.name not in _COLUMNS:
            key, revision, document, *numbers = columns_of(spec)
            more = "".join(f", {name} INTEGER NOT NULL" for name in numbers)
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {spec.name} ({key} TEXT PRIMARY KEY, {revision} INTEGER NOT NULL, "
                f"{document} BLOB NOT NULL{more}) WITHOUT ROWID"
            )


def unknown_tables(connection: sqlite3.Connection, tables: Sequence[TableSpec[Any]]) -> list[str]:
    """Return the tables of a database that are neither the store's own nor among these."""
    known = {"server", "archive", "archive_players", "journal", *(spec.name for spec in tables)}
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return sorted(name for (name,) in names if name not in known)


def journal_line(name: str, number: int, document: bytes) -> bytes:
    """Return a line of the journal as bytes; see `JournalLine`."""
    return b"%b %d %b" % (name.encode(), number, document)


def lines_of(batch: bytes) -> Iterator[JournalLine | None]:
    """Yield the lines of a row of the journal, None for one that is damaged."""
    for line in filter(None, batch.split(b"\n")):
        try:
            name, number, document = line.split(b" ", 2)
            yield name.decode("ascii"), int(number), document
        except ValueError:
            yield None


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database of ours to read from, also one of a server that runs; raises sqlite3.Error and `ForeignFile`."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        _check_ours(connection, path)
        yield connection


def version_of(path: Path) -> int:
    """Return the schema number of a database of ours, 0 where there is none that could be read."""
    try:
        with reading(path) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
    except (sqlite3.Error, UnicodeDecodeError, CannotOpenStore):
        return 0
    return int(version)


def refuse_newer(path: Path) -> None:
    """Raise `NewerSchema` for a database of a newer version."""
    if (version := version_of(path)) > SCHEMA:
        raise NewerSchema(path, version, SCHEMA)


def _check_ours(connection: sqlite3.Connection, path: Path | None) -> None:
    """Raise `ForeignFile` where the file holds the tables of another program."""
    (id,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if id != APPLICATION_ID and (id or tables):
        raise ForeignFile(f"The database {path} belongs to another program. Nothing in it was changed.")


def _migrate(connection: sqlite3.Connection, path: Path | None, migrations: Sequence[Sequence[str]]) -> None:
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found > len(migrations):
        raise NewerSchema(path, found, len(migrations))
    if found == len(migrations):
        return
    with closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        for statements in migrations[found:]:
            for statement in statements:
                cursor.execute(statement)
        if not found:
            cursor.execute("INSERT INTO server VALUES (?, x'31')", (SCRUBBED,))
        cursor.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        cursor.execute(f"PRAGMA user_version = {len(migrations)}")
        cursor.execute("COMMIT")


def _set_up(connection: sqlite3.Connection) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode not in ("wal", "memory"):
        raise sqlite3.OperationalError(f"its disk does not allow a write-ahead log, only {mode}")
    connection.execute("CREATE INDEX IF NOT EXISTS archive_rooms ON archive (room)")  # older versions keep it up, too
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_BETWEEN_CHECKPOINTS}")
