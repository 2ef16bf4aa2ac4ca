"""A real SQLite database on a disk that is slow, silent, full, or loses its power."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from tests.simulation.ledger import ServedTime
from tests.simulation.world import Killed, Queue, Thread, World, current_thread
from tictactoe_server.storage.database import Database
from tictactoe_server.storage.folder import DataFolder
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.sqlite import SqliteStore
from tictactoe_server.storage.writer import Writer

GRACE_SECONDS: Final = 1.4
"""A commit that takes longer may stop the served time (see `ServedTime` of the server, and how often it looks)."""
_SURVIVING: Final = ("tictactoe.sqlite3", "tictactoe.sqlite3-wal", "server.lock")
_MAX_COMMIT_SECONDS: Final = 1.0


class Disk:
    """The disk of one server. Each life of the server works on a copy of the previous life's files.

    Attributes:
        silent_until: Commits do not return before this time.
        refuses_until: Until this time commits fail with the chances `early_refusals` and `late_refusals`, before or
            after they took effect.
        crash_at: After how many commits more the power fails, and whether "before commit" or "after commit".
        is_recording: Whether the files are copied before the first commit that a loss of power may undo.
        commits, lost: Counts of commits, and of commits undone by a loss of power.
    """

    def __init__(self, world: World, served: ServedTime) -> None:
        self.world = world
        self._served = served
        self._chance = world.chance("disk")
        memory = Path("/dev/shm")
        self._root = Path(tempfile.mkdtemp(prefix="simulated-", dir=memory if memory.is_dir() else None))
        self.folder = self._root / "0"
        self.folder.mkdir(mode=0o700)
        self.silent_until = 0.0
        self.refuses_until = 0.0
        self.early_refusals = self.late_refusals = 0.0
        self.crash_at: tuple[int, str] | None = None
        self.on_power_loss: Callable[[], None] = lambda: None
        self.is_recording = False
        self.commits = self.lost = 0
        self._median_seconds = self._chance.choice((0.0003, 0.002, 0.010))
        self._lives = 0
        self._synced: Path | None = None
        self._unsynced_commits = 0

    def open_store(self, specs: Specs) -> SqliteStore:
        """Return the store of the current life."""
        held = DataFolder(self.folder)
        held.hold_database()
        database = SimulatedDatabase(held, specs, logs_damage=True)
        database.disk = self
        return SqliteStore(Writer(database, thread=Thread, queue=Queue), specs)  # type: ignore[arg-type]

    def begin_life(self, *, after_power_loss: bool) -> None:
        """Give the next life a folder with the files that survived the last one."""
        source = self.folder
        if after_power_loss and self._synced is not None and self._chance.random() < 0.7:
            source = self._synced
            self.lost += self._unsynced_commits
        self._lives += 1
        self.folder = self._root / str(self._lives)
        _copy(source, self.folder)
        self._forget_synced()
        self.is_recording = False
        self.crash_at = None

    def commit(self, database: SimulatedDatabase, commit: Callable[[], None]) -> None:
        """Commit on the store's thread, with everything that may go wrong meanwhile."""
        thread = current_thread()
        if thread is None:  # the store is being opened
            commit()
            return
        is_durable = database.is_durable
        started_at, paused, life = self.world.time(), self.world.paused_seconds, self._lives
        self._crash_if_due(thread, "before commit")
        self._refuse(self.early_refusals, "database or disk is full", sqlite3.SQLITE_FULL)
        if is_durable:
            thread.sleep(self._draw_seconds())
        elif self.is_recording and self._synced is None:
            self._synced = self._root / "synced"
            _copy(self.folder, self._synced)
            self._unsynced_commits = 0
        while self.world.time() < self.silent_until:
            thread.sleep(self.silent_until - self.world.time() + 0.001)
        commit()
        self.commits += 1
        self._unsynced_commits += 1
        if is_durable:
            self._forget_synced()
            self._served.commits.append(self.world.time())
        self.world.trace("commit", is_durable)
        if self.world.time() - started_at > GRACE_SECONDS and life == self._lives:
            is_certain = self.world.paused_seconds == paused
            self._served.exclude(started_at + GRACE_SECONDS, self.world.time(), is_certain=is_certain)
        self._refuse(self.late_refusals, "disk I/O error", sqlite3.SQLITE_IOERR)
        self._crash_if_due(thread, "after commit")
        if is_durable:
            thread.sleep(self._draw_seconds() / 4)

    def read(self) -> None:
        """Let a read fail, as commits do after they took effect."""
        self._refuse(self.late_refusals, "disk I/O error", sqlite3.SQLITE_IOERR)

    def heal(self) -> None:
        """End all trouble."""
        self.crash_at = None
        self.is_recording = False
        self.silent_until = self.refuses_until = 0.0

    def remove(self) -> None:
        shutil.rmtree(self._root, ignore_errors=True)

    def _draw_seconds(self) -> float:
        return min(_MAX_COMMIT_SECONDS, self._median_seconds * self._chance.lognormvariate(0.0, 0.8))

    def _refuse(self, chance: float, message: str, code: int) -> None:
        if self.world.time() < self.refuses_until and self._chance.random() < chance:
            error = sqlite3.OperationalError(message)
            error.sqlite_errorcode = code
            raise error

    def _crash_if_due(self, thread: Thread, step: str) -> None:
        if self.crash_at is None or self.crash_at[1] != step:
            return
        left = self.crash_at[0] - 1
        if left > 0:
            self.crash_at = left, step
            return
        self.crash_at = None
        self.world.call_soon(self.on_power_loss, context=self.world.outside)
        thread.pause()
        raise Killed

    def _forget_synced(self) -> None:
        if self._synced is not None:
            shutil.rmtree(self._synced)
            self._synced = None
        self._unsynced_commits = 0


class SimulatedDatabase(Database):
    """The server's database, whose commits go through a simulated disk."""

    disk: Disk | None = None

    @property
    def is_durable(self) -> bool:
        return self._is_durable

    def _attempt(self, work: Callable[..., Any], *, durable: bool | None = None) -> Any:
        def read(*args: Any) -> Any:
            if self.disk is not None:
                self.disk.read()
            return work(*args)

        return super()._attempt(read if durable is None else work, durable=durable)

    def commit(self) -> None:
        if self.disk is None:
            super().commit()
        else:
            self.disk.commit(self, super().commit)


def _copy(source: Path, target: Path) -> None:
    target.mkdir(mode=0o700)
    for name in _SURVIVING:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)
            (target / name).chmod(0o600)
