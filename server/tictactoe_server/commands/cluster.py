"""The commands about the store of several servers: the stream is made once, and looked at whenever one likes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tictactoe_server.commands.access import access_options, store_option
from tictactoe_server.log import set_up_logging
from tictactoe_server.stores import CannotOpenStore, needing_nats

if TYPE_CHECKING:
    from tictactoe_server.stores.jetstream import Link


@click.group()
def cluster() -> None:
    """Prepare the store of several servers, and look after it."""


@cluster.command()
@store_option
@access_options
@click.option(
    "--replicas",
    type=click.IntRange(1, 5),
    default=3,
    show_default=True,
    metavar="NUMBER",
    help="On how many nodes everything is kept; with less than 3 the loss of one stops the house.",
)
def init(store: str, store_credentials: Path | None, store_ca: Path | None, replicas: int) -> None:
    """Make the stream that keeps rooms, players and games, and print the rights that the servers' user needs.

    Nothing is changed where it is there already. Use credentials that may make streams, which servers need not.
    """

    async def work(link: Link) -> None:
        from tictactoe_server.stores.jetstream import make_stream, rights

        await make_stream(link, replicas)
        click.echo(f"The stream is there, on {_nodes(replicas)}. The user of the servers needs these rights:")
        click.echo("permissions {")
        for verb, subjects in rights().items():
            listed = ", ".join(f'"{subject}"' for subject in subjects)
            click.echo(f"  {verb} {{ allow: [{listed}] }}")
        click.echo("}")

    _run(store, store_credentials, store_ca, work)


@cluster.command()
@store_option
@access_options
@click.option(
    "--monitor",
    multiple=True,
    metavar="URL",
    help="The monitoring page of a node, as in http://a.example:8222, to see whether it flushes every write.",
)
def check(store: str, store_credentials: Path | None, store_ca: Path | None, monitor: Sequence[str]) -> None:
    """Say how the store is and what is wrong with it. Exit code 1 where something is.

    Use the credentials of the servers: each of their rights is tried once.
    """

    async def work(link: Link) -> None:
        from tictactoe_server.stores.jetstream import inspect

        report = await inspect(link, monitor)
        for line in report.said:
            click.echo(line)
        for line in report.wrong:
            click.echo(f"Wrong: {line}")
        if report.wrong:
            sys.exit(1)
        click.echo("Nothing is wrong.")

    _run(store, store_credentials, store_ca, work)


def _run(
    urls: str, credentials: Path | None, ca: Path | None, work: Callable[[Link], Coroutine[Any, Any, None]]
) -> None:
    """Do something with a connection to the store, or say why not and end."""

    async def connected() -> None:
        link = await _open_link(urls, credentials, ca)
        try:
            await work(link)
        finally:
            await link.close()

    set_up_logging("text", "error")
    try:
        asyncio.run(connected())
    except CannotOpenStore as error:
        click.echo(f"tictactoe-server: {error}", err=True)
        sys.exit(1)


async def _open_link(urls: str, credentials: Path | None, ca: Path | None) -> Link:
    """Return a connection to the store; raises `CannotOpenStore`."""
    with needing_nats():
        from tictactoe_server.stores.jetstream import Link
    return await Link.open(urls, credentials=credentials, ca=ca)


def _nodes(count: int) -> str:
    return "one node" if count == 1 else f"{count} nodes"
