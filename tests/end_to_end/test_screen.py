import asyncio
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.end_to_end.clients import COMMAND
from tests.end_to_end.test_screen_endings import MISTAKE, SIGNALS, changed_screen
from tests.peer import open_peer
from tests.terminal import ENTERED, RESTORED, run_screen
from tictactoe_server.server import Server


@pytest.mark.parametrize(("number", "code"), SIGNALS)
async def test_signals_free_the_terminal_and_ctrl_c_the_seat(server: Server, number: signal.Signals, code: int) -> None:
    async with open_peer(server.url, "bo") as bo:
        room = (await bo.ask("create"))["room"]
        async with run_screen(*COMMAND, "join", room, "-s", server.url, "-n", "ana") as screen:
            await screen.until("It's bo's move")
            assert ENTERED in screen.written
            screen.process.send_signal(number)
            assert await screen.end() == code
            assert all(sequence in screen.written for sequence in RESTORED)
        if number == signal.SIGINT:
            assert (await bo.state(status="over"))["result"]["reason"] == "aborted"
        else:
            told = f"Your seat in {room} is held for 1 minute. To come back: tictactoe-client join "
            assert told.encode() in screen.written.rpartition(RESTORED[0])[2]
            await bo.until(lambda message: "hold_ms" in (message.get("seats", {}).get("O") or {}))


async def test_keys_typed_while_it_starts_are_handled(server: Server) -> None:
    async with run_screen(*COMMAND, "-s", server.url) as screen:
        screen.type("?")
        await screen.shows("Everywhere", "Ctrl+L  refresh")


async def test_a_bug_restores_the_terminal_and_names_a_report(server: Server) -> None:
    program = changed_screen(server.url, "home.HomePage.action_move", MISTAKE)
    async with run_screen(sys.executable, "-c", program) as screen:
        await screen.until("Playing as")
        screen.type("\x1b[B")
        assert await screen.end() == 1
        assert all(sequence in screen.written for sequence in RESTORED)
        after = screen.written.rpartition(RESTORED[0])[2]
        assert b"This is a bug in tictactoe-client" in after
        assert b"Traceback" not in after
        path = Path(after.decode().rpartition("The details are in ")[2].strip())
        report = await asyncio.to_thread(path.read_text, encoding="utf-8")
        assert report.rstrip().endswith("RuntimeError: broken on purpose")
        assert "locals" not in report


@pytest.mark.parametrize("command", [[], ["watch"], ["replay"]])
async def test_an_invalid_address_is_reported_before_the_screen_opens(command: list[str]) -> None:
    async with run_screen(*COMMAND, *command, "-s", "ws://host:99999") as screen:
        assert await screen.end() == 2
        words = '"ws://host:99999" is not a server address: the port must be a number up to 65535. '
        assert screen.written.decode().startswith(words)
        assert screen.written.count(b"\n") == 1


@pytest.mark.parametrize(
    ("variables", "options", "has_colour"),
    [({}, (), True), ({"NO_COLOR": ""}, (), True), ({"NO_COLOR": "1"}, (), False), ({}, ("--no-color",), False)],
    ids=["colour", "empty", "set", "option"],
)
async def test_no_color_removes_colour_unless_it_is_empty(
    server: Server, variables: dict[str, str], options: tuple[str, ...], *, has_colour: bool
) -> None:
    async with (
        run_screen(*COMMAND, "play", "-n", "ana", "-s", server.url, *options, **variables) as screen,
        open_peer(server.url, "bo") as bo,
    ):
        await screen.until("Waiting for another player")
        await bo.ask("match")
        await screen.until("Your move", "\x1b]2;● your move: tictactoe\x07")
        screen.type("5")
        await bo.state(ply=1)
        await screen.until("It's bo's move")
        assert (re.search(rb"\x1b\[[\d;]*38;[25];", screen.written) is not None) is has_colour


@pytest.mark.parametrize("stream", [0, 1, 2])
async def test_with_one_stream_redirected_there_is_never_an_escape(server: Server, stream: int) -> None:
    redirect = {0: "</dev/null", 1: "| cat", 2: "2>/dev/null"}[stream]
    command = f"exec {' '.join(COMMAND)} play --no-input --stay -s {server.url} {redirect}"
    async with run_screen("sh", "-c", command) as screen:
        await screen.until("Waiting for another player.")
        screen.process.kill()
        await screen.process.wait()
        assert b"\x1b" not in screen.written


async def test_the_mouse_is_taken_and_left_while_the_program_runs() -> None:
    async with run_screen(*COMMAND, "-s", "ws://127.0.0.1:1", "--no-mouse") as screen:
        await screen.until("r retry")
        assert b"\x1b[?1000h" not in screen.written
        await screen.do("s", "> Theme")
        for row in ("> Colour", "> Plain ASCII", "> Motion", "> Mouse"):
            await screen.do("\x1b[B", row)
        await screen.ask("\r", "\x1b[?1000h")
        await screen.ask("\r", "\x1b[?1000l")
        screen.type("\r")
        screen.written = b""
        await screen.until("\x1b[?1000h")
        screen.written = b""
        screen.type("\x11")
        assert await screen.end() == 3
        assert b"\x1b[?1000l" in screen.written
