import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import stat
from pathlib import Path
from typing import Any

from tests.end_to_end.test_server_command import COMMAND, HERE, complaint, run, started, stopped, url_of
from tests.peer import PATIENCE_SECONDS, open_peer, play_out, two_playing
from tests.terminal import run_screen

WIDTH = 100


async def tell(data: Path, *arguments: str) -> str:
    code, output, errors = await run("--data", str(data), *arguments)
    assert (code, errors) == (0, ""), (arguments, errors)
    return output


async def know(data: Path, *arguments: str) -> Any:
    """Run a command that succeeds; return its one line of JSON."""
    output = await tell(data, *arguments, "--json")
    assert output.count("\n") == 1
    return json.loads(output)


async def test_every_command_answers_in_words_and_in_json(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as process:
        url = await url_of(process)
        async with two_playing(url) as (ana, bo, room), open_peer(url, "fan") as fan:
            await fan.ask("watch", room=room)
            await play_out({"X": ana, "O": bo}, room, [4])
            status = await know(tmp_path, "status")
            assert (status["pid"], status["players"], status["moves"]) == (process.pid, 3, 1)
            assert status["data"] == str(tmp_path)
            assert f"process {process.pid}" in await tell(tmp_path, "status")
            (row,) = await know(tmp_path, "rooms")
            assert row["room"] == room
            assert await know(tmp_path, "room", room) | row == await know(tmp_path, "room", room)
            shown = await tell(tmp_path, "room", room)
            assert ".X." in shown.splitlines()
            assert ana.welcome["player"] in shown
            assert (await know(tmp_path, "room", room))["watching"] == ["fan"]
            assert re.search(
                rf"^{room} +playing +public +classic +1 +1 +X ana, O bo", await tell(tmp_path, "rooms"), re.M
            )
            assert [row["name"] for row in await know(tmp_path, "players")] == ["ana", "bo", "fan"]
            assert "bo" in await tell(tmp_path, "players")
            assert "127.0.0.1" in await tell(tmp_path, "connections")
            assert (await know(tmp_path, "announce", "Tea", "at", "five."))["connections"] == 3
            assert (await ana.next_of("announcement"))["text"] == "Tea at five."
            limits = {row["name"]: row for row in await know(tmp_path, "limits")}
            assert limits["rooms"]["now"] == 1
            assert await tell(tmp_path, "kick", "bo", "--reason", "why not") == (
                f"Kicked {bo.welcome['player']}: closed 1 connection.\n"
            )
            assert (await bo.next_of("error"))["code"] == "kicked"
            banned = await tell(tmp_path, "ban", "192.0.2.7", "--for", "2h", "--reason", "noise")
            assert re.fullmatch(r"Banned 192\.0\.2\.7/32 until .* UTC: closed 0 connections to this server\.\n", banned)
            assert "noise" in await tell(tmp_path, "bans")
            assert await tell(tmp_path, "unban", "192.0.2.7") == "Lifted the ban on 192.0.2.7/32.\n"
            assert await know(tmp_path, "bans") == []
            assert await tell(tmp_path, "close", room, "--reason", "Bad names.") == f"Closed room {room}.\n"
            for peer in (ana, fan):
                closed = await peer.next_of("closed")
                assert (closed["room"], closed["reason"]) == (room, "The operator closed it: Bad names.")
        assert await tell(tmp_path, "rooms") == "No rooms.\n"


async def test_failed_orders_print_one_line_and_exit_with_1(tmp_path: Path) -> None:
    assert (await complaint("--data", str(tmp_path / "none"), "status")).startswith("No server is running: ")
    assert not (tmp_path / "none").exists()
    async with started(*HERE, "--data", str(tmp_path)) as process:
        await url_of(process)
        for arguments in (("kick", "nobody"), ("room", "K7M4PQ"), ("room", "x"), ("close", "K7M4PQ"), ("unban", "::1")):
            code, output, errors = await run("--data", str(tmp_path), *arguments)
            assert (code, output, errors.count("\n")) == (1, "", 1), arguments
            code, output, errors = await run(*arguments, "--data", str(tmp_path), "--json")
            assert (code, list(json.loads(output)), errors) == (1, ["error"], ""), arguments
        for words, told in (
            ("ban ::1 --for soon", "soon"),
            ("announce", "TEXT"),
            (f"announce {'x' * 201}", "text: at most 200 characters."),
            (f"kick ana --reason {'x' * 121}", "reason: at most 120 characters."),
            ("ban ana --for 600w", "seconds: at most 3650 days."),
            ("drain --deadline -1", "-1"),
        ):
            code, output, errors = await run("--data", str(tmp_path), *words.split())
            assert (code, output) == (2, ""), words
            assert "Traceback" not in errors
            assert told in errors


async def test_limits_are_listed_without_a_server_too(tmp_path: Path) -> None:
    assert {row["name"]: row["now"] for row in await know(tmp_path, "limits")}["rooms"] is None


async def test_a_server_that_keeps_nothing_is_asked_by_its_port(home: Path) -> None:
    variables = {"XDG_RUNTIME_DIR": str(home)}
    async with started(*HERE, "--data", ":memory:", **variables) as process:
        port = (await url_of(process)).rpartition(":")[2]
        place = ("--data", ":memory:", "--port", port)
        for arguments in ((*place, "status"), ("status", *place), ("status", "--port", port)):
            code, output, _ = await run(*arguments, "--json", **variables)
            assert (code, json.loads(output)["pid"]) == (0, process.pid)
        (left,) = await asyncio.to_thread(lambda: list(home.rglob("*.sock")))
        assert stat.S_IMODE(left.stat().st_mode) == 0o600
        await stopped(process)
    assert not left.exists()


async def test_a_socket_that_a_killed_server_left_is_no_obstacle(tmp_path: Path) -> None:
    for _ in range(2):
        async with started(*HERE, "--data", str(tmp_path)) as process:
            await url_of(process)
            assert (await know(tmp_path, "status"))["pid"] == process.pid
            process.kill()
    assert (tmp_path / "control.sock").exists()
    code, _, errors = await run("--data", str(tmp_path), "status")
    assert (code, "No server is running" in errors) == (1, True)


async def test_a_folder_with_a_very_long_name_has_its_socket_elsewhere(tmp_path: Path, home: Path) -> None:
    data = tmp_path / ("x" * 120)
    variables = {"XDG_RUNTIME_DIR": str(home)}
    async with started(*HERE, "--data", str(data), **variables) as process:
        await url_of(process)
        code, output, _ = await run("--data", str(data), "status", "--json", **variables)
        assert (code, json.loads(output)["pid"]) == (0, process.pid)


NONSENSE = (b"", b"\n", b"{}\n", b'{"command":"reboot"}\n', b"\xff\xfe\n", b"x" * 50_000, b'{"command":"ban"}\n')


async def test_invalid_orders_over_the_socket_are_harmless(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as process:
        await url_of(process)

        def send(order: bytes) -> bytes:
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(PATIENCE_SECONDS)
                peer.connect(os.fspath(tmp_path / "control.sock"))
                with contextlib.suppress(ConnectionError):
                    peer.sendall(order)
                    peer.shutdown(socket.SHUT_WR)
                    return peer.recv(65_536)
                return b""

        for order in NONSENSE:
            answer = await asyncio.to_thread(send, order)
            assert not answer or "error" in json.loads(answer)
        assert (await know(tmp_path, "status"))["pid"] == process.pid


async def test_the_watched_status_is_drawn_until_ctrl_c(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as process:
        await url_of(process)
        async with run_screen(COMMAND, "--data", str(tmp_path), "status", "--watch") as screen:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while screen.written.count(b"moves per second") < 2:
                    await screen.read()
            screen.process.send_signal(signal.SIGINT)
            assert await screen.end() == 0
            assert b"Traceback" not in screen.written


async def test_a_drained_server_ends_when_the_last_game_is_over(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as process:
        url = await url_of(process)
        async with two_playing(url) as (ana, bo, room):
            assert "the game in progress" in await tell(tmp_path, "drain", "--deadline", "10m")
            waiting = asyncio.create_task(tell(tmp_path, "drain", "--deadline", "10m", "--wait"))
            for _ in range(2):
                assert (await ana.next_of("notice"))["in_ms"] == 600_000
            assert await ana.refusal("create") == "busy"
            await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
            await ana.until(lambda message: message["type"] == "notice" and "in_ms" not in message)
            await stopped(process, None)
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert "the game in progress" in await waiting
    async with started(*HERE, "--data", str(tmp_path)) as process, open_peer(await url_of(process)) as ana:
        assert (await ana.ask("create"))["type"] == "ok"


async def test_a_signal_ends_a_drain_and_a_second_one_stops_at_once(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as process:
        url = await url_of(process)
        host, _, port = url.removeprefix("ws://").rpartition(":")
        async with two_playing(url) as (_, bo, _room):
            await tell(tmp_path, "drain")
            # For some seconds, the server waits for a greeted client that does not confirm the close.
            with socket.create_connection((host, int(port))) as silent:
                silent.sendall(
                    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
                )
                process.send_signal(signal.SIGTERM)
                await bo.until(lambda message: message["type"] == "notice" and "in_ms" not in message)
                await stopped(process)


async def play_an_evening(data: Path, *options: str) -> tuple[str, str]:
    """Cause everything that is logged at the usual level; return the log and the room."""
    long_name = "a" * 24
    async with started(*HERE, "--data", str(data), *options) as process:
        url = await url_of(process)
        async with two_playing(url, long_name, "b" * 24) as (ana, bo, room):
            await play_out({"X": ana, "O": bo}, room, [0, 3, 1, 4, 2])
            await tell(data, "kick", long_name, "--reason", "r" * 20)
            await tell(data, "ban", bo.welcome["player"], "--for", "1d", "--reason", "s" * 20)
        _, errors = await stopped(process)
    return errors, room


async def test_the_log_for_people_is_narrow_and_has_no_line_for_a_move(tmp_path: Path) -> None:
    errors, room = await play_an_evening(tmp_path / "d")
    lines = errors.replace(str(tmp_path), "/srv").splitlines()
    assert [line for line in lines if len(line) > WIDTH] == []
    assert sum(room in line for line in lines) <= 7
    assert "127.0.0.1" not in errors
    for words in (
        "server started version=",
        "game began",
        "game ended",
        "winner=X",
        "kicked",
        "banned",
        "server stopped",
    ):
        assert words in errors
