"""Makes consistent copies of a database, also while a server uses it, and restores them.

A read-only connection takes the snapshot, because SQLite before 3.51.3 can damage the write-ahead log if two
connections write or checkpoint at once. Meanwhile, a running server's log grows. No existing file is ever overwritten.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tictactoe_server import OperatorError
from tictactoe_server.storage.folder import FILE_NAME, DataFolder, files_of, flush, free_name, mark_of
from tictactoe_server.storage.schema import Damaged, check_file, check_saves, reading


def restore_backup(folder: Path, backup: Path) -> list[Path]:
    """Replace the database in `folder` with `backup`, which may also be a recovered database.

    The new file belongs to the owner of the folder if root restores it. Returns the new paths of the old files, which
    are renamed. May raise `OperatorError`, for instance while a server uses the folder.
    """
    if not backup.is_file():
        raise OperatorError(f"There is no file {backup}.")
    check_file(backup)
    check_file(folder / FILE_NAME)
    held = DataFolder(folder)
    database, fresh, moved = folder / FILE_NAME, folder / f"{FILE_NAME}.restored", []
    try:
        if database.exists():
            held.hold_database()
        fresh.unlink(missing_ok=True)
        back_up(backup, fresh)
        for path, aside in zip(files_of(database), files_of(free_name(database, "replaced")), strict=True):
            if path.exists():
                path.rename(aside)
                moved.append(aside)
        fresh.rename(database)
        held.write_mark(0)
        if os.geteuid() == 0:
            _give_to_owner(folder)
        flush(folder)
    except OSError as error:
        raise OperatorError(f"Cannot restore {backup} to {folder}: {error.strerror or error}.") from error
    finally:
        held.release()
    return moved


def _give_to_owner(folder: Path) -> None:
    """Give the files in a data folder, which root may have created, to the folder's owner, whose server opens them."""
    owner = folder.stat()
    for path in folder.iterdir():
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def database_in(folder: Path) -> Path:
    """Return the path of the database in `folder`, or raise `OperatorError` if there is none."""
    path = folder / FILE_NAME
    if not path.is_file():
        raise OperatorError(
            f"There is no database in {folder}. To copy a cluster's store: tictactoe-server move STORE FOLDER"
        )
    return path


def back_up(source: Path, target: Path) -> None:
    """Write a snapshot of the database `source`, with its log, to the new, private file `target`.

    When this function returns, the file has been verified and is durable. May raise `OperatorError`, in particular
    `SavesMissing`.
    """
    mark = mark_of(source)  # before the snapshot, which a running server's next saves may miss
    if target.exists():
        raise OperatorError(f"{target} already exists. Nothing was overwritten.")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".partial", dir=target.absolute().parent)
        os.close(descriptor)
        partial = Path(name)
        try:
            with reading(source) as reader, closing(sqlite3.connect(partial)) as copy:
                if not reader.execute("SELECT 1 FROM sqlite_schema").fetchone():
                    raise OperatorError(f"{source} is empty: it has no data of tictactoe-server. Nothing was changed.")
                reader.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                (found,) = copy.execute("PRAGMA integrity_check(1)").fetchone()
                if found != "ok":
                    raise Damaged(f"the database is damaged: {found}")
            check_saves(source, mark, partial)
            flush(partial)
            partial.rename(target)
        finally:
            partial.unlink(missing_ok=True)
        flush(target.absolute().parent)
    except (sqlite3.Error, OSError) as error:
        raise OperatorError(f"Cannot copy {source} to {target}: {error}.") from error
