"""The feature for backups: its options, regular backups, and the commands for a server's data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from click import BadParameter, IntRange, UsageError

from tictactoe_server.core.core import Service
from tictactoe_server.features.backups.commands import backup, check, move, recover, restore
from tictactoe_server.features.backups.service import Backups, list_backups
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.settings import Options, Settings, option, parse_duration
from tictactoe_server.storage.schema import restore_command


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
    return [Backups(data, options.to, options.every_seconds, options.keep)] if data and options.to else ()


def _advise(settings: Settings) -> str:
    """Return a sentence about the newest backup, with the command that restores it."""
    target = settings.of(BackupOptions).to
    copies = [] if target is None else list_backups(target)
    if settings.data is None or not copies:
        return "There is no backup in the folder of --backup-to."
    return f"To restore the newest backup:\n  {restore_command(settings.data, copies[-1])}"


FEATURE: Final = Feature(
    make=_make, advise=_advise, commands=(backup, restore, recover, check, move), options=BackupOptions
)
