"""The commands that back up and restore a server's data."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import click

from tictactoe_server.admin.folder import with_folder
from tictactoe_server.features.backups.files import back_up, restore_backup
from tictactoe_server.features.privacy.service import forget_again
from tictactoe_server.storage.specs import Specs

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
    """Put a copy that `backup` made in the place of a server's data, which is moved aside. No server may run there.

    Whoever was forgotten since it was made is forgotten in it, too.
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
