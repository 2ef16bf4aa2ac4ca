"""The commands about a folder of data: a copy of it, a copy put back, and what is damaged in it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tictactoe_server.cli.access import with_folder
from tictactoe_server.core.kept import KEPT
from tictactoe_server.storage.backup import back_up, restore_backup
from tictactoe_server.storage.contents import check_folder

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
def restore(folder: Path, file: Path) -> None:
    """Put a copy that `backup` made in the place of a server's data, which is moved aside. No server may run there."""
    aside = restore_backup(folder, file)
    click.echo(f"Restored {file} to {folder}.")
    for path in aside:
        click.echo(f"What was there is now {path}.")


@click.command()
@with_folder("The folder to read, if not the default.")
def check(folder: Path) -> None:
    """Read a server's data and say what is damaged; nothing is changed. Exit code 1 where something is."""
    found = check_folder(folder, KEPT)
    rooms, players, games = (found.counts[name] for name in ("rooms", "players", "games"))
    click.echo(f"{folder}: {rooms} rooms, {players} players, {games} finished games.")
    for line in found.damage:
        click.echo(line)
    if found.damage:
        click.echo("The server starts with what can be read. A backup may have more: tictactoe-server restore FILE")
        sys.exit(1)
    click.echo("Nothing is damaged.")
