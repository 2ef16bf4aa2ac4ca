"""The folder that holds a server's data: made private, and held by one server at a time.

The lock belongs to the operating system and goes with the process, also when that is killed: a lock file that is
left behind means nothing by itself. It knows nothing of what is in the folder.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from tictactoe_server.stores.store import CannotOpenStore

LOCK_NAME: Final = "server.lock"
_MAX_PID_BYTES: Final = 32


class FolderInUse(CannotOpenStore):
    """Another process holds the folder; `pid` is its number, or None where it cannot be told."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        by = "another server" if pid is None else f"another server, process {pid}"
        super().__init__(f"The data folder {folder} is in use by {by}. Stop that one, or give this one its own folder.")
        self.folder = folder
        self.pid = pid


class FolderLock:
    """Holds a folder until `release`, or until the process ends."""

    def __init__(self, folder: Path) -> None:
        """Make the folder for its owner alone where it is missing, and take it; raises `CannotOpenStore`."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise CannotOpenStore(f"Cannot use the data folder {folder}: {error.strerror or error}.") from error
        try:
            _lock(self._descriptor)
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, b"%d\n" % os.getpid())
        except BlockingIOError:
            pid = _read_pid(self._descriptor)
            os.close(self._descriptor)
            raise FolderInUse(folder, pid) from None
        except OSError as error:
            os.close(self._descriptor)
            raise CannotOpenStore(f"Cannot lock the data folder {folder}: {error.strerror or error}.") from error

    def release(self) -> None:
        """Let another process have the folder. The lock file stays: removing it could part two that wait for it."""
        os.close(self._descriptor)


def _read_pid(descriptor: int) -> int | None:
    try:
        return int(os.read(descriptor, _MAX_PID_BYTES))
    except (OSError, ValueError):
        return None


if sys.platform == "win32":
    import msvcrt

    _FAR_BEYOND_THE_PID: Final = 1 << 20

    def _lock(descriptor: int) -> None:
        """Lock a byte that nobody reads, since Windows lets no other process read what is locked."""
        os.lseek(descriptor, _FAR_BEYOND_THE_PID, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
