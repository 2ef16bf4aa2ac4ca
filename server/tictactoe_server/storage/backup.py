"""Consistent copies of a database, also of one that a server is working on.

The copy is made by a pure reader: SQLite before 3.51.3 can damage the write-ahead log of a database when two
connections write or checkpoint at once, so the running server's connection stays the only one that does. A reader
takes its snapshot without stopping the server; the log just grows until it is done.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

import structlog

from tictactoe_server.storage.folder import FILE_NAME, sync_folder
from tictactoe_server.storage.schema import SCHEMA, check_ours, version_of
from tictactoe_server.storage.store import CannotOpenStore

log: Final = structlog.get_logger(__name__)


class CannotBackUp(Exception):
    """No copy was made, and nothing was overwritten; the message is a sentence for the operator."""


class DamagedDatabase(CannotBackUp):
    """There is something in the database that cannot be read."""


def back_up(folder: Path, target: Path) -> None:
    """Write a copy of the folder's database as of now to a new file that only its owner may read.

    The copy is checked and on disk before it gets its name. Blocks until then. Raises `CannotBackUp`.
    """
    source = folder / FILE_NAME
    if not source.is_file():
        raise CannotBackUp(f"There is no database in {folder}.")
    copy_database(source, target)


def keep_older(folder: Path) -> None:
    """Keep a copy of a database that is of an older version beside it, before it is brought forward.

    Raises `CannotOpenStore` where that is impossible. A damaged one stays as it is: what is made of it is a new file.
    """
    source = folder / FILE_NAME
    version = version_of(source)
    if not 0 < version < SCHEMA:
        return
    name = f"{FILE_NAME}.schema-{version}"
    copies = (source.with_name(name if number == 1 else f"{name}-{number}") for number in itertools.count(1))
    target = next(copy for copy in copies if not copy.exists())
    try:
        copy_database(source, target)
    except DamagedDatabase as damaged:
        log.warning("the database is of an older version, and damaged", reason=str(damaged))
    except CannotBackUp as error:
        raise CannotOpenStore(f"{error} It is of an older version: without a copy it is left as it is.") from error
    else:
        log.warning("the database is of an older version: it is brought forward, and a copy stays", copy=str(target))


def copy_database(source: Path, target: Path) -> None:
    """Write a copy of a database as of now to a new file; see `back_up`."""
    if target.exists():
        raise CannotBackUp(f"{target} exists already. Nothing was overwritten.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".partial", dir=target.absolute().parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            _copy(source, partial)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        sync_folder(target.absolute().parent)
    except CannotOpenStore as error:
        raise CannotBackUp(str(error)) from error
    except sqlite3.DatabaseError as error:
        kind = CannotBackUp if isinstance(error, sqlite3.OperationalError) else DamagedDatabase
        raise kind(f"Cannot copy {source} to {target}: {error}.") from error
    except (sqlite3.Error, OSError) as error:
        raise CannotBackUp(f"Cannot copy {source} to {target}: {error}.") from error


def _copy(source: Path, target: Path) -> None:
    """Copy one file to an empty one, as a single file without a log, and read all of it back."""
    read_only = f"{source.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(read_only, uri=True)) as reader, closing(sqlite3.connect(target)) as copy:
        check_ours(reader, source)
        reader.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(f"the database is damaged: {found}")
    descriptor = os.open(target, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
