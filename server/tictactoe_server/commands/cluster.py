"""The commands about the store of several servers: the stream is made once, and looked at whenever one likes."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from tictactoe_server.commands.access import access_options, store_option
from tictactoe_server.log import set_up_logging
from tictactoe_server.operator import orders
from tictactoe_server.stores import CannotOpenStore, needing_nats

if TYPE_CHECKING:
    from tictactoe_server.stores.jetstream import Link, Report

_MAX_TIME_LAG_MS: Final = 1_000


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
    """Say how the store and the servers are, and what is wrong with them. Exit code 1 where something is.

    Use the credentials of the servers: each of their rights is tried once.
    """

    async def work(link: Link) -> None:
        from tictactoe_server.stores.jetstream import inspect

        report = await inspect(link, monitor)
        await _look_at_servers(link, report)
        for line in report.said:
            click.echo(line)
        for line in report.wrong:
            click.echo(f"Wrong: {line}")
        if report.wrong:
            sys.exit(1)
        click.echo("Nothing is wrong.")

    _run(store, store_credentials, store_ca, work)


async def _look_at_servers(link: Link, report: Report) -> None:
    """Report on the servers that live; that none does is no fault."""
    from tictactoe_server.house import ask_living, call_roll
    from tictactoe_server.stores.jetstream import LinkError

    try:
        living = await call_roll(link)
    except LinkError as error:
        report.wrong.append(f"The servers cannot be heard: {error}")
        return
    if not living:
        report.said.append("No server lives.")
    for one in living:
        try:
            answer = msgspec.json.decode(await ask_living(link, one, msgspec.json.encode(orders.Status())))["answer"]
        except (LinkError, msgspec.MsgspecError, KeyError) as error:
            report.wrong.append(f"Server {one.name} lives and does not say how it is: {error}")
            continue
        report.said.append(
            f"Server {one.name} lives: {answer['players']} players, {answer['served']} rooms served, "
            f"{answer['behind']} writes behind the store, its time {one.time_lag_ms} ms behind the latest."
        )
        if answer["unready"] is not None and answer["drain"] is None:
            report.wrong.append(f"Server {one.name} is not ready: {answer['unready']}.")
        if one.time_lag_ms > _MAX_TIME_LAG_MS:
            report.wrong.append(f"The time of server {one.name} is not that of the others: it does not hear them.")
        for other in living:
            if other.id not in one.knows:
                report.wrong.append(f"Server {one.name} does not hear {other.name}.")


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
