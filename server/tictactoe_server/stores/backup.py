"""Consistent copies of a database, also of one that a server is working on.

The copy is made by a pure reader: SQLite before 3.51.3 can damage the write-ahead log of a database when two
connections write or checkpoint at once, so the running server's connection stays the only one that does. A reader
takes its snapshot without stopping the server; the log just grows until it is done.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tictactoe_server.stores.schema import FILE_NAME, check_ours, sync_folder
from tictactoe_server.stores.store import CannotOpenStore


class CannotBackUp(Exception):
    """No copy was made, and nothing was overwritten; the message is a sentence for the operator."""


def back_up(folder: Path, target: Path) -> None:
    """Write a copy of the folder's database as of now to a new file that only its owner may read.

    The copy is checked and on disk before it gets its name. Blocks until then. Raises `CannotBackUp`.
    """
    source = folder / FILE_NAME
    if not source.is_file():
        raise CannotBackUp(f"There is no database in {folder}.")
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
