"""A run of a command from its connection to its exit code: signals, failures in words, and the last line of JSON.

Every command that talks to a server is a function of a connected client here; this is the one boundary that turns
whatever went wrong into a sentence and a code.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any

from tictactoe_client.exits import describe_failure, exit_code_for, name_failure
from tictactoe_client.files.debug_log import keeping_debug_log, report_bug
from tictactoe_client.history import find_left_behind
from tictactoe_client.json.lines import print_own
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Client
from tictactoe_client.online.errors import ClientError
from tictactoe_client.session import Role, Session, house_for
from tictactoe_client.settings import ExitCode, Misuse, Settings
from tictactoe_client.streams.output import Output, OutputFailed, print_error, silence_output
from tictactoe_client.streams.signals import hear_signals
from tictactoe_protocol import clean_text

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

    `address` is the server that a link named; None means the one of the settings. Plain mode says where it
    connects to, unless it is not to be chatty. With `room` we are the player again whose seat there was left behind.
    Games that an earlier run left behind are named first, where that is not left to the work.
    """
    is_chatty = is_chatty and settings.mode == "plain" and not settings.quiet

    def tell(*lines: str) -> None:
        """Say what is beside the matter: in a transcript, or where standard output is for programs, beside it."""
        if lines and is_chatty:
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
                if settings.mode == "plain" and not settings.quiet:
                    Output().print(f"No server runs on this machine: started one at {client.address.url} for this run.")
            elif tells_left_behind:
                if is_chatty and client.address != house.first:
                    tell(f"Connected to {client.address.url}.")
                if not settings.quiet:
                    tell(*(await find_left_behind(session, but=room)).describe(client.address))
            return await work(client, session)

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
