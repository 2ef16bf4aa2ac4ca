"""The commands under `tictactoe-server cluster`: create the streams, change their number, and check the cluster."""

from __future__ import annotations

import asyncio
import functools
import sys
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from tictactoe_server import clock
from tictactoe_server.features.jetstream import access_options, needing_nats
from tictactoe_server.operator.log import set_up_logging
from tictactoe_server.operator.words import show_count
from tictactoe_server.storage.store import CannotOpenStore

if TYPE_CHECKING:
    from tictactoe_server.features.jetstream.link import Link

MAKING_SECONDS: Final = 25.0  # for how long `init` retries, because nodes that have just started must elect a leader
MOST_STREAMS: Final = 64
_AGAIN_SECONDS: Final = 0.5
_WATCH_SECONDS: Final = 10.0
_PERMANENT: Final = ("permissions violation", "already in use", "not supported", "written by version 1")
"""Parts of messages about errors that a retry does not resolve."""


def _with_link(work: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Turn the coroutine function `work`, which needs a `Link`, into a command with the options for the connection."""

    async def connected(urls: str, credentials: Path | None, ca: Path | None, **options: Any) -> None:
        with needing_nats():
            from tictactoe_server.features.jetstream.link import Link
        link = await Link.open(urls, credentials=credentials, ca=ca)
        try:
            await work(link, **options)
        finally:
            await link.close()

    @click.option(
        "--store",
        metavar="URLS",
        envvar="TICTACTOE_STORE",
        required=True,
        help="URLs of the NATS servers, such as nats://a.example,b.example,c.example.",
    )
    @access_options
    @functools.wraps(work)
    def run(store: str, store_credentials: Path | None, store_ca: Path | None, **options: Any) -> None:
        set_up_logging("text", "error")
        asyncio.run(connected(store, store_credentials, store_ca, **options))

    return run


@click.group()
def cluster() -> None:
    """Set up and check the store of a cluster of servers."""


@cluster.command()
@_with_link
@click.option(
    "--replicas",
    type=click.IntRange(1, 5),
    default=3,
    show_default=True,
    metavar="NUMBER",
    help="Number of copies on different nodes. With fewer than 3, the loss of one node stops the cluster.",
)
@click.option(
    "--streams",
    type=click.IntRange(1, MOST_STREAMS),
    default=8,
    show_default=True,
    metavar="NUMBER",
    help="Number of streams over which the rooms are distributed, each with its own leader.",
)
async def init(link: Link, replicas: int, streams: int) -> None:
    """Create the streams of a cluster.

    The command also prints the permissions that the servers require.

    Existing streams are not changed, except that their leaders are spread evenly over the nodes. The credentials must
    allow creating streams.

    Example: tictactoe-server cluster init --store nats://a,b,c
    """
    from tictactoe_server.features.jetstream.stream import RIGHTS
    from tictactoe_server.features.jetstream.streams import make_streams

    shown, deadline = "", clock.monotonic() + MAKING_SECONDS
    while True:
        try:
            made = await make_streams(link, streams, replicas)
            break
        except CannotOpenStore as error:
            if clock.monotonic() > deadline or any(words in str(error).lower() for words in _PERMANENT):
                raise
            if str(error) != shown:
                shown = str(error)
                click.echo(f"{shown} Retrying for up to {MAKING_SECONDS:.0f} s.", err=True)
        await asyncio.sleep(_AGAIN_SECONDS)
    found = show_count(made.layout.shared, "stream")
    click.echo(f"The cluster has {found} for rooms, on {show_count(replicas, 'node')}.")
    if made.layout.shared != streams:
        click.echo(f"To change the number of streams: tictactoe-server cluster reshard {streams}")
    click.echo("Give the NATS user of the servers:\npermissions {")
    for verb, subjects in RIGHTS.items():
        listed = ", ".join(f'"{subject}"' for subject in subjects)
        click.echo(f"  {verb} {{ allow: [{listed}] }}")
    click.echo("}")


@cluster.command()
@_with_link
@click.argument("streams", type=click.IntRange(1, MOST_STREAMS))
async def reshard(link: Link, streams: int) -> None:
    """Distribute the rooms over STREAMS streams. All servers must be stopped.

    After an interruption, run the command again: with the same number to finish, or with the previous number to
    undo. The credentials must allow creating streams.
    """
    from tictactoe_server.features.cluster.check import Inspector
    from tictactoe_server.features.jetstream.streams import share_out

    if living := [server.name for server, _ in await (await Inspector(link).open()).living()]:
        raise CannotOpenStore(f"Stop these servers first: {', '.join(living)}.")
    moved = await share_out(link, streams)
    now = f"The cluster now has {show_count(streams, 'stream')} for rooms"
    click.echo(f"{now}; moved {show_count(moved, 'room')}. Start the servers.")


@cluster.command()
@_with_link
@click.option("--watch", is_flag=True, help="Keep checking, and report changes of the faults until interrupted.")
async def check(link: Link, *, watch: bool) -> None:
    """Check the health of the streams, the NATS nodes and the servers. The exit code is 1 if there is a fault.

    Use the credentials of the servers.
    """
    from tictactoe_server.features.cluster.check import (  # the rest of this module works without nats-py
        Fault,
        Inspector,
    )

    inspector = await Inspector(link).open()
    findings, shown = await inspector.inspect(), None
    for finding in findings:
        if not isinstance(finding, Fault):
            click.echo(finding)
    while True:
        faults = [finding for finding in findings if isinstance(finding, Fault)]
        if faults != shown:
            when = f"{datetime.fromtimestamp(clock.wall()):%H:%M:%S} " if watch else ""
            for line in [f"Fault: {fault}" for fault in faults] or ["No faults."]:
                click.echo(when + line)
        if not watch:
            sys.exit(bool(faults))
        shown = faults
        await asyncio.sleep(_WATCH_SECONDS)
        findings = await inspector.inspect()
