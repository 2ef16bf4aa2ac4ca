"""The database file of a server: its tables, the checks before it is opened, and the errors that indicate damage.

The rule of this module: a database that another major version or another program wrote is refused before a single byte
of it changes.
"""

from __future__ import annotations

import shlex
import sqlite3
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from tictactoe_server import clock
from tictactoe_server.files import open_regular
from tictactoe_server.storage.specs import TableSpec
from tictactoe_server.storage.store import CannotOpenStore, Unreadable

APPLICATION_ID: Final = 0x74746F32  # identifies the file to this program and to programs like ``file``
SCHEMA: Final = 1
BUSY_SECONDS: Final = 2.0  # a transaction fails if another program keeps the file locked for longer
CHECK_SECONDS: Final = 1.0  # time for the damage check at startup: enough for 500 MB, more than most databases have
_WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024
_PAGES_BETWEEN_CHECKPOINTS: Final = 4_000
_STEPS_BETWEEN_LOOKS: Final = 50_000
_MAX_FINDINGS: Final = 3
_PROGRAM: Final = "tictactoe-server"

_VERSION_1_ID: Final = 0x74746F65
_MAGIC: Final = b"SQLite format 3\0"
_VERSION_PLACE, _ID_PLACE = slice(60, 64), slice(68, 72)  # in the first page, see sqlite.org/fileformat2.html

JOURNALED: Final = "rooms"  # the table whose newest values are stored in the journal
_OWN_TABLES: Final = (
    "CREATE TABLE server (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE journal (id INTEGER PRIMARY KEY, batch BLOB NOT NULL)",
    """CREATE TABLE archive (
        id INTEGER PRIMARY KEY AUTOINCREMENT, room TEXT NOT NULL, game INTEGER NOT NULL,
        finished_at INTEGER NOT NULL, document BLOB NOT NULL
    )""",
    "CREATE INDEX archive_rooms ON archive (room)",
    "CREATE TABLE archive_players (player TEXT, game INTEGER, PRIMARY KEY (player, game)) WITHOUT ROWID",
)
_OWN_NAMES: Final = frozenset({"server", "journal", "archive", "archive_players"})

_INDEX: Final = (
    "CREATE TABLE persons (place TEXT, key TEXT, person TEXT, PRIMARY KEY (place, key, person)) WITHOUT ROWID",
    "CREATE INDEX persons_of ON persons (person)",
)
"""The index of persons: which values, by table (`place`) and key, mention them. It is rebuilt if it is missing."""

TIME: Final = "served-ms"
ORIGIN: Final = "copy-of"
"""The keys in the table ``server``."""

_decode_text: Final = partial(bytes.decode, errors="replace")  # so that damaged text affects only its own row
_DAMAGE: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})

Row = TypeVar("Row", bound=tuple[Any, ...])


class DamagedDatabase(CannotOpenStore):
    """The file is damaged. The message contains SQLite's `findings` and the commands that recover readable data."""

    def __init__(self, path: Path, findings: Sequence[str], *, is_backup: bool = False) -> None:
        self.findings = findings
        recovered = path.with_name("recovered.sqlite3")
        database, target = (shlex.quote(str(file.absolute())) for file in (path, recovered))
        noun, advice, restore = (
            "database",
            "To recover all readable data into its place (the damaged file is kept beside it):",
            f" && {restore_command(path.parent, recovered)}",
        )
        if is_backup:
            noun, restore = "backup", ""
            advice = "Use another backup. If there is none, recover all readable data into a file to restore instead:"
        super().__init__(
            f"The {noun} {path} is damaged: {'; '.join(findings)}. Nothing in it was changed.\n{advice}\n"
            f"  sqlite3 -readonly {database} .recover | sqlite3 {target}{restore}\n"
            "It requires an sqlite3 program with `.recover`, such as the one from sqlite.org (Debian 12's lacks it)."
        )


class SavesMissing(CannotOpenStore):
    """The database has fewer batches of saves than the folder's mark says were stored."""

    def __init__(self, path: Path, missing: int) -> None:
        if path.exists():
            recovered = path.with_name("recovered.sqlite3")
            recover = program_command("--data", path.parent, "recover", recovered)
            advice = f"To recover the missing saves into a copy:\n  {recover}"
        else:
            advice = "Put the file back, restore a backup, or start with an empty folder."
        super().__init__(
            f"The last {missing} batches of saves are missing in the database {path}: the file or its write-ahead log "
            f"(-wal) was damaged, truncated, lost or replaced. Nothing in it was changed.\n{advice}"
        )


class Damaged(sqlite3.DatabaseError):
    """SQLite read a value without an error, but the value cannot be what was written."""


def restore_command(folder: Path, file: Path) -> str:
    """Return the command that restores a file into a data folder."""
    return program_command("--data", folder, "restore", file)


def program_command(*words: str | Path) -> str:
    """Return a command line that starts this program in the same way, with paths made absolute."""
    program = sys.argv[0] if Path(sys.argv[0]).name == _PROGRAM else _PROGRAM
    return shlex.join([program, *(str(word.absolute()) if isinstance(word, Path) else word for word in words)])


def checked(rows: Sequence[Row], *kinds: type) -> Sequence[Row]:
    """Return the rows; raise `Damaged` if a value is not of the type that `kinds` states for its column."""
    for row in rows:
        if not all(map(isinstance, row, kinds)):
            raise Damaged(f"a row holds something else than was written: {row!r:.100}")
    return rows


def code_of(error: BaseException) -> int:
    """Return SQLite's primary result code of an error, or 0 if the error has none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Return True if an error indicates that the file is damaged."""
    # Python cannot decode some of SQLite's own messages about a damaged schema.
    return isinstance(error, (Damaged, DamagedDatabase, UnicodeDecodeError)) or code_of(error) in _DAMAGE


def check_file(path: Path) -> None:
    """Raise `CannotOpenStore` if the file is a database that this version did not write.

    Only the header is read, as plain bytes, so that not even SQLite's auxiliary files change. A file that is missing,
    empty or too damaged to identify passes the check.
    """
    try:
        with open_regular(path) as file:
            head = file.read(_ID_PLACE.stop)
    except OSError:
        if path.exists() and not path.is_file():
            raise CannotOpenStore(f"The database {path} is not a regular file.") from None
        return
    if len(head) < _ID_PLACE.stop or not head.startswith(_MAGIC):
        return
    id, schema = (int.from_bytes(head[place], "big") for place in (_ID_PLACE, _VERSION_PLACE))
    if id == _VERSION_1_ID:
        raise CannotOpenStore(
            f"The data in {path.parent} was written by version 1 of tictactoe-server, "
            "which version 2 cannot read. Keep using version 1, or choose an empty folder with --data. "
            "Nothing was changed."
        )
    if id not in (0, APPLICATION_ID):
        raise CannotOpenStore(f"The database {path} belongs to another program. Nothing in it was changed.")
    if schema > SCHEMA:
        raise CannotOpenStore(
            f"The database {path} has schema {schema}, but this version supports schemas up to {SCHEMA}. "
            "Install the newer version again, or restore a backup."
        )


def find_damage(path: Path) -> list[str]:
    """Check a database for damage for at most `CHECK_SECONDS`, without changing it; return at most three findings."""
    deadline = clock.monotonic() + CHECK_SECONDS
    try:
        with closing(_open_read_only(path)) as connection:
            connection.set_progress_handler(lambda: clock.monotonic() > deadline, _STEPS_BETWEEN_LOOKS)
            texts = [text for (text,) in connection.execute(f"PRAGMA quick_check({_MAX_FINDINGS})")]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        return [str(error)] if is_damage(error) else []
    return [" ".join(text.split()) for text in texts if text != "ok"]


def count_batches(path: Path) -> int:
    """Return the number of batches of saves ever written to a database, or 0 if it is missing or empty.

    The database is not changed. May raise sqlite3.Error.
    """
    if not path.exists():
        return 0
    with closing(_open_read_only(path)) as connection:
        if not _tables_of(connection):
            return 0
        (newest,) = connection.execute("SELECT ifnull(max(id), 0) FROM journal").fetchone()
        return int(newest)


def check_saves(database: Path, mark: int, copy: Path | None = None) -> None:
    """Raise `SavesMissing` if a database, or a copy just made of it, has fewer batches of saves than `mark`."""
    missing = mark - count_batches(copy or database) if mark else 0
    if missing > 0:
        raise SavesMissing(database, missing)


def open_database(path: Path | None, specs: Sequence[TableSpec[Any]]) -> sqlite3.Connection:
    """Open a database that passed `check_file`, or an in-memory database if `path` is None.

    Missing tables are created. Any thread may use the connection. May raise `CannotOpenStore`.
    """
    try:
        connection = sqlite3.connect(
            path or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = _decode_text
        try:
            _check_ours(connection, path)
            _create(connection)
            _set_up(connection)
            _create_tables(connection, specs)
            _create_index(connection, specs)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        raise CannotOpenStore(f"Cannot open the database {path}: {error}. Nothing in it was changed.") from error
    return connection


def unknown_tables(connection: sqlite3.Connection, specs: Sequence[TableSpec[Any]]) -> list[str]:
    """Return the names of the tables in a database that are neither the store's own nor in `specs`."""
    return sorted(_tables_of(connection) - _OWN_NAMES - {"persons"} - {spec.name for spec in specs})


def index_persons(cursor: sqlite3.Cursor, place: str, key: str, ids: Collection[str]) -> None:
    """Replace the index entries of a value: `Storage.keys_of` then finds the value by these persons' ids.

    Args:
        place: The name of the value's table.
    """
    rows = cursor.execute("SELECT person FROM persons WHERE place = ? AND key = ?", (place, key)).fetchall()
    if {id for (id,) in rows} != set(ids):
        cursor.execute("DELETE FROM persons WHERE place = ? AND key = ?", (place, key))
        cursor.executemany("INSERT INTO persons VALUES (?, ?, ?)", [(place, key, id) for id in ids])


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database read-only, even while a server uses it. May raise sqlite3.Error or `CannotOpenStore`."""
    check_file(path)
    with closing(_open_read_only(path)) as connection:
        yield connection


def _open_read_only(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = _decode_text
    try:
        _check_ours(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _tables_of(connection: sqlite3.Connection) -> set[str]:
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name for (name,) in names}


def _check_ours(connection: sqlite3.Connection, path: Path | None) -> None:
    """Raise `CannotOpenStore` if the database belongs to another program.

    A recovered database may have lost its application id with its first page; it is recognised by its tables.
    """
    (id,) = connection.execute("PRAGMA application_id").fetchone()
    tables = _tables_of(connection)
    if id != APPLICATION_ID and (id or (tables and not tables >= _OWN_NAMES)):
        raise CannotOpenStore(f"The database {path} belongs to another program. Nothing in it was changed.")


def _create(connection: sqlite3.Connection) -> None:
    """Create the store's own tables if the database is empty, and set its application id and schema version."""
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    if found:
        return
    with closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        for statement in () if _tables_of(connection) else _OWN_TABLES:
            cursor.execute(statement)
        cursor.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        cursor.execute(f"PRAGMA user_version = {SCHEMA}")
        cursor.execute("COMMIT")


def _create_tables(connection: sqlite3.Connection, specs: Sequence[TableSpec[Any]]) -> None:
    """Create the missing tables of these specs. Raise `Damaged` if the name of a table is damaged."""
    if bad := [name for name in unknown_tables(connection, specs) if not name.isascii()]:
        raise Damaged(f"a table is called {bad[0]!r}")
    for spec in specs:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {spec.name} "
            "(key TEXT PRIMARY KEY, revision INTEGER NOT NULL, document BLOB NOT NULL) WITHOUT ROWID"
        )


def _create_index(connection: sqlite3.Connection, specs: Sequence[TableSpec[Any]]) -> None:
    if "persons" in _tables_of(connection):
        return
    with closing(connection.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        for statement in _INDEX:
            cursor.execute(statement)
        for spec in (spec for spec in specs if spec.persons_of.is_indexed):
            for key, document in connection.execute(f"SELECT key, document FROM {spec.name}"):
                with suppress(Unreadable):
                    index_persons(cursor, spec.name, key, spec.indexed_ids(spec.read(key, document)))
        cursor.execute("COMMIT")


def _set_up(connection: sqlite3.Connection) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode not in ("wal", "memory"):
        raise sqlite3.OperationalError(f"its disk does not allow a write-ahead log, only {mode}")
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_BETWEEN_CHECKPOINTS}")
