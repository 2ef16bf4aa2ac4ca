"""The command `tictactoe-server` and its data: location, permissions, survival, backup and restore.

The commands of the operator's manual are run unchanged.
"""

import asyncio
import shlex
import signal
import socket
import sqlite3
import stat
from asyncio.subprocess import PIPE
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.test_server_command import COMMAND, HERE, complaint, run, started, stopped, url_of
from tests.environment import environment
from tests.faults.harness import Harness
from tests.peer import PATIENCE_SECONDS, open_peer, play_out, two_playing
from tictactoe_engine.records import parse_record
from tictactoe_server.storage.folder import FILE_NAME

MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "back-up.md"
NOTHING_IS_KEPT = "Nothing is stored: all rooms are lost when the server stops.\n"
LINE_FOR_X = [0, 3, 1, 4, 2]


def commands_under(title: str) -> list[str]:
    """Return the lines of all shell blocks in a section of the manual."""
    section = MANUAL.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    blocks = [block.partition("\n```")[0] for block in section.split("```sh\n")[1:]]
    return [line for block in blocks for line in block.splitlines()]


async def run_as_written(command: str, **variables: str) -> tuple[int | None, str, str]:
    """Run a line of the manual in a shell that finds our commands; return exit code, stdout and stderr."""
    process = await asyncio.create_subprocess_exec(
        "sh", "-euc", command, stdout=PIPE, stderr=PIPE, env=environment(**variables)
    )
    async with asyncio.timeout(PATIENCE_SECONDS):
        output, errors = await process.communicate()
    return process.returncode, output.decode(), errors.decode()


def rooms_of(folder: Path) -> list[str]:
    """Return the codes of the rooms in a database that no server has open."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as database:
        rows = database.execute("SELECT key FROM rooms ORDER BY key")
        return [code for (code,) in rows]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def finish_a_game(url: str) -> str:
    """Play a game that ana wins against bo, and let both leave; return ana's token."""
    async with two_playing(url) as (ana, bo, room):
        await play_out({"X": ana, "O": bo}, room, LINE_FOR_X)
        return str(ana.welcome["token"])


async def has_finished_game(url: str, token: str) -> bool:
    async with open_peer(url, token=token) as ana:
        games = (await ana.ask("history"))["games"]
        record = parse_record((await ana.ask("record", game_id=games[0]["game_id"]))["record"])
        return list(record.moves) == LINE_FOR_X


async def test_data_live_in_the_folder_that_is_named_and_are_private(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "data"
    async with started(*HERE, "--data", str(folder)) as process:
        token = await finish_a_game(await url_of(process))
        assert mode_of(folder) == 0o700
        files = {path.name: mode_of(path) for path in await asyncio.to_thread(lambda: list(folder.iterdir()))}
        assert set(files) == {FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", "server.lock", "control.sock"}
        assert set(files.values()) == {0o600}
        assert (folder / "server.lock").read_text().split()[0] == str(process.pid)
    async with started(*HERE, "--data", str(folder), TICTACTOE_DATA=str(tmp_path / "unused")) as process:
        assert await has_finished_game(await url_of(process), token)
        _, errors = await stopped(process)
    assert "Stopping: notifying all players.\n" in errors
    assert "Nothing is stored" not in errors
    assert not (tmp_path / "unused").exists()


@pytest.mark.skipif("sys.platform != 'linux'", reason="other platforms have other places for data")
async def test_without_a_word_data_live_in_the_platform_s_place(home: Path) -> None:
    async with started(*HERE) as process:
        await url_of(process)
        assert (home / ".local" / "share" / "tictactoe" / FILE_NAME).is_file()


async def test_a_tilde_is_the_home_folder(home: Path) -> None:
    async with started(*HERE, "--data", "~/games") as process:
        await url_of(process)
        assert (home / "games" / FILE_NAME).is_file()


async def test_a_server_in_memory_keeps_nothing_and_says_so(home: Path) -> None:
    for arguments, variables in ((("--data", ":memory:"), {}), ((), {"TICTACTOE_DATA": ":memory:"})):
        async with started(*HERE, *arguments, **variables) as process:
            url = await url_of(process)
            token = await finish_a_game(url)
            assert await has_finished_game(url, token)
            _, errors = await stopped(process)
        assert NOTHING_IS_KEPT in errors
    assert await asyncio.to_thread(lambda: list(home.iterdir())) == []


async def test_a_second_server_on_a_folder_names_the_first_and_ends(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as first:
        url = await url_of(first)
        told = await complaint(*HERE, "--data", str(tmp_path))
        said = f"The data folder {tmp_path} is in use by another server, process {first.pid}. "
        assert told == f"{said}Stop it, or choose another folder with --data.\n"
        shown = told.replace(str(tmp_path), "/srv/tictactoe").replace(str(first.pid), "4711")
        assert shown in MANUAL.read_text(encoding="utf-8")
        async with open_peer(url, "ana") as ana:
            assert (await ana.ask("create"))["type"] == "ok"
    async with started(*HERE, "--data", str(tmp_path)) as after:
        await url_of(after)


async def test_a_taken_port_leaves_no_folder_behind(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        code, _, _ = await run("--host", "127.0.0.1", "--port", port, "--data", str(tmp_path / "data"))
    assert code == 1
    assert not (tmp_path / "data").exists()


async def test_an_invalid_data_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "data"):
        assert (await complaint(*HERE, "--data", str(folder))).startswith(f"Cannot use the data folder {folder}: ")


async def test_the_manual_s_commands_back_a_running_server_up_and_restore_it(here: Path) -> None:
    folder = here / "srv" / "tictactoe"
    places = {"/srv/tictactoe": str(folder), "/var/backups": str(here)}

    def adapt(command: str) -> str:
        for place, ours in places.items():
            command = command.replace(place, ours)
        return command

    back_up, by_itself = map(adapt, commands_under("Backup"))
    *make_room, start = map(adapt, commands_under("Restore"))
    _, *by_itself_options = shlex.split(by_itself)
    async with started(*HERE, "--data", str(folder), *by_itself_options) as process:
        url = await url_of(process)
        token = await finish_a_game(url)
        async with open_peer(url, token=token) as ana, open_peer(url, "bo") as bo:
            room = (await ana.ask("create", visibility="private"))["room"]
            await bo.ask("join", room=room)
            await ana.state(room=room, status="playing")
            await play_out({"X": ana, "O": bo}, room, [4])
            code, output, errors = await run_as_written(back_up, TICTACTOE_DATA=str(folder))
            assert (code, errors) == (0, "")
            assert output.startswith(f"Backed up {folder} to ")
            await play_out({"X": ana, "O": bo}, room, [0], first_ply=1)
        await stopped(process)
    copies = await asyncio.to_thread(lambda: sorted(here.glob("*.sqlite3")))
    assert len(copies) == 1
    assert {mode_of(copy) for copy in copies} == {0o600}
    code, output, errors = await run_as_written("\n".join(make_room))
    assert (code, errors) == (0, "")
    assert output.startswith("Restored ")
    code, output, errors = await run("--data", str(folder), "check")
    assert (code, errors) == (0, "")
    assert "No damage found." in output
    program, *arguments = shlex.split(start)
    assert program == Path(COMMAND).name
    async with started(*HERE, *arguments) as process:
        url = await url_of(process)
        assert await has_finished_game(url, token)
        async with open_peer(url, token=token) as ana:
            assert ana.seats == {room: "X"}
            await ana.ask("join", room=room)
            assert (await ana.state())["moves"] == [4]


async def test_sigterm_leaves_one_file_with_everything_in_it(tmp_path: Path) -> None:
    async with started(*HERE, "--data", str(tmp_path)) as process:
        url = await url_of(process)
        async with open_peer(url, "ana") as ana:
            rooms = [(await ana.ask("create"))["room"] for _ in range(20)]
            await stopped(process)
    names = await asyncio.to_thread(lambda: sorted(path.name for path in tmp_path.iterdir()))
    assert names == ["server.lock", FILE_NAME]
    assert rooms_of(tmp_path) == sorted(rooms)


async def test_abandoned_rooms_end_after_a_restart_too(tmp_path: Path) -> None:
    async with Harness(tmp_path, "--keep-game", "1") as server:
        async with two_playing(server) as (_ana, _bo, room):
            assert await server.end(signal.SIGTERM) == 0
        assert rooms_of(tmp_path) == [room]
        await server.start()
        async with open_peer(server.url) as eve:
            if (await eve.ask("watch", room=room))["type"] == "ok":
                assert (await eve.next_of("closed"))["reason"] == "Nobody came back."
            assert await eve.refusal("watch", room=room) == "no_such_room"
        assert await server.end(signal.SIGTERM) == 0
    assert rooms_of(tmp_path) == []
