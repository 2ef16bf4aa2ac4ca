"""The full screen ended from outside at every moment: the terminal is restored, the exit code is right."""

import asyncio
import signal
import sys

import pytest

from tests.end_to_end.clients import COMMAND
from tests.faults.hostile_server import ROOM, Frame, hostile_server
from tests.peer import PATIENCE_SECONDS
from tests.terminal import ENTERED, RESTORED, Terminal, run_screen
from tictactoe_protocol.requests import Leave, Request
from tictactoe_server.server import Server

SIGNALS = [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]

MOMENTS = [
    *(("app.TicTacToe.__init__", *each) for each in SIGNALS),
    ("LinuxDriver.start_application_mode", signal.SIGHUP, 129),
    ("page.Page.compose", signal.SIGINT, 130),
]
"""Before the app exists each signal is handled separately; later the event loop handles all signals alike."""


def changed_screen(server: str, place: str, deed: str) -> str:
    """Return a program for the full screen that runs `deed` whenever it reaches this place; `done` is a list."""
    owner, _, name = place.rpartition(".")
    return (
        "import os, sys\n"
        "from textual.drivers.linux_driver import LinuxDriver\n"
        "from tictactoe_client.tui import app, home, page\n"
        f"real, done = {owner}.{name}, []\n"
        "def instead(*arguments, **named):\n"
        f"    {deed}\n"
        "    return real(*arguments, **named)\n"
        f"{owner}.{name} = instead\n"
        "from tictactoe_client.cli.main import main\n"
        f"sys.argv[1:] = ['-s', {server!r}]\n"
        "main()\n"
    )


MISTAKE = "raise RuntimeError('broken on purpose')"


def assert_restored(screen: Terminal) -> None:
    """Check that all terminal modes are restored, in any order, and that there is no traceback."""
    entered = screen.written.rpartition(ENTERED)
    if entered[1]:
        assert all(sequence in entered[2] for sequence in RESTORED)
    for mode in ("1000", "1003", "1006", "2004", "1004"):
        on, off = f"\x1b[?{mode}h".encode(), f"\x1b[?{mode}l".encode()
        assert screen.written.rfind(on) <= screen.written.rfind(off)
    assert b"Traceback" not in screen.written


@pytest.mark.parametrize(("moment", "number", "code"), MOMENTS)
async def test_a_signal_while_it_starts_ends_it(server: Server, moment: str, number: signal.Signals, code: int) -> None:
    once = f"if not done: done.append(True); os.kill(os.getpid(), {int(number)})"
    async with run_screen(sys.executable, "-c", changed_screen(server.url, moment, once)) as screen:
        assert await screen.end() == code
        assert_restored(screen)
        assert screen.attributes() == screen.before


async def test_the_second_signal_ends_it_at_once_and_still_restores_the_terminal() -> None:
    left = asyncio.Event()

    def hear_and_say_nothing(_: Request) -> list[Frame]:
        left.set()
        return []

    async with (
        hostile_server("bo", {Leave: hear_and_say_nothing}) as server,
        run_screen(*COMMAND, "join", ROOM, "-s", server.url) as screen,
    ):
        await screen.until("Your move")
        screen.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await left.wait()
        screen.process.send_signal(signal.SIGINT)
        assert await screen.end() == 130
        assert_restored(screen)
        assert screen.attributes() == screen.before
