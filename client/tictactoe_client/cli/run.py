"""A run of a command from its connection to its exit code: signals, and the one boundary for whatever goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from tictactoe_client.earlier import find_left_behind
from tictactoe_client.exits import describe_failure, exit_code_for, name_failure
from tictactoe_client.files.writer import report_bug
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError
from tictactoe_client.session import Role, Session, house_for
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.keyboard import hear_signals, standard_input
from tictactoe_client.streams.output import Output, OutputFailed, print_error, print_failure

Work = Callable[[Client, Session], Coroutine[Any, Any, int]]


def run(
    settings: Settings,
    address: Address | None,
    work: Work,
    *,
    is_chatty: bool = True,
    room: str | None = None,
    role: Role = "nobody",
    tells_left_behind: bool = True,
) -> int:
    """Connect, do the work, and return the exit code, everything having been told.

    `address` is the server that a link named; None means the one of the settings. With `room` we are the player again
    whose seat there was left behind. Games that an earlier run left behind are named first, unless the work does so.
    """
    is_chatty = is_chatty and settings.mode == "plain" and not settings.quiet

    def tell(*lines: str) -> None:
        """Say what is beside the matter: in a transcript, or where standard output is for programs, beside it."""
        if is_chatty:
            Output().print(*lines)
        elif lines and not settings.quiet:
            print_error("\n".join(lines))

    async def converse() -> int:
        house = house_for(settings, address)
        if is_chatty:
            tell(f"Connecting to {house.first.url} ...")
        session = Session(settings, house, role, room=room, tell=tell)
        async with session.open() as client:
            if session.is_own:
                tell(f"No server runs on this machine: started one at {client.address.url} for this run.")
            elif tells_left_behind:
                if is_chatty and client.address != house.first:
                    tell(f"Connected to {client.address.url}.")
                if not settings.quiet:
                    tell(*(await find_left_behind(session, but=room)).describe(client.address))
            return await work(client, session)

    return run_alone(settings, converse, address)


def run_alone(settings: Settings, work: Callable[[], Coroutine[Any, Any, int]], address: Address | None = None) -> int:
    """Do work that may need no server at all, and return the exit code, everything having been told.

    Misuse, output that nobody takes any more, and Ctrl-C before signals are heard, are left to whoever runs the command
    line.
    """
    in_json = settings.mode == "json"
    try:
        return asyncio.run(_run_under_signals(work()))
    except (Misuse, BrokenPipeError, OutputFailed):
        raise
    except ClientError as error:
        print_failure(name_failure(error), error.message, describe_failure(error, settings, address), in_json=in_json)
        return exit_code_for(error)
    except Exception as error:
        print_failure("internal", report_bug(error), in_json=in_json)
        return ExitCode.OUR_BUG


async def converse(screen: Output, answer: Callable[[str], Awaitable[bool]]) -> None:
    """Let what a person types be answered, a line at a time, until that tells that it was the last."""
    keyboard = standard_input()
    try:
        screen.prompt()
        while (line := await keyboard.read_line()) is not None:
            screen.note_typed()
            if not await answer(line):
                return
            screen.prompt()
    except asyncio.CancelledError:
        screen.print("Goodbye.")
        raise
    screen.print("Goodbye.")


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
    except BaseException:
        if not received:
            raise
        return 128 + received[0]
