"""The commands that back up, restore, check, recover and move a server's data."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import click

from tictactoe_server import OperatorError
from tictactoe_server.features.backups import copying
from tictactoe_server.features.backups.files import back_up, database_in, restore_backup
from tictactoe_server.features.backups.recovery import recover as recover_folder
from tictactoe_server.features.jetstream import access_options, hidden, needing_nats
from tictactoe_server.features.privacy.service import forget_again
from tictactoe_server.operator.commands import with_folder
from tictactoe_server.operator.log import set_up_logging
from tictactoe_server.operator.words import show_count
from tictactoe_server.storage.schema import program_command, restore_command
from tictactoe_server.storage.specs import Specs

_Access = tuple[Path | None, Path | None]


_file_argument = click.argument("file", type=click.Path(path_type=Path))


@click.command()
@_file_argument
@with_folder("Data folder to back up, if it is not the default.")
def backup(folder: Path, file: Path) -> None:
    """Back up a server's data to FILE.

    The server may be running. An existing FILE is not overwritten.

    Example: tictactoe-server backup tictactoe.backup
    """
    back_up(database_in(folder), file)
    click.echo(f"Backed up {folder} to {file}.")


@click.command()
@_file_argument
@with_folder("Data folder to restore, if it is not the default.")
@click.pass_obj
def restore(specs: Specs, folder: Path, file: Path) -> None:
    """Restore a server's data from the backup FILE. The server must be stopped.

    The present data is renamed, not deleted. Players who have been forgotten since the backup was made are forgotten
    again.

    Example: tictactoe-server restore tictactoe.backup
    """
    aside = restore_backup(folder, file)
    click.echo(f"Restored {file} to {folder}.")
    try:
        found = asyncio.run(forget_again(folder, specs, next(iter(aside), None)))
    except (sqlite3.Error, UnicodeDecodeError):
        click.echo("The replaced database is damaged: players forgotten since the backup may not be forgotten again.")
        found = asyncio.run(forget_again(folder, specs, None))
    if found:
        changed = show_count(found, "value")
        click.echo(f"Forgot the players again who were forgotten since the backup; changed {changed}.")
    for path in aside:
        click.echo(f"The replaced data is in {path}.")


@click.command()
@_file_argument
@with_folder("Data folder to recover, if it is not the default.")
def recover(folder: Path, file: Path) -> None:
    """Recover the data of a stopped server to a new FILE.

    Use this command if the server does not start because saves are missing. It repairs a copy of the database's
    write-ahead log; the data folder is not changed.
    """
    missing, still_missing = recover_folder(folder, file)
    if missing:
        click.echo(f"Recovered {missing - still_missing} of {missing} missing batches of saves.")
    else:
        click.echo("No saves are missing.")
    click.echo(f"Wrote all readable data to {file}. To check and then restore it:")
    click.echo(f"  {program_command('check', file)}\n  {restore_command(folder, file)}")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False), required=False)
@with_folder("Data folder to check, if it is not the default.")
@click.pass_obj
def check(specs: Specs, folder: Path, file: Path | None) -> None:
    """Check a server's data, or a backup FILE, for damage. The exit code is 1 if anything is damaged.

    The command changes nothing, and the server may be running.
    """
    set_up_logging("text", "critical")
    found = asyncio.run(copying.check_database(file or database_in(folder), specs, is_backup=file is not None))
    sums = (show_count(found.sums[noun].count, noun) for noun in ("room", "player", "finished game"))
    click.echo(f"{file or folder}: {', '.join(sums)}.")
    for line in found.damage:
        click.echo(line)
    if found.damage:
        click.echo("The server ignores damaged data. To restore a backup: tictactoe-server restore FILE")
        sys.exit(1)
    click.echo("No damage found.")


@click.command()
@click.argument("source")
@click.argument("target")
@access_options
@click.pass_obj
def move(specs: Specs, source: str, target: str, store_credentials: Path | None, store_ca: Path | None) -> None:
    """Copy all data from SOURCE to TARGET, and compare the copy.

    SOURCE and TARGET are the data folder of a stopped server, or the URLs of a cluster's store. TARGET must be empty.
    SOURCE is not changed; a store may be in use while it is read. Damaged data is reported and not copied; the exit
    code is then 1.

    Example: tictactoe-server move /var/lib/tictactoe nats://a,b,c
    """
    set_up_logging("text", "critical")
    if asyncio.run(_move(source, target, (store_credentials, store_ca), specs)):
        sys.exit(1)


async def _move(source: str, target: str, access: _Access, specs: Specs) -> list[str]:
    """Copy everything from `source` to `target`, verify the copy, print what it has, and return the damage found."""
    if source.rstrip("/") == target.rstrip("/"):
        raise OperatorError("SOURCE and TARGET are the same.")
    place = hidden(target)
    async with _opened(source, access, specs) as reading, _opened(target, access, specs, to_fill=True) as writing:
        try:
            moved = await copying.copy(reading, writing, specs)
        except OperatorError as error:
            raise OperatorError(f"{error} The copy in {place} is incomplete. Empty it before trying again.") from error
    for line in reading.damage:
        click.echo(f"Not copied: {line}")
    async with _opened(target, access, specs) as checking:
        found = await copying.copy(checking, None, specs)
    if found != moved:
        raise OperatorError(f"The copy in {place} differs: it has {_described(found)} instead of {_described(moved)}.")
    click.echo(f"Copied and compared: {_described(moved)}.")
    return reading.damage


def _opened(
    place: str, access: _Access, specs: Specs, *, to_fill: bool = False
) -> AbstractAsyncContextManager[copying.CopyEnd]:
    """Return a context manager that opens the source of a copy or, with `to_fill`, the target.

    `place` is the path of a folder or the URL of a store.
    """
    if "://" in place:
        with needing_nats():
            from tictactoe_server.features.backups.streams import copied_streams
        return copied_streams(place, *access, specs, to_fill=to_fill)
    if place == ":memory:":
        raise OperatorError(f"{place} cannot be copied: it stores nothing on disk.")
    return (copying.folder_target if to_fill else copying.folder_source)(Path(place).expanduser(), specs)


def _described(contents: copying.Contents) -> str:
    return ", ".join(show_count(found.count, noun) for noun, found in contents.sums.items() if found.count)
