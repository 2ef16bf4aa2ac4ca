"""Consistent copies of a database, also of one that a server is working on, and a copy put back in its place.

A copy is made by a pure reader: SQLite before 3.51.3 can damage the write-ahead log of a database when two connections
write or checkpoint at once, so the running server's connection stays the only one that does. A reader takes its
snapshot without stopping the server; the log just grows until it is done. Nothing is ever overwritten.
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

from tictactoe_server.storage.folder import FILE_NAME, DataFolder, files_of, flush, free_name
from tictactoe_server.storage.schema import SCHEMA, Damaged, is_damage, reading, refuse_newer, version_of
from tictactoe_server.storage.store import CannotMove, CannotOpenStore

log: Final = structlog.get_logger(__name__)


class CannotBackUp(CannotMove):
    """No copy was made, and nothing was overwritten; the message is a sentence for the operator."""


def back_up(folder: Path, target: Path) -> None:
    """Write a copy of the folder's database as of now to a new file that only its owner may read.

    The copy is checked and on disk before it gets its name. Blocks until then. Raises `CannotBackUp`.
    """
    _copy(database_in(folder), target)


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
        _copy(source, target)
    except CannotBackUp as error:
        if is_damage(error.__cause__ or error):
            log.warning("the database is of an older version, and damaged", reason=str(error))
            return
        raise CannotOpenStore(f"{error} It is of an older version: without a copy it is left as it is.") from error
    log.warning("the database is of an older version: it is brought forward, and a copy stays", copy=str(target))


def restore_backup(folder: Path, backup: Path) -> list[Path]:
    """Put a copy that `back_up` made in the place of a folder's database; return where what was there is now.

    Raises `CannotBackUp`, `NewerSchema`, and `FolderInUse` while a server runs there; then nothing has changed.
    """
    if not backup.is_file():
        raise CannotBackUp(f"There is no file {backup}.")
    refuse_newer(backup)
    held = DataFolder(folder)
    database, fresh, moved = folder / FILE_NAME, folder / f"{FILE_NAME}.restored", []
    try:
        if database.exists():
            held.hold_database()
        fresh.unlink(missing_ok=True)
        _copy(backup, fresh)
        for path, aside in zip(files_of(database), files_of(free_name(database, "replaced")), strict=True):
            if path.exists():
                path.rename(aside)
                moved.append(aside)
        fresh.rename(database)
        held.write_mark(0)
        flush(folder)
    except OSError as error:
        raise CannotBackUp(f"Cannot put {backup} into {folder}: {error.strerror or error}.") from error
    finally:
        held.release()
    return moved


def database_in(folder: Path) -> Path:
    """Return where the database of a folder is; raises `CannotBackUp` where there is none."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise CannotBackUp(f"There is no database in {folder}.")
    return path


def _copy(source: Path, target: Path) -> None:
    """Copy one file to a new one, as a single file without a log, and read all of it back."""
    if target.exists():
        raise CannotBackUp(f"{target} exists already. Nothing was overwritten.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".partial", dir=target.absolute().parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            with reading(source) as reader, closing(sqlite3.connect(partial)) as copy:
                reader.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
                if found != "ok":
                    raise Damaged(f"the database is damaged: {found}")
            flush(partial)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        flush(target.absolute().parent)
    except CannotOpenStore as error:
        raise CannotBackUp(str(error)) from error
    except (sqlite3.Error, OSError) as error:
        raise CannotBackUp(f"Cannot copy {source} to {target}: {error}.") from error
