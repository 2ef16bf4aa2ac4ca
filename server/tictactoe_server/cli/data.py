"""The commands about a folder of data: a copy of it, a copy put back, and what is damaged in it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tictactoe_server.cli.folders import chosen_folder, data_option
from tictactoe_server.core.kept import KEPT
from tictactoe_server.storage.backup import CannotBackUp, back_up, restore_backup
from tictactoe_server.storage.contents import check_folder
from tictactoe_server.storage.store import CannotOpenStore


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_option("The folder to copy from, if not the default.")
@click.pass_context
def backup(context: click.Context, file: Path, own_data: str | None) -> None:
    """Copy a server's data into FILE, also while the server runs. An existing FILE is never overwritten."""
    folder = chosen_folder(context, own_data)
    try:
        back_up(folder, file)
    except CannotBackUp as error:
        _fail(error)
    click.echo(f"Copied {folder} to {file}.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@data_option("The folder to restore into, if not the default.")
@click.pass_context
def restore(context: click.Context, file: Path, own_data: str | None) -> None:
    """Put a copy that `backup` made in the place of a server's data, which is moved aside. No server may run there."""
    folder = chosen_folder(context, own_data)
    try:
        aside = restore_backup(folder, file)
    except (CannotBackUp, CannotOpenStore) as error:
        _fail(error)
    click.echo(f"Restored {file} to {folder}.")
    for path in aside:
        click.echo(f"What was there is now {path}.")


@click.command()
@data_option("The folder to read, if not the default.")
@click.pass_context
def check(context: click.Context, own_data: str | None) -> None:
    """Read a server's data and say what is damaged; nothing is changed. Exit code 1 where something is."""
    folder = chosen_folder(context, own_data)
    try:
        found = check_folder(folder, KEPT)
    except (CannotBackUp, CannotOpenStore) as error:
        _fail(error)
    rooms, players, games = (found.counts[name] for name in ("rooms", "players", "games"))
    click.echo(f"{folder}: {rooms} rooms, {players} players, {games} finished games.")
    for line in found.damage:
        click.echo(line)
    if found.damage:
        click.echo("The server starts with what can be read. A backup may have more: tictactoe-server restore FILE")
        sys.exit(1)
    click.echo("Nothing is damaged.")


def _fail(error: Exception) -> None:
    click.echo(f"tictactoe-server: {error}", err=True)
    sys.exit(1)
