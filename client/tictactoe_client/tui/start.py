"""Starts the full screen; its libraries are imported only then."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from tictactoe_client.online.address import Address, parse_cluster
from tictactoe_client.settings import ExitCode, Settings
from tictactoe_client.streams.keyboard import hear_signals
from tictactoe_client.streams.output import print_error
from tictactoe_client.streams.terminal import Terminal
from tictactoe_client.tui import FirstPage

if TYPE_CHECKING:
    from tictactoe_client.input.ways import Choice


async def show_screen(
    settings: Settings,
    address: Address | None = None,
    first: Choice | None = None,
    *,
    first_page: FirstPage | None = None,
) -> int:
    """Show the full screen and return the exit code; an unexpected error is raised after restoring the terminal."""
    address = address or parse_cluster(settings.server).first
    terminal = Terminal()
    hear_signals(lambda number: app.leave(128 + number), terminal.restore)
    from tictactoe_client.tui.app import TicTacToe

    app = TicTacToe(settings, address, first, first_page=first_page, terminal=terminal)
    loop = asyncio.get_running_loop()
    terminal.watch(lambda: loop.call_soon_threadsafe(app.leave, 128 + signal.SIGHUP))
    try:
        # A separate task keeps the stack short while keys are handled.
        code = await asyncio.create_task(app.run_async(mouse=settings.mouse))
    finally:
        terminal.show_input()
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise asyncio.CancelledError  # Textual may swallow an interrupt that arrived early
    if app.failure is not None:
        raise app.failure
    if app.unhandled.getvalue():
        raise RuntimeError(app.unhandled.getvalue())
    if app.last_words:
        print_error(app.last_words)
    return app.return_code or code or ExitCode.NORMAL
