"""The command that brings all that one store keeps into another."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Final

import click

from tictactoe_server.cli.access import access_options
from tictactoe_server.cli.folders import folder_of
from tictactoe_server.cli.log import set_up_logging
from tictactoe_server.cluster import needing_nats
from tictactoe_server.core.kept import KEPT
from tictactoe_server.storage.contents import FolderSource, FolderTarget
from tictactoe_server.storage.copying import CannotMove, Contents, CopySource, CopyTarget, copy
from tictactoe_server.storage.store import CannotOpenStore

_PROGRESS_SECONDS: Final = 2.0


@click.command()
@click.argument("source")
@click.argument("target")
@access_options
def move(source: str, target: str, store_credentials: Path | None, store_ca: Path | None) -> None:
    """Copy all that SOURCE keeps into TARGET, which is empty: rooms, players, bans, finished games.

    Each is a data folder on which no server runs, or a store as in nats://a,b,c. SOURCE stays as it is; servers may
    go on in a store that is read. What is damaged there is named and left out, and the exit code is 1 then.
    """
    access = store_credentials, store_ca
    set_up_logging("text", "error")
    try:
        damage = asyncio.run(_move(source, target, access))
    except (CannotMove, CannotOpenStore) as error:
        click.echo(f"tictactoe-server: {error}", err=True)
        sys.exit(1)
    if damage:
        sys.exit(1)


_Access = tuple[Path | None, Path | None]


async def _move(source: str, target: str, access: _Access) -> list[str]:
    """Copy everything, compare, say how much it was, and return what is damaged."""
    if source.rstrip("/") == target.rstrip("/"):
        raise CannotMove("Both are the same.")
    reading = await _open_source(source, access)
    try:
        writing = await _open_target(target, access)
        try:
            moved = await copy(reading, writing, KEPT, _Progress("copied"))
        except CannotMove as error:
            raise CannotMove(
                f"{error} A part of everything is in {_shown(target)}: empty it first, then try again."
            ) from error
        finally:
            await writing.close()
    finally:
        await reading.close()
    for line in reading.damage:
        click.echo(f"Left out: {line}")
    checking = await _open_source(target, access)
    try:
        found = await copy(checking, None, KEPT, _Progress("compared"))
    finally:
        await checking.close()
    if found != moved:
        raise CannotMove(
            f"{_shown(target)} does not hold what was copied: {_described(found)}, not {_described(moved)}."
        )
    click.echo(f"Copied and compared: {_described(moved)}.")
    return reading.damage


async def _open_source(place: str, access: _Access) -> CopySource:
    if not _is_stream(place):
        return FolderSource.open(_folder(place), KEPT)
    with needing_nats():
        from tictactoe_server.cluster.jetstream.contents import StreamSource
    return await StreamSource.open(place, *access, KEPT)


async def _open_target(place: str, access: _Access) -> CopyTarget:
    if not _is_stream(place):
        return FolderTarget.open(_folder(place), KEPT)
    with needing_nats():
        from tictactoe_server.cluster.jetstream.contents import StreamTarget
    return await StreamTarget.open(place, *access, KEPT)


class _Progress:
    """Says now and then how far it is, on standard error."""

    def __init__(self, deed: str) -> None:
        self._deed = deed
        self._told_at = time.monotonic()

    def __call__(self, noun: str, count: int) -> None:
        if time.monotonic() - self._told_at > _PROGRESS_SECONDS:
            self._told_at = time.monotonic()
            click.echo(f"{count} {noun}s {self._deed}", err=True)


def _folder(place: str) -> Path:
    folder = folder_of(place)
    if folder is None:
        raise CannotMove(f"{place} keeps nothing.")
    return folder


def _is_stream(place: str) -> bool:
    return "://" in place


def _shown(place: str) -> str:
    """Return a place without what tells who we are."""
    scheme, separator, rest = place.partition("://")
    return scheme + separator + rest.rpartition("@")[2]


def _described(contents: Contents) -> str:
    """Return how much there is."""
    return ", ".join(f"{found.count} {noun}s" for noun, found in contents.sums.items())
