"""Copies of the data that a running server makes by itself: each is read back whole, and the oldest go.

The program's own commands make and check them, in processes of a lower priority, so that no game waits for it.
"""

from __future__ import annotations

import asyncio
import shutil
import signal
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import structlog

from tictactoe_server import clock
from tictactoe_server.storage.folder import FILE_NAME, files_of
from tictactoe_server.storage.schema import restore_command

FIRST_SECONDS: Final = 60.0  # after the start, in which people come back
AGAIN_SECONDS: Final = 3_600.0  # until the next try after one that failed, or sooner where copies are made sooner
ROOM_BYTES: Final = 256 * 1024 * 1024  # that stay free for the server beside the copy
_NAME: Final = "tictactoe-%Y-%m-%dT%H%M%SZ.sqlite3"
_LOWER_PRIORITY: Final = "import os; os.nice(10); from tictactoe_server.cli.main import main; main()"

log: Final = structlog.get_logger(__name__)


def describe_newest(data: Path, target: Path | None) -> str:
    """Return a sentence about the newest backup of the folder `data` in `target`, with the command that restores it."""
    copies = [] if target is None else copies_in(target)
    if not copies:
        return "No backup is known: --backup-to names no folder with one."
    return f"The newest backup is put in its place by:\n  {restore_command(data, copies[-1])}"


def copies_in(target: Path) -> list[Path]:
    """Return the backups in a folder, the oldest first."""
    return sorted(target.glob("tictactoe-*Z.sqlite3"))


class BackupFailed(Exception):
    """No copy was made, or it is damaged; the message is a sentence for the operator."""


@dataclass(slots=True)
class Backups:
    """Copies of the folder `data` in `target`, one each `every_seconds`, of which the newest `keep` stay.

    `problem` says why the last one failed, empty where it did not.
    """

    data: Path
    target: Path
    every_seconds: float
    keep: int
    problem: str = ""
    began_at: float = field(default_factory=clock.wall)

    @property
    def copies(self) -> list[Path]:
        """The backups that are there, the oldest first."""
        return copies_in(self.target)

    @property
    def made_at(self) -> float | None:
        """When the newest copy was made (seconds since 1970), None where there is none."""
        copies = self.copies
        return datetime.strptime(copies[-1].name, _NAME).replace(tzinfo=UTC).timestamp() if copies else None

    @property
    def age_seconds(self) -> float:
        """How old the newest copy is, or for how long there has been none."""
        return clock.wall() - (self.made_at or self.began_at)

    def describe(self) -> str:
        """Return how that goes, in a line."""
        copies, made_at = self.copies, self.made_at
        newest = "none yet" if made_at is None else f"{datetime.fromtimestamp(made_at, UTC):%Y-%m-%d %H:%M} UTC"
        return f"newest {newest}, {len(copies)} in {self.target}{f'; {self.problem}' if self.problem else ''}"

    async def run(self) -> None:
        """Make copies until cancelled; one that fails is told in the log, and tried again."""
        await asyncio.sleep(min(FIRST_SECONDS, self.every_seconds))
        while True:
            left = (self.made_at or 0) + self.every_seconds - clock.wall()
            if left > 0:
                await asyncio.sleep(left)
            try:
                await self.make()
            except (BackupFailed, OSError) as error:
                self.problem = str(error)
                log.error("no backup was made", reason=self.problem)
                await asyncio.sleep(min(AGAIN_SECONDS, self.every_seconds))

    async def make(self) -> Path:
        """Make a copy, read it back, and let the oldest go; raises `BackupFailed` and `OSError`."""
        self.target.mkdir(mode=0o700, parents=True, exist_ok=True)
        size = sum(path.stat().st_size for path in files_of(self.data / FILE_NAME) if path.exists())
        free = shutil.disk_usage(self.target).free
        needed = size + ROOM_BYTES
        if free < needed:
            raise BackupFailed(f"{self.target} has {free >> 20} MB left; a backup needs {needed >> 20} MB.")
        for rest in self.target.glob("tictactoe-*.partial"):  # of one that was cut off
            rest.unlink(missing_ok=True)
        copy = self.target / datetime.fromtimestamp(clock.wall(), UTC).strftime(_NAME)
        partial = copy.with_name(f"{copy.name}.partial")  # until it is read back: what has the name can be restored
        await _call("--data", str(self.data), "backup", str(partial))
        await _call("check", str(partial))
        partial.rename(copy)
        for old in self.copies[: -self.keep]:
            old.unlink(missing_ok=True)
        self.problem = ""
        log.info("backup made", file=str(copy), bytes=copy.stat().st_size)
        return copy


async def _call(*words: str) -> None:
    """Run one of the program's commands to its end; raises `BackupFailed` with what it says."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _LOWER_PRIORITY, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        said, _ = await process.communicate()
    except asyncio.CancelledError:
        process.send_signal(signal.SIGINT)  # by which it takes away what it has begun
        await process.wait()
        raise
    if process.returncode:
        raise BackupFailed(" ".join(said.decode(errors="replace").split()) or f"It ended with {process.returncode}.")
