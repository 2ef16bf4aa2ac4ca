"""The folder that holds a server's data: made private, and held by one server at a time, with the database in it.

Locks belong to the operating system and go with the process, also when that is killed: a lock file that is left behind
means nothing by itself. No file in the folder is opened through a link; the folder itself may be one.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
import sys
from pathlib import Path
from typing import Final

import structlog

from tictactoe_server.storage.store import CannotOpenStore

FILE_NAME: Final = "tictactoe.sqlite3"
LOCK_NAME: Final = "server.lock"
_MAX_BYTES: Final = 64
_ADVICE: Final = "Network file systems do not keep the locks that SQLite needs: use a disk of this machine."
_NO_FOLLOW: Final = getattr(os, "O_NOFOLLOW", 0)

log: Final = structlog.get_logger(__name__)


class FolderInUse(CannotOpenStore):
    """Another process holds the folder; `pid` is its number, or None where it cannot be told."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        by = "another server" if pid is None else f"another server, process {pid}"
        super().__init__(f"The data folder {folder} is in use by {by}. Stop that one, or give this one its own folder.")
        self.folder = folder
        self.pid = pid


class DataFolder:
    """Holds a folder until `release`, or until the process ends.

    `mark` is a number that the last server left here, 0 where none did: what it had kept by its own account. The
    database `had_log` if there was something in its log then.
    """

    def __init__(self, path: Path) -> None:
        """Make the folder for its owner alone where it is missing, and take it; raises `CannotOpenStore`."""
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
        numbers = _read_numbers(self._lock)
        self.mark = numbers[1] if len(numbers) > 1 else 0
        self.write_mark(self.mark)
        self.had_log = any(path.stat().st_size for path in files_of(self.database)[1:2] if path.is_file())

    def hold_database(self) -> None:
        """Hold the database, and see that what SQLite keeps beside it is no link; raises like `hold`."""
        for beside in files_of(self.database)[1:]:
            if beside.is_symlink():
                raise CannotOpenStore(f"Cannot use {beside}: it is a link. Nothing in it was changed.")
        self.hold(FILE_NAME)

    def make_database_private(self) -> None:
        """Take the database, which is ours, from everybody else."""
        database, *beside = files_of(self.database)
        for path in beside:  # SQLite gives them the mode of the database
            if path.exists():
                path.chmod(0o600)
        _make_private(database, database.stat(), 0o600)

    def hold(self, name: str) -> None:
        """Lock a file of the folder, which is made for its owner alone where it is missing; may be done again.

        Raises `CannotOpenStore`, and `FolderInUse` where another process has locked it.
        """
        path, held = self.path / name, self._locks.get(name)
        if held is not None and path.exists() and os.path.samestat(os.fstat(held), path.lstat()):
            return  # the path still names the file that is open
        try:
            descriptor = _open(path)
        except OSError as error:
            reason = "it is a link" if os.path.islink(path) else error.strerror or error
            raise CannotOpenStore(f"Cannot use {path}: {reason}. Nothing in it was changed.") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CannotOpenStore(f"Cannot use {path}: it is no file.")
            _lock(descriptor)
        except BaseException as error:
            numbers = _read_numbers(descriptor) if name == LOCK_NAME else []
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                raise FolderInUse(self.path, numbers[0] if numbers else None) from None
            if isinstance(error, OSError):
                raise CannotOpenStore(f"Cannot lock {path}: {error.strerror or error}. {_ADVICE}") from error
            raise
        if held is not None:
            os.close(held)
        self._locks[name] = descriptor

    def write_mark(self, mark: int) -> None:
        """Leave a number for the next server; it is written at once and not flushed to the disk."""
        os.lseek(self._lock, 0, os.SEEK_SET)
        os.write(self._lock, b"%-11d\n%-20d\n" % (os.getpid(), mark))

    def keep_log(self) -> Path | None:
        """Copy the log that the database had before SQLite writes over what it cannot read there; return the copy."""
        with contextlib.suppress(OSError):
            if self.had_log:
                return Path(shutil.copy2(files_of(self.database)[1], files_of(free_name(self.database, "damaged"))[1]))
        return None

    def release(self) -> None:
        """Let another process have the folder. The lock file stays: removing it could part two that wait for it."""
        while self._locks:
            os.close(self._locks.popitem()[1])


def files_of(database: Path) -> list[Path]:
    """Return the names of a database and of the files that SQLite keeps beside it."""
    return [database.with_name(f"{database.name}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]


def free_name(database: Path, word: str) -> Path:
    """Return a name for a database that is put aside, with a word and a number, that nothing has yet."""
    names = (database.with_name(f"{database.name}.{word}-{number}") for number in itertools.count(1))
    return next(name for name in names if not any(file.exists() for file in files_of(name)))


def _make_private(path: Path, found: os.stat_result, mode: int) -> None:
    """Take from everybody else what is ours; say so where it is somebody else's."""
    if os.name != "posix":
        return
    if found.st_uid != os.geteuid():
        log.warning("this belongs to another user, who can read and change it", path=str(path), user=found.st_uid)
    elif stat.S_IMODE(found.st_mode) & ~mode:
        path.chmod(mode)
        log.warning("others could get at this, and cannot any more", path=str(path), mode=f"{mode:o}")


def _read_numbers(descriptor: int) -> list[int]:
    """Return the process id and the mark in a lock file, fewer where they cannot be told."""
    with contextlib.suppress(OSError, ValueError):
        os.lseek(descriptor, 0, os.SEEK_SET)
        return [int(number) for number in os.read(descriptor, _MAX_BYTES).split()]
    return []


def _open(path: Path) -> int:
    """Open a file, which is made where it is missing; raises OSError, also for a link."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_FOLLOW, 0o600)
    except FileExistsError:
        return os.open(path, os.O_RDWR | _NO_FOLLOW)
    flush(path.parent)
    return descriptor


def flush(path: Path) -> None:
    """Let a file outlive a loss of power, or the names of new files in a folder, where the system can."""
    is_folder = path.is_dir()
    if not is_folder or os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    _FAR_BEYOND: Final = 1 << 40

    def _lock(descriptor: int) -> None:
        """Lock a byte that nobody reads, since Windows lets no other process read what is locked."""
        os.lseek(descriptor, _FAR_BEYOND, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        """Lock an open file: unlike a lock of the process, no other descriptor that it closes can drop this one."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
