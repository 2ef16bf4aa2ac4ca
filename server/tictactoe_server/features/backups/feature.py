"""The feature for backups: regular backups, and the commands that make and restore a copy of a server's data."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from click import BadParameter, IntRange, UsageError

from tictactoe_server.admin.folder import with_folder
from tictactoe_server.core.core import Service
from tictactoe_server.features.backups.files import back_up, restore_backup
from tictactoe_server.features.backups.service import Backups
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.features.privacy.service import forget_again
from tictactoe_server.settings import Options, Settings, option, parse_duration
from tictactoe_server.storage.specs import Specs


def _parse_period(text: str) -> float:
    seconds = parse_duration(text)
    if not 60 <= seconds <= 366 * 86_400:
        raise BadParameter(f"{text!r} is no period from a minute to a year, as in 6h or 1d.")
    return seconds


@dataclass(frozen=True, slots=True)
class BackupOptions(Options):
    """Where backups are stored, how often they are made, and how many are kept."""

    section = "Backups"

    to: Path | None = option(
        "Back up the data into this folder regularly, and verify each backup.",
        click.Path(path_type=Path),
        "DIR",
        name="backup-to",
    )
    every_seconds: float = option(
        "How often to back up, as in 6h or 1d.",
        _parse_period,
        "TIME",
        default=86_400.0,
        name="backup-every",
        typed="1d",
    )
    keep: int = option(
        "How many backups to keep; the oldest are deleted.",
        IntRange(1, 10_000),
        "NUMBER",
        default=14,
        name="backup-keep",
    )

    def check(self, settings: Settings) -> None:
        if self.to and settings.of(ClusterOptions).store:
            raise UsageError(
                "--backup-to copies the folder of --data. What a store of several servers keeps, `move` copies."
            )
        if self.to and settings.data is None:
            raise UsageError("--backup-to needs --data: with :memory: there is nothing to copy.")


_file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.command()
@_file_argument
@with_folder("The folder to copy from, if not the default.")
def backup(folder: Path, file: Path) -> None:
    """Copy a server's data into FILE, also while the server runs. An existing FILE is never overwritten."""
    back_up(folder, file)
    click.echo(f"Copied {folder} to {file}.")


@click.command()
@_file_argument
@with_folder("The folder to restore into, if not the default.")
@click.pass_obj
def restore(specs: Specs, folder: Path, file: Path) -> None:
    """Replace a server's data with a copy that `backup` made. The old data is moved aside. No server may run there.

    Players who have been forgotten since the copy was made are forgotten in it, too.
    """
    aside = restore_backup(folder, file)
    click.echo(f"Restored {file} to {folder}.")
    try:
        found = asyncio.run(forget_again(folder, specs, next(iter(aside), None)))
    except (sqlite3.Error, UnicodeDecodeError):
        click.echo("The old database is damaged: it does not say who was forgotten since the copy was made.")
        found = asyncio.run(forget_again(folder, specs, None))
    if found:
        click.echo(f"Forgotten in it, too, who was forgotten since: {found} places.")
    for path in aside:
        click.echo(f"What was there is now {path}.")


def _make(parts: Parts) -> Iterable[Service]:
    data, options = parts.settings.data, parts.settings.of(BackupOptions)
    return [Backups(data, options.to, options.every_seconds, options.keep)] if data and options.to else ()


FEATURE: Final = Feature(make=_make, commands=(backup, restore), options=BackupOptions)
