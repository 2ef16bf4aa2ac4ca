"""A run of the full screen from the command line to the exit code; the terminal is as it was afterwards, always."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Final

from tictactoe_client.exits import describe_failure, exit_code_for
from tictactoe_client.files.writer import keeping_debug_log, report_bug
from tictactoe_client.online.address import Address
from tictactoe_client.online.client import Choice
from tictactoe_client.online.errors import BadAddress
from tictactoe_client.session import house_for
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import hear_signals
from tictactoe_client.streams.output import print_error
from tictactoe_client.tui.opening import Opening

_GRACE_SECONDS: Final = 3.0
_LEAVE_SCREEN: Final = (
    b"\x1b[?2004l\x1b[?7h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""Undoes what the terminal library switches on, for an end at which it cannot do so itself."""


def run_screen(
    settings: Settings, address: Address | None, first: Choice | None = None, *, opening: Opening | None = None
) -> int:
    """Open the full screen, in the room of `first` or at another page, and return the exit code."""
    try:
        target = house_for(settings, address).first
    except BadAddress as bad:
        print_error(describe_failure(bad, settings))
        return exit_code_for(bad)
    with keeping_debug_log(is_wanted=settings.debug):
        return asyncio.run(show_screen(settings, target, first, opening=opening))


async def show_screen(
    settings: Settings, address: Address, first: Choice | None = None, *, opening: Opening | None = None
) -> int:
    """Show the full screen until it is left, for a caller that keeps the debug log; return the exit code."""
    from tictactoe_client.tui.app import TicTacToe

    app = TicTacToe(settings, address, first, opening=opening)
    code: object = None
    try:
        code = await _run_under_signals(app.run_async(mouse=settings.mouse), app.stop_by_signal)
    except Exception as error:
        app.failure = app.failure or error
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise asyncio.CancelledError  # the library may swallow an interrupt that came before it heard of signals
    if app.failure is None and (unhandled := app.unhandled.getvalue()):
        app.failure = RuntimeError(unhandled)
    if app.failure is not None:
        print_error(report_bug(app.failure))
        return ExitCode.OUR_BUG
    if app.last_words:
        print_error(app.last_words)
    return app.return_code or (code if isinstance(code, int) else ExitCode.NORMAL)


async def _run_under_signals(running: object, stop: Callable[[int], None]) -> object:
    """Run, and pass signals on; the loss of the terminal counts as a hang-up."""
    loop = asyncio.get_running_loop()
    hear_signals(stop, _remember_terminal())
    _watch_terminal(lambda: loop.call_soon_threadsafe(stop, signal.SIGHUP))
    return await running  # type: ignore[misc]


def _remember_terminal() -> Callable[[], None]:
    """Return what puts the terminal back into the state that it is in now."""
    try:
        import termios
    except ImportError:
        return lambda: None
    with contextlib.suppress(termios.error):
        attributes = termios.tcgetattr(0)

        def restore() -> None:
            with contextlib.suppress(OSError, termios.error):
                os.write(2, _LEAVE_SCREEN)
                termios.tcsetattr(0, termios.TCSANOW, attributes)

        return restore
    return lambda: None


def _watch_terminal(gone: Callable[[], object]) -> None:
    """Leave when the terminal is gone, also where no signal says so; where the end then hangs, end at once."""
    if not hasattr(select, "poll"):
        return

    def watch() -> None:
        terminal = select.poll()
        terminal.register(0, 0)
        terminal.poll()
        with contextlib.suppress(RuntimeError):
            gone()
        time.sleep(_GRACE_SECONDS)
        os._exit(ExitCode.HANGUP)

    threading.Thread(target=watch, name="terminal", daemon=True).start()
