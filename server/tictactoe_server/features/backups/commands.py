"""The commands that back up, restore, check, recover and move a server's data."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import click

from tictactoe_server import OperatorError
from tictactoe_server.features.backups.copying import (
    Contents,
    CopyEnd,
    check_database,
    copy,
    folder_source,
    folder_target,
)
from tictactoe_server.features.backups.files import back_up, database_in, restore_backup
from tictactoe_server.features.backups.recovery import recover as recover_folder
from tictactoe_server.features.jetstream import access_options, hidden, needing_nats
from tictactoe_server.features.privacy.service import forget_again
from tictactoe_server.operator.folder import with_folder
from tictactoe_server.operator.log import set_up_logging
from tictactoe_server.storage.schema import program_command, restore_command
from tictactoe_server.storage.specs import Specs

_Access = tuple[Path | None, Path | None]


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


@click.command()
@_file_argument
@with_folder("The folder to recover, if not the default.")
def recover(folder: Path, file: Path) -> None:
    """Write all readable data of a stopped server to the new FILE.

    Use this command if the server does not start because saves are missing: it repairs a copy of the server's log.
    Nothing in the folder is changed.
    """
    missing, still_missing = recover_folder(folder, file)
    if missing:
        click.echo(f"{missing - still_missing} of {missing} missing batches of saves came back.")
    else:
        click.echo("No saves were missing.")
    click.echo(f"Everything that can be read is in {file}. Look at it, and put it in place:")
    click.echo(f"  {program_command('check', file)}\n  {restore_command(folder, file)}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@with_folder("The folder to read, if not the default.")
@click.pass_obj
def check(specs: Specs, folder: Path, file: Path | None) -> None:
    """Check a server's data, or its copy FILE, for damage. The exit code is 1 if anything is damaged.

    Nothing is changed.
    """
    set_up_logging("text", "critical")
    found = asyncio.run(check_database(file or database_in(folder), specs, is_backup=file is not None))
    rooms, players, games = (found.sums[noun].count for noun in ("room", "player", "finished game"))
    click.echo(f"{file or folder}: {rooms} rooms, {players} players, {games} finished games.")
    for line in found.damage:
        click.echo(line)
    if found.damage:
        click.echo("The server leaves this out. A backup may have it: tictactoe-server restore FILE")
        sys.exit(1)
    click.echo("Nothing is damaged.")


@click.command()
@click.argument("source")
@click.argument("target")
@access_options
@click.pass_obj
def move(specs: Specs, source: str, target: str, store_credentials: Path | None, store_ca: Path | None) -> None:
    """Copy everything in SOURCE to the empty TARGET: rooms, players, bans and finished games.

    SOURCE and TARGET are the data folder of a stopped server, or a store as in nats://a,b,c. SOURCE is not changed, and
    servers may keep using a store while it is read. Damaged data is reported and left out; then the exit code is 1.
    """
    set_up_logging("text", "critical")
    if asyncio.run(_move(source, target, (store_credentials, store_ca), specs)):
        sys.exit(1)


async def _move(source: str, target: str, access: _Access, specs: Specs) -> list[str]:
    """Copy everything from `source` to `target`, verify the copy, print what it has, and return the damage found."""
    if source.rstrip("/") == target.rstrip("/"):
        raise OperatorError("Both are the same.")
    shown = hidden(target)
    async with _opened(source, access, specs) as reading, _opened(target, access, specs, to_fill=True) as writing:
        try:
            moved = await copy(reading, writing, specs)
        except OperatorError as error:
            raise OperatorError(f"{error} Part of the data is in {shown}: empty it first, then try again.") from error
    for line in reading.damage:
        click.echo(f"Left out: {line}")
    async with _opened(target, access, specs) as checking:
        found = await copy(checking, None, specs)
    if found != moved:
        raise OperatorError(f"{shown} does not hold what was copied: {_described(found)}, not {_described(moved)}.")
    click.echo(f"Copied and compared: {_described(moved)}.")
    return reading.damage


def _opened(
    place: str, access: _Access, specs: Specs, *, to_fill: bool = False
) -> AbstractAsyncContextManager[CopyEnd]:
    """Return a context manager that opens the source of a copy or, with `to_fill`, the target.

    `place` is the path of a folder or the URL of a store.
    """
    if "://" in place:
        with needing_nats():
            from tictactoe_server.features.backups.streams import copied_streams
        return copied_streams(place, *access, specs, to_fill=to_fill)
    if place == ":memory:":
        raise OperatorError(f"{place} keeps nothing.")
    return (folder_target if to_fill else folder_source)(Path(place).expanduser(), specs)


def _described(contents: Contents) -> str:
    return ", ".join(f"{found.count} {noun}s" for noun, found in contents.sums.items() if found.count)
