import asyncio
import contextlib
import json
import re
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.authority import Authority
from tests.end_to_end.clients import run_client
from tests.peer import PATIENCE_SECONDS, open_peer
from tests.programs import Process
from tests.raw import open_bytes, read_to_end
from tests.terminal import run_screen
from tictactoe_server import __version__
from tictactoe_server.cli.main import list_sections, main
from tictactoe_server.transport.listen import addresses_at

COMMAND = str(Path(sys.executable).parent / "tictactoe-server")
HERE = ("--host", "127.0.0.1", "--port", "0")
LISTENING = re.compile(r"Listening on ws(://(\S+):(\d+))( \(all addresses\))?\n")
FOR_OTHERS = re.compile(r" *(?:From another machine on this network|or):  http(://(\S+):(\d+))\n")
IN_A_BROWSER = re.compile(r" *In a browser:  (http://\S+)\n")
IN_A_TERMINAL = re.compile(r" *in a terminal there:  tictactoe-client --server (http://\S+)\n")


OWN_WORDS = re.compile(r"Stopping: |server (started|stopped)")
"""The lines of an idle server at the default log level."""


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


async def run(*arguments: str, **variables: str) -> tuple[int | None, str, str]:
    """Run the command to its end; return exit code, stdout and stderr."""
    async with started(*arguments, **variables) as process, asyncio.timeout(PATIENCE_SECONDS):
        output, errors = await process.communicate()
    return process.returncode, output.decode(), errors.decode()


@contextlib.asynccontextmanager
async def started(*arguments: str, before: Sequence[str] = (), **variables: Any) -> AsyncIterator[Process]:
    async with run_client(*arguments, command=(*before, COMMAND), **variables) as server:
        yield server.process


async def line_of(process: Process) -> str:
    assert process.stdout
    async with asyncio.timeout(PATIENCE_SECONDS):
        return (await process.stdout.readline()).decode()


async def url_of(process: Process) -> str:
    """Wait until the server is ready and return its address."""
    line = await line_of(process)
    match = LISTENING.fullmatch(line)
    assert match, line
    return f"ws{match[1]}"


async def stopped(process: Process, by: signal.Signals | None = signal.SIGTERM) -> tuple[str, str]:
    """Send the signal, unless it is None, and check for a clean exit; return the rest of stdout and stderr."""
    if by is not None:
        process.send_signal(by)
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, errors = await process.communicate()
    assert (process.returncode, b"Traceback" in errors) == (0, False), errors
    return output.decode(), errors.decode()


async def complaint(*arguments: str) -> str:
    """Run a command that cannot start, and return its one-line error."""
    code, output, errors = await run(*arguments)
    assert (code, output, errors.count("\n")) == (1, "", 1)
    assert errors.startswith("tictactoe-server: ")
    return errors.removeprefix("tictactoe-server: ")


async def test_on_all_addresses_it_prints_the_line_for_another_machine() -> None:
    async with started("--port", "0") as process:
        match = LISTENING.fullmatch(await line_of(process))
        assert match
        assert (match[2], match[4]) == ("localhost", " (all addresses)")
        loopbacks = ["localhost", "127.0.0.1", *(["[::1]"] if has_ipv6() else [])]
        for address in (*loopbacks, *addresses_at(None)[:1]):
            async with open_peer(f"ws://{address}:{match[3]}", "ana") as ana:
                assert ana.welcome["type"] == "welcome"
        rest, _ = await stopped(process)
    here, *links, last = [*rest.splitlines(keepends=True), *([] if addresses_at(None) else [""])]
    browser = IN_A_BROWSER.fullmatch(here)
    assert browser
    assert browser[1] == f"http{match[1]}"
    others = [FOR_OTHERS.fullmatch(line) for line in links]
    assert [other and (other[2].strip("[]"), other[3]) for other in others] == [
        (address, match[3]) for address in addresses_at(None)
    ]
    terminal = IN_A_TERMINAL.fullmatch(last)
    assert [terminal and terminal[1]] == [f"http{other[1]}" for other in others[:1] if other] or not others


async def test_without_pages_the_server_prints_its_websocket_url() -> None:
    async with started("--port", "0", "--no-page") as process:
        match = re.fullmatch(r"Listening on (ws://localhost:\d+) \(all addresses\)\n", await line_of(process))
        assert match
        rest, _ = await stopped(process)
    for line in rest.splitlines():
        assert re.fullmatch(r" *(From another machine on this network|or):  tictactoe-client --server ws://\S+", line)


async def test_a_host_with_one_address_listens_only_there() -> None:
    async with started(*HERE) as process:
        port = int((await url_of(process)).rpartition(":")[2])
        with pytest.raises(OSError, match=r"127\.0\.0\.2"):
            await asyncio.open_connection("127.0.0.2", port)


async def test_every_option_may_come_from_the_environment() -> None:
    variables = {
        "TICTACTOE_HOST": "127.0.0.1",
        "TICTACTOE_PORT": "0",
        "TICTACTOE_LOG_FORMAT": "json",
        "TICTACTOE_LOG_LEVEL": "debug",
    }
    async with started(**variables) as process:
        assert (await url_of(process)).startswith("ws://127.0.0.1:")
        _, errors = await stopped(process)
    lines = log_lines(errors)
    assert {"event", "level", "timestamp", "logger"} <= set(lines[0])
    assert {"listening", "stopped"} <= {line["event"] for line in lines}


async def test_a_port_in_use_is_reported_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = await complaint("--host", "127.0.0.1", "--port", port)
        assert told.startswith(f"Cannot listen on 127.0.0.1, port {port}: address already in use. ")
        assert "tictactoe-server status" in told


@pytest.mark.parametrize("words", [("forget", "ana"), ("merge", "p1", "ana")])
async def test_an_order_that_cannot_be_undone_asks_first(words: tuple[str, ...]) -> None:
    code, _, errors = await run(*words)
    assert (code, "confirm it with --yes" in errors) == (2, True)
    assert (await complaint(*words, "--yes")).startswith("No server is running")
    async with run_screen(COMMAND, *words) as screen:
        await screen.shows("ana", "[y/N]")
        screen.type("n\r")
        assert await screen.end() == 1


def test_each_option_is_in_one_section_of_the_help() -> None:
    listed = [option.opts[-1] for options in list_sections().values() for option in options]
    options = [one.opts[-1] for one in main.get_params(click.Context(main)) if one.get_help_record(click.Context(main))]
    assert sorted(listed) == sorted({*options} - {"--version", "--help"})


@pytest.mark.parametrize("host", ["no such host", "\u202e", "192.0.2.1"])
async def test_an_invalid_host_is_reported_in_one_line(host: str) -> None:
    assert (await complaint("--host", host, "--port", "0")).startswith("Cannot ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *((wrong.split(), "Usage: tictactoe-server") for wrong in ("--port 65536", "--port -1", "--port x", "x")),
        *((wrong.split(), "Usage: tictactoe-server") for wrong in ("--log-level loud", "--log-format xml")),
        (["--keep-history", "inf"], "inf is not in the range 0<=x<=36500."),
        (["--hold", "nan"], "'nan' is not a number."),
        (["--limit", "romms=3"], "Did you mean rooms?"),
        (["--limit", "rooms"], "needs a number"),
        (["--limit", "rooms=-1"], "needs a number"),
        (["--limit", "rooms=1e3"], "needs a number"),
        (["--limit", "x=1"], "messages-per-second"),
        (["--trusted-proxy", "10.0.0.0/33"], "not an address or a network"),
        (["--trusted-proxy", "proxy.example"], "not an address or a network"),
        (["--origin", "play.example"], "not an origin"),
        (["--origin", "https://play.example/page"], "not an origin"),
        (["--origin", "ws://play.example"], "not an origin"),
        (["--origin", "https://[::1"], "not an origin"),
    ],
)
async def test_an_invalid_option_is_explained(arguments: list[str], words: str) -> None:
    code, output, errors = await run(*arguments)
    assert (code, output) == (2, "")
    assert words in " ".join(errors.replace("│", "").split())


async def test_limits_may_come_from_the_environment_several_at_once() -> None:
    options = {"TICTACTOE_LIMIT": "rooms-per-player=1 connections-per-address=2"}
    async with started(*HERE, **options) as process:
        url = await url_of(process)
        async with open_peer(url) as ana, open_peer(url):
            assert (await ana.ask("create"))["type"] == "ok"
            assert await ana.refusal("create") == "rate_limited"
            with pytest.raises(InvalidStatus):
                await connect(url, proxy=None)


async def test_a_server_with_few_descriptors_keeps_some_and_tells_newcomers_that_they_are_too_many() -> None:
    before = ("sh", "-c", 'ulimit -n 160; exec "$@"', "sh")
    async with started(*HERE, before=before) as process:
        url = await url_of(process)
        async with contextlib.AsyncExitStack() as stack:
            peers = [await stack.enter_async_context(open_peer(url)) for _ in range(16)]  # half, for one address
            with pytest.raises(InvalidStatus) as refused:
                await connect(url, proxy=None)
            assert refused.value.response.status_code == 503
            assert (await peers[0].ask("create", bots=["perfect"], rules="gomoku"))["type"] == "ok"
            await peers[0].send("move", room=(await peers[0].next_of("room"))["room"], cell=112, ply=0)
            await peers[0].state(ply=2)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                with contextlib.suppress(InvalidStatus):
                    await connect(url, proxy=None)
                    break


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_gives_notice_closes_with_1012_and_ends_well(name: signal.Signals) -> None:
    async with started(*HERE) as process:
        url = await url_of(process)
        async with open_peer(url) as ana, open_peer(url) as bo, connect(url, proxy=None) as silent:
            room = (await ana.ask("create"))["room"]
            await bo.ask("join", room=room)
            process.send_signal(name)
            for peer in (ana, bo):
                notice = await peer.next_of("notice")
                assert (notice["code"], notice["retry_ms"] > 0) == ("restarting", True)
            for opened in (ana.socket, bo.socket, silent):
                with contextlib.suppress(ConnectionClosed):
                    async with asyncio.timeout(PATIENCE_SECONDS):
                        while True:
                            await opened.recv()
                assert opened.close_code == 1012
            await stopped(process, None)


async def test_version_names_the_program_and_the_protocol() -> None:
    assert await run("--version") == (0, f"tictactoe-server {__version__} (protocol 2)\n", "")


@pytest.mark.parametrize("option", ["--help", "-h"])
async def test_help_names_options_defaults_and_how_variables_are_called(option: str, home: Path) -> None:
    code, output, errors = await run(option)
    assert (code, errors) == (0, "")
    for word in ("--host", "--port", "--log-format", "--log-level", "--version", "8765", "tictactoe-client"):
        assert word in output
    for word in ("--data", ":memory:", "--keep-room", "--keep-game", "backup"):
        assert word in output
    assert str(home) in output.replace("\n", "").replace(" ", "")
    assert "TICTACTOE_TLS_CERT for --tls-cert" in " ".join(output.split())


def log_lines(errors: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in errors.splitlines()]


async def be_a_stranger(port: int, hello: bytes) -> None:
    """Send bytes to a server and read until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(hello)
    writer.write_eof()
    await read_to_end(reader)
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize("is_secured", [False, True])
async def test_the_usual_log_does_not_mention_strangers(authority: Authority, *, is_secured: bool) -> None:
    pair = ("--tls-cert", str(authority.cert), "--tls-key", str(authority.key)) if is_secured else ()
    async with started(*HERE, *pair) as process:
        port = (await line_of(process)).strip().rpartition(":")[2]
        for hello in (
            b"",
            b"\x00\xff",
            b"\x16\x03\x01",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n",
        ):
            await be_a_stranger(int(port), hello)
        _, errors = await stopped(process)
    assert [line for line in errors.splitlines() if not OWN_WORDS.search(line)] == []


async def test_the_host_sees_rooms_open_and_close_and_people_come_and_go() -> None:
    async with started(*HERE, "--log-format", "json") as process:
        url = await url_of(process)
        async with open_peer(url, "ana") as ana, open_peer(url, "bo") as bo:
            code = (await ana.ask("create"))["room"]
            await bo.ask("join", room=code)
            await bo.ask("join", room=code)
            await bo.ask("leave", room=code)
            await ana.ask("leave", room=code)
        _, errors = await stopped(process)
    lines = log_lines(errors)
    told = [(line["event"], line.get("player")) for line in lines if line.get("room") == code]
    assert told == [
        ("room opened", ana.welcome["player"]),
        ("game began", None),
        ("player joined", bo.welcome["player"]),
        ("game ended", None),
        ("player left", bo.welcome["player"]),
        ("player left", ana.welcome["player"]),
        ("room closed", None),
    ]


async def test_with_a_certificate_the_printed_lines_have_its_names(authority: Authority) -> None:
    authority.issue("localhost", "play.example.org")
    async with started("--port", "0", "--tls-cert", str(authority.cert), "--tls-key", str(authority.key)) as process:
        match = re.fullmatch(r"Listening on ws(s://localhost:(\d+)) \(all addresses\)\n", await line_of(process))
        assert match
        assert await line_of(process) == f"        In a browser:  https://localhost:{match[2]}\n"
        friends = await line_of(process)
        link = f"https://play.example.org:{match[2]}"
        assert friends == f"From another machine:  {link}\n"
        assert await line_of(process) == f" in a terminal there:  tictactoe-client --server {link}\n"
        async with open_peer(f"ws{match[1]}", tls=authority.trusting()) as peer:
            assert peer.welcome["type"] == "welcome"
        async with open_bytes(int(match[2]), authority.trusting()) as (reader, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: play.example.org\r\nAccept: text/html\r\n\r\n")
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
async def test_sighup_reloads_the_certificate(authority: Authority) -> None:
    variables = {"TICTACTOE_TLS_CERT": str(authority.cert), "TICTACTOE_TLS_KEY": str(authority.key)}
    async with started(*HERE, **variables) as process:
        port = (await line_of(process)).strip().rpartition(":")[2]
        authority.issue("127.0.0.1", "localhost", "play.example.org")
        process.send_signal(signal.SIGHUP)
        assert process.stderr
        async with asyncio.timeout(PATIENCE_SECONDS):
            while b"certificate reloaded" not in await process.stderr.readline():
                pass
        _, writer = await asyncio.open_connection("localhost", int(port), ssl=authority.trusting())
        assert ("DNS", "play.example.org") in writer.get_extra_info("peercert")["subjectAltName"]
        writer.close()
        await writer.wait_closed()
        await stopped(process)


async def test_half_a_pair_is_a_usage_error_and_a_wrong_one_a_line(authority: Authority) -> None:
    for option, file in (("--tls-cert", authority.cert), ("--tls-key", authority.key)):
        code, _, errors = await run(option, str(file))
        assert (code, "--tls-cert and --tls-key must be given together" in errors) == (2, True)
    told = await complaint("--tls-cert", str(authority.cert), "--tls-key", str(authority.ca), "--port", "0")
    assert told.startswith(f"Cannot use the certificate in {authority.cert} or the key in ")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no such sockets")
async def test_the_service_manager_is_notified_of_ready_watchdog_and_stopping(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.setblocking(False)
        variables = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "100000"}
        async with started(*HERE, **variables) as process:
            url, told = await url_of(process), b""
            async with asyncio.timeout(PATIENCE_SECONDS):
                told = await asyncio.get_running_loop().sock_recv(manager, 4096)
                assert told.decode() == f"READY=1\nSTATUS=Listening on {url}"
                async with open_peer(url) as peer:
                    assert peer.welcome["type"] == "welcome"
                while told != b"WATCHDOG=1":
                    told = await asyncio.get_running_loop().sock_recv(manager, 4096)
                process.send_signal(signal.SIGTERM)
                while told != b"STOPPING=1":
                    told = await asyncio.get_running_loop().sock_recv(manager, 4096)
            await stopped(process, None)
