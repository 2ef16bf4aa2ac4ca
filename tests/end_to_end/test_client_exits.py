import asyncio
import contextlib
import os
import shlex
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.clients import (
    COMMAND,
    ClientProcess,
    complaint,
    link_to,
    newer_server,
    run_client,
)
from tests.end_to_end.test_screen_endings import SIGNALS
from tests.environment import environment
from tests.kept import rooms_left
from tests.peer import PATIENCE_SECONDS, Peer, open_peer, two_playing
from tests.programs import IGNORING_HANGUP, start_program
from tests.terminal import run_screen
from tests.together import try_each
from tictactoe_server.server import Server

ESCAPE = "\x1b"
NO_ROOM = "There is no room ZZZZZZ. It may have closed. To list the rooms: tictactoe-client rooms --server SERVER\n"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["join", "ZZZZZZ"], 5, NO_ROOM),
        (["watch", "ZZZZZZ"], 5, NO_ROOM),
        (["play", "-n", "a+b"], 6, "Leave + out"),
        (["check", "-n", "x" * 25], 6, "A name has at most 24 characters; this one has 25."),
        (["watch"], 2, "Choose a game to watch: tictactoe-client watch CODE --server SERVER\n"),
        (["watch", "--no-input"], 2, "Choose a game to watch: tictactoe-client watch CODE --server SERVER\n"),
    ],
)
async def test_being_refused_by_a_server(server: Server, arguments: list[str], code: int, words: str) -> None:
    assert words.replace("SERVER", server.url) in await complaint(*arguments, "-s", server.url, code=code)


async def test_a_server_of_another_version_ends_with_four() -> None:
    async with newer_server() as url:
        errors = await complaint("play", "-s", url, code=4)
    assert errors.startswith("The server speaks protocol 3 and this client (")
    assert ") only protocol 2: upgrade the client the way you installed it." in errors


async def test_a_room_closed_under_a_watcher_ends_with_five(server: Server) -> None:
    async with open_peer(server.url) as ana:
        code = (await ana.ask("create"))["room"]
        async with run_client("watch", code, "-s", server.url) as watcher:
            await watcher.until("Waiting for another player.")
            await ana.ask("leave", room=code)
            assert await watcher.end() == 5


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("mode", ["--plain", "--json"])
async def test_signals_keep_the_seat_and_ctrl_c_gives_it_up(
    server: Server, mode: str, number: signal.Signals, code: int
) -> None:
    async with joined(server, mode) as (client, bo, room):
        client.process.send_signal(number)
        assert await client.end() == code
        assert await client.errors() == ""
        link = link_to(server.url, room)
        held = f"Your seat in {room} is held for 1 minute. To come back: tictactoe-client join {link}"
        said = "Goodbye." if number == signal.SIGINT else held
        assert client.lines[-1] == (said if mode == "--plain" else f'{{"from":"client","type":"closed","exit":{code}}}')
        if number == signal.SIGINT:
            assert (await bo.state(status="over"))["result"]["reason"] == "aborted"
        else:
            await sees_held(bo)
            assert rooms_left(server.url) == [room]


@contextlib.asynccontextmanager
async def joined(server: Server, mode: str) -> AsyncIterator[tuple[ClientProcess, Peer, str]]:
    """Join bo's room as ana in the given mode; yield her client, bo and the room."""
    async with open_peer(server.url, "bo") as bo:
        room = (await bo.ask("create"))["room"]
        async with run_client("join", room, mode, "-n", "ana", "-s", server.url) as client:
            await client.until("X's move." if mode == "--plain" else '{"type":"room"')
            yield client, bo, room


async def sees_held(bo: Peer) -> None:
    """Wait until bo sees ana's seat held in the running game."""
    await bo.until(lambda message: "hold_ms" in (message.get("seats", {}).get("O") or {}))
    assert bo.seen[-1]["status"] == "playing"


@pytest.mark.parametrize(("mode", "shown"), [("--plain", "X's move."), ("--json", '"status":"playing"')])
async def test_the_end_of_a_terminals_input_is_no_decision_either(server: Server, mode: str, shown: str) -> None:
    async with open_peer(server.url, "bo") as bo:
        room = (await bo.ask("create"))["room"]
        async with run_screen(*COMMAND, "join", room, mode, "-n", "ana", "-s", server.url) as screen:
            await screen.until(shown)
            screen.type("\x04")
            assert await screen.end() == 0
            assert mode == "--json" or b"The input has ended. Your seat in " in screen.written
        await sees_held(bo)


async def test_a_closed_pipe_ends_quietly_with_141(server: Server) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as output:
        async with open_peer(server.url) as bo, run_client("play", "-s", server.url, stdout=output) as client:
            output.close()
            rooms: list[dict[str, str]] = []
            while not rooms:
                rooms = (await bo.ask("rooms"))["rooms"]
            os.close(reader)
            await bo.ask("join", room=rooms[0]["room"])
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await client.process.wait() == 141
            assert await client.errors() == ""
            await bo.until(lambda message: "hold_ms" in (message.get("seats", {}).get("X") or {}))


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["config", "show"], ["--version"], ["rooms", "--json"], ["new"], ["new", "--json"]],
    ids=" ".join,
)
async def test_failed_output_is_reported_in_one_line(server: Server, arguments: list[str]) -> None:
    with os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb") as full:
        async with run_client(*arguments, stdout=full, TICTACTOE_SERVER=server.url) as client:
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await client.process.wait() == 8
            assert await client.errors() == ("The output cannot be written: no space left on device.\n")


@pytest.mark.parametrize(
    ("mode", "shown", "before"),
    [
        ((), "It's bo's move", IGNORING_HANGUP),
        (("--plain",), "X's move.", ()),
    ],
    ids=["screen that ignores SIGHUP", "plain"],
)
async def test_closing_the_terminal_ends_the_run_and_keeps_the_seat(
    server: Server, mode: tuple[str, ...], shown: str, before: tuple[str, ...]
) -> None:
    async with open_peer(server.url, "bo") as bo:
        room = (await bo.ask("create"))["room"]
        async with run_screen(*before, *COMMAND, "join", room, *mode, "-s", server.url, "-n", "ana") as screen:
            await screen.until(shown)
            screen.close()
            await sees_held(bo)
            async with run_screen(*COMMAND, "-s", server.url, "-n", "ana") as again:
                await again.shows(f"Resume {room}")
                await again.do("\r", "It's bo's move")
                await bo.send("move", room=room, cell=4, ply=0)
                await again.shows("Your move")
                await again.do("1", "1. X B2  O A1")
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert await screen.process.wait() == 129


async def test_closed_streams_are_not_reported_as_bugs(server: Server) -> None:
    async def attempt(closed: str) -> None:
        command = f"exec {shlex.join(COMMAND)} check -s {server.url} {closed}"
        process = await asyncio.create_subprocess_exec("sh", "-c", command, env=environment())
        assert await process.wait() == 0

    await try_each([">&-", "<&- >&- 2>&-"], attempt)


@pytest.mark.parametrize(
    ("variables", "has_colour"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
async def test_a_terminal_has_a_prompt(server: Server, variables: dict[str, str], *, has_colour: bool) -> None:
    async with (
        run_screen(
            *COMMAND, "play", "--plain", "-s", server.url, "-n", "ana", PYTHONWARNINGS="error", **variables
        ) as screen,
        open_peer(server.url, "bo") as bo,
    ):
        await screen.until("Waiting for another player.")
        code = (await bo.ask("match"))["room"]
        await screen.until("Your move, X.\r\n> ")
        await screen.ask("5\n", "You play B2, centre.")
        await bo.until(lambda message: message.get("ply") == 1)
        await bo.send("move", room=code, cell=0, ply=1)
        await screen.until("bo plays A1, top left.", "Your move, X.\r\n> ")
        await screen.ask("\x03", "Leave and lose this game? Press Ctrl-C again to leave.\r\n> ")
        await screen.ask("l\n", "Last: bo played A1, top left.\r\n> ")
        game, screen.written = screen.written, b""
        await screen.ask("\x03", "^C\r\nLeave and lose this game? Press Ctrl-C again to leave.\r\n> ")
        await screen.ask("\x03", "^C\r\nGoodbye.")
        assert await screen.end() == 130
        assert (await bo.state(status="over"))["result"]["winner"] == "O"
    assert (ESCAPE.encode() in game) is has_colour


async def test_a_game_to_watch_is_chosen_by_its_number(server: Server) -> None:
    async with two_playing(server) as (*_, code), run_screen(*COMMAND, "watch", "--plain", "-s", server.url) as screen:
        await screen.until("Which game?")
        await screen.ask("9\n", "Type a number from 1 to 1, or a room code.")
        await screen.ask("1\n", f"Watching room {code}")
        await screen.ask("leave\n", "Goodbye.")
        assert await screen.end() == 0


async def test_a_debug_log_names_its_place_and_holds_no_secret(server: Server) -> None:
    path = Path((await complaint("check", "--debug", "-s", server.url, code=0)).removeprefix("Debug log: ").strip())
    text = await asyncio.to_thread(path.read_text)
    assert '"type":"welcome"' in text
    assert '"token":"…"' in text
    assert os.stat(path).st_mode & 0o777 == 0o600


async def test_a_check_of_several_addresses_names_the_one_that_answers(server: Server) -> None:
    async with run_client("check", "-s", "ws://127.0.0.1:1", "-s", server.url) as client:
        assert await client.end() == 0
    assert client.lines[:3] == ["Resolve   ok, 127.0.0.1", "Resolve   ok, 127.0.0.1", f"Connect   ok, {server.url}"]


async def test_a_seat_taken_over_by_a_newer_connection_ends_with_six(server: Server) -> None:
    async with open_peer(server.url, "bo") as bo:
        code = (await bo.ask("create"))["room"]
        async with run_client("join", code, "--json", "-s", server.url) as client:
            welcome = await client.message(type="welcome")
            await client.message(type="room", status="playing")
            async with open_peer(server.url, token=welcome["token"]) as newer:
                await newer.ask("join", room=code)
                assert await client.end() == 6
        assert [line for line in client.lines if '"replaced"' in line]


async def test_a_bug_is_reported_and_written_to_a_file(server: Server, tmp_path: Path) -> None:
    program = f"""
from tictactoe_client.cli import main, rooms

async def fail(*_):
    raise ZeroDivisionError("as a test")

rooms.ask_and_print = fail
raise SystemExit(main.run(["rooms", "--json", "--server", {server.url!r}]))
"""
    process = await start_program(
        *(sys.executable, "-c", program), stdout=PIPE, stderr=PIPE, env=environment(XDG_STATE_HOME=str(tmp_path))
    )
    output, errors = await process.communicate()
    assert process.returncode == 1
    told, closed = output.decode().splitlines()
    assert told.startswith('{"from":"client","type":"error","code":"internal","message":"This is a bug')
    assert closed == '{"from":"client","type":"closed","exit":1}'
    assert errors.startswith(b"This is a bug in tictactoe-client.")
    report = Path(errors.decode().split()[-1])
    assert "ZeroDivisionError: as a test" in await asyncio.to_thread(report.read_text)
    assert tmp_path in report.parents


async def test_an_empty_name_is_no_name(server: Server) -> None:
    for name, shown in (("ana", "ana"), ("", "ana")):
        async with run_client("new", "--json", "--name", name, "-s", server.url) as client:
            assert (await client.message(type="welcome"))["name"] == shown
            await client.message(type="room")
            client.end_input()
            client.process.terminate()
            assert await client.end() == 143
