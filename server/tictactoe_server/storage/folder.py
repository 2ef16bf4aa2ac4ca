"""A server's data folder. It is private, and only one server at a time can lock it.

The operating system releases the locks of a process when the process ends, even if it is killed, so a leftover lock
file locks nothing. The folder itself may be a symbolic link, but files in it are never opened through links.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import stat
from pathlib import Path
from typing import Final

import structlog

from tictactoe_server.files import open_regular
from tictactoe_server.storage.store import CannotOpenStore

FILE_NAME: Final = "tictactoe.sqlite3"
LOCK_NAME: Final = "server.lock"
_MAX_BYTES: Final = 64
_ADVICE: Final = "SQLite requires file locks, which many network file systems lack: use a local disk."

log: Final = structlog.get_logger(__name__)


class DataFolder:
    """A data folder that this process has locked.

    Attributes:
        mark: The number of the newest batch that the previous server stored here, or 0.
    """

    def __init__(self, path: Path) -> None:
        """Create the folder if it is missing, make it private and lock it. May raise `CannotOpenStore`."""
        self.path = path
        self.database = path / FILE_NAME
        self._locks: dict[str, int] = {}
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_private(path, path.stat(), 0o700)
        except OSError as error:
            raise CannotOpenStore(f"Cannot use the data folder {path}: {error.strerror or error}.") from error
        self.hold(LOCK_NAME)
        self._lock = self._locks[LOCK_NAME]
        _make_private(path / LOCK_NAME, os.fstat(self._lock), 0o600)
        _, self.mark = _read_numbers(self._lock)
        self.write_mark(self.mark)

    def hold_database(self) -> None:
        """Lock the database file like `hold`, but first check that SQLite's auxiliary files are no symbolic links."""
        for beside in files_of(self.database)[1:]:
            if beside.is_symlink():
                raise CannotOpenStore(f"Cannot use {beside}: it is a symbolic link. Nothing was changed.")
        self.hold(FILE_NAME)

    def make_database_private(self) -> None:
        """Deny other users access to the database and its auxiliary files."""
        database, *beside = files_of(self.database)
        for path in beside:
            if path.exists():
                path.chmod(0o600)
        _make_private(database, database.stat(), 0o600)

    def hold(self, name: str) -> None:
        """Lock a file in the folder, creating the file if it is missing. Idempotent.

        Raises:
            CannotOpenStore: Another process has locked the file, or it cannot be opened or locked.
        """
        path, held = self.path / name, self._locks.get(name)
        if held is not None and path.exists() and os.path.samestat(os.fstat(held), path.lstat()):
            return  # the path still names the file that is open
        try:
            descriptor = _open(path)
        except OSError as error:
            reason = "it is a symbolic link" if os.path.islink(path) else error.strerror or error
            raise CannotOpenStore(f"Cannot use {path}: {reason}. Nothing was changed.") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CannotOpenStore(f"Cannot use {path}: it is not a regular file.")
            _lock(descriptor)
        except BaseException as error:
            process, _ = _read_numbers(descriptor) if name == LOCK_NAME else (0, 0)
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                by = f"another server, process {process}" if process else "another server"
                advice = "Stop it, or choose another folder with --data."
                raise CannotOpenStore(f"The data folder {self.path} is in use by {by}. {advice}") from None
            if isinstance(error, OSError):
                raise CannotOpenStore(f"Cannot lock {path}: {error.strerror or error}. {_ADVICE}") from error
            raise
        if held is not None:
            os.close(held)
        self._locks[name] = descriptor

    def write_mark(self, mark: int) -> None:
        """Write `mark` for the next server, without a flush to the disk."""
        os.pwrite(self._lock, b"%-11d\n%-20d\n" % (os.getpid(), mark), 0)

    def release(self) -> None:
        """Release the locks. The lock file stays: if it were removed, two processes could lock two different files."""
        while self._locks:
            os.close(self._locks.popitem()[1])


def files_of(database: Path) -> list[Path]:
    """Return the paths of a database and its auxiliary files: write-ahead log, its index, and rollback journal."""
    return [database.with_name(f"{database.name}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]


def mark_of(database: Path) -> int:
    """Return the mark in the data folder of `database`, also while a server uses it, or 0 if there is none."""
    if database.name == FILE_NAME:  # other files in the folder are copies, which may be older
        with contextlib.suppress(OSError), open_regular(database.with_name(LOCK_NAME)) as lock:
            return _read_numbers(lock.fileno())[1]
    return 0


def free_name(database: Path, word: str) -> Path:
    """Return an unused path for setting a database aside; `word` and a number are appended to its name."""
    names = (database.with_name(f"{database.name}.{word}-{number}") for number in itertools.count(1))
    return next(name for name in names if not any(file.exists() for file in files_of(name)))


def _make_private(path: Path, found: os.stat_result, mode: int) -> None:
    """Deny other users access to a file; log a warning if they had access before or if it belongs to another user."""
    if found.st_uid != os.geteuid():
        log.warning("file belongs to another user, who can read and change it", path=str(path), user=found.st_uid)
    elif stat.S_IMODE(found.st_mode) & ~mode:
        path.chmod(mode)
        log.warning("file permissions restricted: other users had access", path=str(path), mode=f"{mode:o}")


def _read_numbers(descriptor: int) -> tuple[int, int]:
    """Return the process id and the mark from a lock file, or zeros if they cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        process, mark, *_ = *map(int, os.read(descriptor, _MAX_BYTES).split()), 0, 0
        return process, mark
    return 0, 0


def _open(path: Path) -> int:
    """Open a file, creating it if it is missing. May raise OSError, in particular if the path is a symbolic link."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        return os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    flush(path.parent)
    return descriptor


def flush(path: Path) -> None:
    """Flush a file, or the entries of a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock an open file. Unlike a `lockf` lock, this one survives when other descriptors of the file are closed."""
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
