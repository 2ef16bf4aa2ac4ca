"""The commands about the store of several servers: the streams are made once, and looked at whenever one likes."""

from __future__ import annotations

import asyncio
import functools
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tictactoe_server.cli.access import access_options, store_option
from tictactoe_server.cli.log import set_up_logging
from tictactoe_server.cli.nats_config import printing_config
from tictactoe_server.cluster import needing_nats
from tictactoe_server.storage.store import CannotOpenStore

if TYPE_CHECKING:
    from tictactoe_server.cluster.jetstream.link import Link

MAKING_SECONDS: Final = 25.0
"""For how long it is tried to make the streams: nodes that have just started choose a leader first."""

MOST_STREAMS: Final = 64
_AGAIN_SECONDS: Final = 0.5
_LASTING: Final = ("permissions violation", "already in use", "not supported")
"""What the nodes say where trying again changes nothing."""


def _with_link(work: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Make a command of something that is done with a connection to the store; without one the program ends."""

    async def connected(urls: str, credentials: Path | None, ca: Path | None, **options: Any) -> None:
        with needing_nats():
            from tictactoe_server.cluster.jetstream.link import Link
        link = await Link.open(urls, credentials=credentials, ca=ca)
        try:
            await work(link, **options)
        finally:
            await link.close()

    @store_option
    @access_options
    @functools.wraps(work)
    def run(store: str, store_credentials: Path | None, store_ca: Path | None, **options: Any) -> None:
        set_up_logging("text", "error")
        asyncio.run(connected(store, store_credentials, store_ca, **options))

    return run


@click.group()
def cluster() -> None:
    """Prepare the store of several servers, and look after it."""


@cluster.command()
@printing_config
@_with_link
@click.option(
    "--replicas",
    type=click.IntRange(1, 5),
    default=3,
    show_default=True,
    metavar="NUMBER",
    help="On how many nodes everything is kept; with less than 3 the loss of one stops all.",
)
@click.option(
    "--streams",
    type=click.IntRange(1, MOST_STREAMS),
    default=8,
    show_default=True,
    metavar="NUMBER",
    help="Among how many streams the rooms are shared out, each with a leader of its own.",
)
async def init(link: Link, replicas: int, streams: int) -> None:
    """Make the streams that keep rooms, players and games, and print the rights that the servers' user needs.

    What is there already stays as it is, but that the nodes lead about as many streams each. Use credentials that may
    make streams, which servers need not.
    """
    from tictactoe_server.cli.cluster_streams import make_streams
    from tictactoe_server.cluster.jetstream.stream import RIGHTS

    said, deadline = "", time.monotonic() + MAKING_SECONDS
    while True:
        try:
            made = await make_streams(link, streams, replicas)
            break
        except CannotOpenStore as error:
            if time.monotonic() > deadline or any(words in str(error).lower() for words in _LASTING):
                raise
            if str(error) != said:
                said = str(error)
                click.echo(f"{said} Trying again for up to {MAKING_SECONDS:.0f} s.", err=True)
        await asyncio.sleep(_AGAIN_SECONDS)
    nodes = "one node" if replicas == 1 else f"{replicas} nodes"
    click.echo(f"{_count_streams(made.layout.shared)} there, on {nodes}.")
    if made.layout.shared != streams:
        click.echo(f"To share the rooms out among {streams}: tictactoe-server cluster reshard {streams}")
    click.echo("The user of the servers needs these rights:\npermissions {")
    for verb, subjects in RIGHTS.items():
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        click.echo(f"  {verb} {{ allow: [{listed}] }}")
    click.echo("}")


@cluster.command()
@_with_link
@click.argument("streams", type=click.IntRange(1, MOST_STREAMS))
async def reshard(link: Link, streams: int) -> None:
    """Share the rooms out among STREAMS streams while all servers are stopped.

    Where it breaks off, call it again, or with the number of before: that is also the way back. Use credentials that
    may make streams.
    """
    from tictactoe_server.cli.cluster_check import find_living
    from tictactoe_server.cli.cluster_streams import share_out

    if living := [server.name for server, _ in await find_living(link)]:
        raise CannotOpenStore(f"These servers live and have to be stopped first: {', '.join(living)}.")
    moved = await share_out(link, streams)
    click.echo(f"{_count_streams(streams)} there now for the rooms: {moved} moved. The servers may start.")


def _count_streams(count: int) -> str:
    return "One stream is" if count == 1 else f"{count} streams are"


@cluster.command()
@_with_link
@click.option(
    "--monitor",
    multiple=True,
    metavar="URL",
    help="The monitoring page of a node, as in http://a.example:8222, to see whether it flushes every write.",
)
async def check(link: Link, monitor: Sequence[str]) -> None:
    """Say how the store and the servers are, and what is wrong with them. Exit code 1 where something is.

    Use the credentials of the servers: each of their rights is tried once.
    """
    from tictactoe_server.cli.cluster_check import Wrong, inspect  # what else is here does without the library

    found = await inspect(link, monitor)
    wrong = [f"Wrong: {finding}" for finding in found if isinstance(finding, Wrong)]
    for line in (*(finding for finding in found if not isinstance(finding, Wrong)), *wrong):
        click.echo(line)
    if wrong:
        sys.exit(1)
    click.echo("Nothing is wrong.")
