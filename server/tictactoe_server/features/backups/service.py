"""Periodic backups of a running server's data. Each backup is checked, and the oldest backups are deleted.

The program's own commands make and check backups in processes with a lower priority, so that no game is delayed.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import signal
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
import structlog
from click import BadParameter, IntRange, UsageError

from tictactoe_server import OperatorError, clock
from tictactoe_server.core.core import Service
from tictactoe_server.features.backups.commands import backup, check, move, recover, restore
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.settings import Options, Settings, option, parse_duration
from tictactoe_server.storage.folder import FILE_NAME, files_of
from tictactoe_server.storage.schema import restore_command

FIRST_SECONDS: Final = 60.0  # from the start to the first backup, so that players can reconnect first
_SKEW_SECONDS: Final = 3_600.0  # how far the clock may have been set back since a backup was made
AGAIN_SECONDS: Final = 3_600.0  # until a failed backup is retried, unless backups are more frequent
LEAST_DAYS: Final = 90  # forgotten players are forgotten again in a restored backup that is at most this old
ROOM_BYTES: Final = 256 * 1024 * 1024  # of disk space that a backup must leave free
_NAME: Final = "tictactoe-%Y-%m-%dT%H%M%SZ.sqlite3"
NICE: Final = 10  # the niceness of the processes that make backups

log: Final = structlog.get_logger(__name__)


def list_backups(target: Path, *, from_future: bool = False) -> list[Path]:
    """Return the backups in the folder `target`, the oldest first. Files with other names are ignored.

    Args:
        from_future: Return only backups with a future time in their names, which are left out otherwise.
    """
    latest = clock.wall() + _SKEW_SECONDS
    files = [path for path in target.glob("tictactoe-*") if path.is_file()]
    times = {path: made_at for path in files if (made_at := _read_time(path)) is not None}
    return sorted((path for path, made_at in times.items() if (made_at > latest) is from_future), key=times.__getitem__)


def _read_time(path: Path) -> float | None:
    """Return the time in a backup's name (seconds since 1970), or None if the name is not that of a backup."""
    try:
        return datetime.strptime(path.name, _NAME).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


class Backups(Service):
    """Makes backups of the database in the folder `data` in the folder `target`.

    Attributes:
        problem: The reason why the last backup failed, or "" if it succeeded.
    """

    gauges = (
        (
            "backup_age_seconds",
            "How old the newest backup is, or the server without one.",
            lambda self: self.age_seconds,
        ),
        ("backup_failing", "Whether the last attempt to make a backup failed.", lambda self: bool(self.problem)),
    )

    def __init__(self, data: Path, target: Path, every_seconds: float, keep: int) -> None:
        self.data = data
        self.target = target
        self.every_seconds = every_seconds
        self.keep = keep
        self.problem = ""
        self.began_at = clock.wall()
        self.jobs = (self.run,)

    @property
    def made_at(self) -> float | None:
        """The time of the newest backup (seconds since 1970), or None if there is no backup."""
        copies = list_backups(self.target)
        return _read_time(copies[-1]) if copies else None

    @property
    def oldest_days(self) -> int:
        """The age of the oldest backup in days, at least `LEAST_DAYS` because copies may be kept elsewhere."""
        copies = list_backups(self.target)
        made_at = _read_time(copies[0]) if copies else None
        return max(LEAST_DAYS, math.ceil((clock.wall() - (made_at or self.began_at)) / 86_400))

    @property
    def age_seconds(self) -> float:
        """The age of the newest backup, or the time since the server's start if there is no backup."""
        return clock.wall() - (self.made_at or self.began_at)

    def status(self) -> Mapping[str, str]:
        count, made_at = len(list_backups(self.target)), self.made_at
        newest = "none yet" if made_at is None else f"{datetime.fromtimestamp(made_at, UTC):%Y-%m-%d %H:%M} UTC"
        future = list_backups(self.target, from_future=True)
        problems = [self.problem] if self.problem else []
        problems += [f"{path.name} is ignored: its date is in the future" for path in future[:1]]
        return {"backup": "; ".join([f"newest {newest}, {count} in {self.target}", *problems])}

    async def run(self) -> None:
        """Make backups regularly, until cancelled. Failures are logged and retried."""
        await asyncio.sleep(min(FIRST_SECONDS, self.every_seconds))
        while True:
            left = (self.made_at or 0) + self.every_seconds - clock.wall()
            if left > 0:
                await asyncio.sleep(left)
            try:
                await self.make()
            except (OperatorError, OSError) as error:
                self.problem = str(error)
                log.error("backup failed", reason=self.problem)
                await asyncio.sleep(min(AGAIN_SECONDS, self.every_seconds))

    async def make(self) -> Path:
        """Make and check a backup, delete the oldest backups, and return the new backup's path.

        May raise `OperatorError` or `OSError`.
        """
        self.target.mkdir(mode=0o700, parents=True, exist_ok=True)
        size = sum(path.stat().st_size for path in files_of(self.data / FILE_NAME) if path.exists())
        free = shutil.disk_usage(self.target).free
        needed = size + ROOM_BYTES
        if free < needed:
            raise OperatorError(
                f"{self.target} has {free >> 20} MB of free space; a backup requires {needed >> 20} MB."
            )
        for rest in self.target.glob("tictactoe-*.partial"):  # left over from interrupted backups
            made_at = _read_time(rest.with_name(f"{rest.name.partition('.')[0]}.sqlite3"))
            if made_at is not None and rest.is_file():
                rest.unlink(missing_ok=True)
        copy = self.target / datetime.fromtimestamp(clock.wall(), UTC).strftime(_NAME)
        partial = copy.with_name(f"{copy.name}.partial")  # renamed after the check, so that only good backups count
        await _call("--data", str(self.data), "backup", str(partial))
        await _call("check", str(partial))
        partial.rename(copy)
        for old in list_backups(self.target)[: -self.keep]:
            old.unlink(missing_ok=True)
        self.problem = ""
        log.info("backup made", file=str(copy), bytes=copy.stat().st_size)
        return copy


async def _call(*words: str) -> None:
    """Run a command of this program. If it fails, raise `OperatorError` with its output."""
    program = f"import os; os.nice({NICE}); from tictactoe_server.cli.main import main; main()"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.send_signal(signal.SIGINT)  # the command deletes its incomplete file
        await process.wait()
        raise
    if process.returncode:
        raise OperatorError(
            " ".join(output.decode(errors="replace").split()) or f"The command exited with status {process.returncode}."
        )


def _parse_period(text: str) -> float:
    seconds = parse_duration(text)
    if not 60 <= seconds <= 366 * 86_400:
        raise BadParameter(f"{text!r} is not between a minute and a year; use a duration such as 6h or 1d.")
    return seconds


@dataclass(frozen=True, slots=True)
class BackupOptions(Options):
    """Where backups are stored, how often they are made, and how many are kept."""

    section = "Backups"

    to: Path | None = option(
        "Back up the data to this folder regularly, and check each backup. [default: no backups]",
        click.Path(path_type=Path),
        "DIR",
        name="backup-to",
    )
    every_seconds: float = option(
        "Time between backups, such as 6h or 1d.",
        _parse_period,
        "TIME",
        default=86_400.0,
        name="backup-every",
        typed="1d",
    )
    keep: int = option(
        "Number of backups to keep; older backups are deleted.",
        IntRange(1, 10_000),
        "NUMBER",
        default=14,
        name="backup-keep",
    )

    def check(self, settings: Settings) -> None:
        if self.to and any(options.shared_store for options in settings.features):
            raise UsageError(
                "--backup-to cannot back up a --store. To copy a store: tictactoe-server move STORE FOLDER"
            )
        if self.to and settings.data is None:
            raise UsageError("--backup-to requires a data folder; --data :memory: stores nothing.")


def _make(parts: Parts) -> Iterable[Service]:
    data, options = parts.settings.data, parts.settings.of(BackupOptions)
    if data is None or options.to is None:
        return ()
    backups = Backups(data, options.to, options.every_seconds, options.keep)
    parts.core.hooks.oldest_backup_days.append(lambda: backups.oldest_days)
    return [backups]


def _advise(settings: Settings) -> str:
    target = settings.of(BackupOptions).to
    copies = [] if target is None else list_backups(target)
    if settings.data is None or not copies:
        return "There is no backup in the folder of --backup-to."
    return f"To restore the newest backup:\n  {restore_command(settings.data, copies[-1])}"


FEATURE: Final = Feature(
    make=_make, advise=_advise, commands=(backup, restore, recover, check, move), options=BackupOptions
)
