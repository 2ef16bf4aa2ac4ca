"""The commands that check, recover and move a server's data."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

import click

from tictactoe_server import clock
from tictactoe_server.admin.folder import with_folder
from tictactoe_server.admin.log import set_up_logging
from tictactoe_server.features.backups.files import database_in
from tictactoe_server.features.cluster.commands import access_options
from tictactoe_server.features.feature import Feature
from tictactoe_server.features.jetstream import hidden, needing_nats
from tictactoe_server.features.salvage.copying import (
    Contents,
    CopyEnd,
    check_database,
    copy,
    folder_source,
    folder_target,
)
from tictactoe_server.features.salvage.recovery import recover as recover_folder
from tictactoe_server.storage.schema import program_command, restore_command
from tictactoe_server.storage.specs import Specs
from tictactoe_server.storage.store import CannotMove

_PROGRESS_SECONDS: Final = 2.0
_Access = tuple[Path | None, Path | None]


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_folder("The folder to recover, if not the default.")
def recover(folder: Path, file: Path) -> None:
    """Write all readable data of a stopped server to the new FILE.

    Use this command if the server does not start because saves are missing: it repairs a copy of the server's log.
    Nothing in the folder is changed.
    """
    found = recover_folder(folder, file)
    if found.missing:
        click.echo(f"{found.missing - found.still_missing} of {found.missing} missing batches of saves came back.")
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
    set_up_logging("text", "error")
    found = asyncio.run(check_database(file or database_in(folder), specs, is_backup=file is not None))
    rooms, players, games = (found.counts[name] for name in ("rooms", "players", "games"))
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
    set_up_logging("text", "error")
    if asyncio.run(_move(source, target, (store_credentials, store_ca), specs)):
        sys.exit(1)


async def _move(source: str, target: str, access: _Access, specs: Specs) -> list[str]:
    """Copy everything from `source` to `target`, verify the copy, print what it has, and return the damage found."""
    if source.rstrip("/") == target.rstrip("/"):
        raise CannotMove("Both are the same.")
    shown = hidden(target)
    async with _opened(source, access, specs) as reading, _opened(target, access, specs, to_fill=True) as writing:
        try:
            moved = await copy(reading, writing, specs, _Progress("copied"))
        except CannotMove as error:
            raise CannotMove(f"{error} A part of everything is in {shown}: empty it first, then try again.") from error
    for line in reading.damage:
        click.echo(f"Left out: {line}")
    async with _opened(target, access, specs) as checking:
        found = await copy(checking, None, specs, _Progress("compared"))
    if found != moved:
        raise CannotMove(f"{shown} does not hold what was copied: {_described(found)}, not {_described(moved)}.")
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
            from tictactoe_server.features.jetstream.contents import copied_streams
        return copied_streams(place, *access, specs, to_fill=to_fill)
    if place == ":memory:":
        raise CannotMove(f"{place} keeps nothing.")
    return (folder_target if to_fill else folder_source)(Path(place).expanduser(), specs)


class _Progress:
    """Prints the progress of a copy to standard error every few seconds."""

    def __init__(self, deed: str) -> None:
        self._deed = deed
        self._told_at = clock.monotonic()

    def __call__(self, noun: str, count: int) -> None:
        if clock.monotonic() - self._told_at > _PROGRESS_SECONDS:
            self._told_at = clock.monotonic()
            click.echo(f"{count} {noun}s {self._deed}", err=True)


def _described(contents: Contents) -> str:
    return ", ".join(f"{found.count} {noun}s" for noun, found in contents.sums.items() if found.count)


FEATURE: Final = Feature(commands=(recover, check, move))
