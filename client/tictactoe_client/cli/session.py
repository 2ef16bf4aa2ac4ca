"""A run of a command from its connection to its exit code: signals, failures in words, and the last line of JSON.

Every command that talks to a server is a function of a connected client here; this is the one boundary that turns
whatever went wrong into a sentence and a code.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

from tictactoe_client.exits import describe_failure, exit_code_for, name_failure
from tictactoe_client.files.debug_log import keeping_debug_log, report_bug
from tictactoe_client.files.left_behind import describe_left_behind
from tictactoe_client.files.players import KnownPlayer, KnownPlayers
from tictactoe_client.files.seats import Seats
from tictactoe_client.json.json_lines import print_own
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client, connect
from tictactoe_client.online.errors import (
    ClientError,
    Refused,
    Unreachable,
)
from tictactoe_client.online.house import House, parse_house
from tictactoe_client.online.local_server import run_local_server
from tictactoe_client.session import house_for
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, OutputFailed, print_error, silence_output
from tictactoe_client.streams.signals import hear_signals
from tictactoe_protocol import clean_text

Work = Callable[[Client], Coroutine[Any, Any, int]]
Identity = Literal["anyone", "player", "reader"]
"""Who we are on the server: somebody new, the player of an earlier run that nobody else plays as, or just like them."""


def run(
    settings: Settings,
    address: Address | None,
    work: Work,
    *,
    is_chatty: bool = True,
    room: str | None = None,
    identity: Identity = "anyone",
    tells_left_behind: bool = True,
) -> int:
    """Connect, do the work, and return the exit code, everything having been told.

    `address` is the server that a link named; None means the one of the settings. Plain mode says where it
    connects to, unless it is not to be chatty. With `room` we are the player again whose seat there was left behind.
    Games that an earlier run left behind are named first, where that is not left to the work.
    """
    is_chatty = is_chatty and settings.mode == "plain" and not settings.quiet

    async def converse() -> int:
        target = house_for(settings, address)
        if is_chatty:
            Output().print(f"Connecting to {target.first.url} ...")
        told = is_chatty if tells_left_behind else None
        return await _converse(settings, target, work, room, identity, tells_on_screen=told)

    return run_alone(settings, converse, address)


def run_alone(settings: Settings, work: Callable[[], Coroutine[Any, Any, int]], address: Address | None = None) -> int:
    """Do work that may need no server at all, and return the exit code, everything having been told."""
    with keeping_debug_log(is_wanted=settings.debug):
        code = _run_guarded(settings, work, address)
        return print_closed(code) if settings.mode == "json" else code


def print_closed(code: int) -> int:
    """Print JSON mode's last line, and return the code to exit with: another one where nobody reads any more."""
    try:
        print_own("closed", exit=int(code))
    except BrokenPipeError:
        silence_output()
        return ExitCode.BROKEN_PIPE
    except OutputFailed as failed:
        print_error(failed.message)
        return failed.exit_code
    return code


def print_failure(code: str, message: str, *, in_json: bool) -> None:
    """Say what failed on standard error, for programs also as a line of JSON."""
    print_error(message)
    if in_json:
        _print_own_quietly("error", code=code, message=message)


def _print_own_quietly(type: str, **fields: object) -> None:
    """Print a line of our own where anybody still reads."""
    with contextlib.suppress(BrokenPipeError, OutputFailed):
        print_own(type, **fields)


def _run_guarded(settings: Settings, work: Callable[[], Coroutine[Any, Any, int]], address: Address | None) -> int:
    try:
        return asyncio.run(_run_under_signals(work()))
    except Misuse as misuse:
        print_failure("usage", misuse.message, in_json=settings.mode == "json")
        return ExitCode.USAGE
    except ClientError as error:
        print_error(describe_failure(error, settings, address))
        if settings.mode == "json":
            _print_own_quietly("error", code=name_failure(error), message=clean_text(error.message))
        return exit_code_for(error)
    except BrokenPipeError:
        silence_output()
        return ExitCode.BROKEN_PIPE
    except OutputFailed as failed:
        print_error(failed.message)
        return failed.exit_code
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:
        print_failure("internal", report_bug(error), in_json=settings.mode == "json")
        return ExitCode.OUR_BUG


async def _converse(
    settings: Settings,
    house: House,
    work: Work,
    room: str | None,
    identity: Identity,
    *,
    tells_on_screen: bool | None,
) -> int:
    """Connect and do the work; with `tells_on_screen` None nothing is said of games that were left behind."""
    async with AsyncExitStack() as stack:
        try:
            token = _token_for(settings, house, room, identity)
            client = await stack.enter_async_context(_connect(settings, house, token))
        except Unreachable:
            if not settings.local or not house.first.is_loopback:
                raise
            own = await stack.enter_async_context(run_local_server())
            if settings.mode == "plain" and not settings.quiet:
                Output().print(f"No server runs on this machine: started one at {own.url} for this run.")
            named = replace(settings, name=settings.name or KnownPlayers().find_name())
            client = await stack.enter_async_context(_connect(named, House((own,))))
        else:
            if identity == "player":
                KnownPlayers().keep(*(KnownPlayer(url, client.name, client.token) for url in house.urls))
            if tells_on_screen and client.address != house.first:
                Output().print(f"Connected to {client.address.url}.")
            if tells_on_screen is not None and not settings.quiet:
                lines = await describe_left_behind(client, settings.timeout_seconds, but=room)
                _tell(lines, on_screen=tells_on_screen)
        return await work(client)


def _tell(lines: list[str], *, on_screen: bool) -> None:
    """Say what is beside the matter: in a transcript, or where standard output is for programs, on standard error."""
    if on_screen:
        Output().print(*lines)
    elif lines:
        print_error("\n".join(lines))


@asynccontextmanager
async def connect_as_reader(settings: Settings) -> AsyncIterator[Client]:
    """Connect to the server of the settings as whom we played there last, without getting in their way."""
    house = parse_house(settings.server)
    async with _connect(settings, house, _token_for(settings, house, None, "reader")) as client:
        yield client


def _token_for(settings: Settings, house: House, room: str | None, identity: Identity) -> str | None:
    """Return the token of the player who left a seat behind in this room, else of whom we were, None for nobody."""
    if identity == "reader":
        known = KnownPlayers().find(house.urls, settings.name)
        return known.token if known is not None else None
    left_behind = Seats().find(house.urls, room) if room else None
    if left_behind is not None:
        return left_behind.token
    known = KnownPlayers().take(house.urls, settings.name) if identity == "player" else None
    return known.token if known is not None else None


@asynccontextmanager
async def _connect(settings: Settings, house: House, token: str | None = None) -> AsyncIterator[Client]:
    """Connect as the player whose token this is; a server that forgot them gets to know us anew."""
    try:
        async with _open(settings, house, token) as client:
            yield client
            return
    except Refused as refused:
        if token is None or refused.code != "bad_token":
            raise
        server = refused.server or house.first.url  # the others of the house may still know them
        Seats().forget(server, token)
        KnownPlayers().forget(server, token)
    async with _open(settings, house, None) as client:
        yield client


def _open(settings: Settings, house: House, token: str | None) -> AbstractAsyncContextManager[Client]:
    return connect(
        house,
        name=settings.name,
        token=token,
        timeout_seconds=settings.timeout_seconds,
        reconnect=settings.backoff,
        ca=settings.ca,
    )


async def _run_under_signals(work: Coroutine[Any, Any, int]) -> int:
    """Return the work's exit code, or 128 and the number of the signal that stopped it; a second one stops at once."""
    task = asyncio.create_task(work)
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        task.cancel()

    hear_signals(stop)
    try:
        return await task
    except asyncio.CancelledError:
        if not received:
            raise
        return 128 + received[0]
    except BaseException:
        if received:
            return 128 + received[0]
        raise
