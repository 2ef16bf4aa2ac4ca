"""Runs a command: connects, handles signals, and turns every error into an exit code, in a single place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

from tictactoe_client.exits import describe_failure, judge
from tictactoe_client.files.players import Identity, Role
from tictactoe_client.files.writer import keeping_debug_log, report_bug
from tictactoe_client.json_mode import pass_through
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError, Refused
from tictactoe_client.session import Session, cluster_for
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import hear_signals, standard_input
from tictactoe_client.streams.output import Output, OutputFailed, print_error, report_end, report_failure
from tictactoe_client.text.programs import own_command
from tictactoe_client.text.talk import describe_device_news
from tictactoe_words.catalogue import say

Work = Coroutine[Any, Any, int]


def run_until_signal(settings: Settings, work: Work) -> int:
    """Run a command and return its exit code, or 128 plus the number of the signal that stopped it.

    A second signal ends the process at once. If Ctrl-C is pressed before the signal handlers are set, `main.run`
    handles it.
    """
    received: list[int] = []

    async def listen() -> int:
        task = asyncio.create_task(carry_out(settings, work))

        def stop(number: int) -> None:
            received.append(number)
            task.cancel()

        hear_signals(stop)
        try:
            return await task
        except BaseException:
            if not received:
                raise
            return report_end(settings, 128 + received[0])

    return asyncio.run(listen())


async def carry_out(settings: Settings, work: Work) -> int:
    """Run a command and return the exit code; print errors, except `OutputFailed`, which is raised."""
    with keeping_debug_log(is_wanted=settings.debug):
        try:
            code = await work
        except OutputFailed:
            raise
        except ClientError as error:
            code, name = judge(error)
            report_failure(settings, name, error.message, describe_failure(error, settings))
        except Exception as error:
            code = ExitCode.OUR_BUG
            report_failure(settings, "internal", report_bug(error))
        return report_end(settings, code)


async def ask_and_print(
    settings: Settings, client: Client, ask: Callable[[], Coroutine[Any, Any, Iterable[str]]], nothing: str = ""
) -> int:
    """Send requests and print the lines that `ask` returns, or `nothing` if there are none.

    In JSON mode, the server's messages are printed instead.
    """
    if settings.mode == "json":
        await pass_through(client, ask)
        return ExitCode.NORMAL
    lines = [*await ask()]
    Output().print(*lines)
    if nothing and not lines and not settings.quiet:
        print_error(nothing)
    return ExitCode.NORMAL


@asynccontextmanager
async def connected(
    settings: Settings,
    address: Address | None = None,
    *,
    is_chatty: bool = False,
    room: str | None = None,
    role: Role = "nobody",
    resumes: bool = False,
    codes: dict[str, str] | None = None,
    new_name: str | None = None,
    bot: bool = False,
) -> AsyncIterator[tuple[Client, Session]]:
    """Connect to the server at `address`, by default the server of the settings.

    Args:
        is_chatty: Whether to print the progress on standard output, as part of the transcript.
        room: A room; if an earlier run left a seat in it, we are the player of that seat.
        resumes: Whether to be a player with any seat from an earlier run, if there is one.
        codes: A `link` or `rescue` code that says which player we are.
        new_name: A new name for the player.
        bot: Whether to be shown as a program.
    """
    is_chatty = is_chatty and settings.mode == "plain" and not settings.quiet

    def tell(*lines: str) -> None:
        if is_chatty:
            Output().print(*lines)
        elif lines and not settings.quiet:
            print_error("\n".join(lines))

    cluster = cluster_for(settings, address)
    if is_chatty:
        tell(say("connecting", url=cluster.first.url))
    identity = Identity(settings.name, role, room, resumes=resumes, codes=codes, new_name=new_name, tell=tell)
    session = Session(settings, cluster, identity)
    session.is_bot = bot
    async with session.open() as client:
        if session.is_own:
            tell(say("server of our own started", url=client.address.url))
        elif is_chatty and client.address != cluster.first:
            tell(say("connected to", url=client.address.url))
        if is_chatty and client.welcome.names == "given" and settings.name not in (None, client.name):
            tell(say("names given instead", name=client.name, typed=settings.name))
        if warning := describe_device_news(client.welcome):
            names = [own_command("name", *words, server=client.address) for words in ((), ("revoke", "ID"))]
            tell(warning, say("name devices how", devices=names[0], revoke=names[1]))
        try:
            yield client, session
        except Refused as refused:
            refused.server = client.address.socket_url
            raise


async def ask_line(screen: Output) -> str | None:
    """Return the next typed line; at the end of the input, print a goodbye and return None."""
    line = None
    screen.prompt()
    try:
        line = await standard_input().read_line()
    finally:
        if line is None:
            screen.print(say("goodbye"))
    screen.note_typed()
    return line
