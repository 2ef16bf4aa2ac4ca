import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.clients import COMMAND, run_client
from tests.environment import environment
from tests.terminal import run_screen
from tictactoe_server.server import Server

LATIN = b"J\xfcrgen"


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        (["tictactoe_client", b"-n", LATIN, "bot", "--plain"], {}),
        (["tictactoe_client", "bot", "--plain"], {b"TICTACTOE_NAME": LATIN}),
        (["tictactoe_client", "event", "new", "--title", LATIN], {}),
        (["tictactoe_server", "announce", LATIN], {}),
        (["tictactoe_server", "status"], {b"TICTACTOE_DATA": LATIN}),
    ],
)
def test_invalid_utf_8_is_refused(arguments: list[str | bytes], variables: dict[bytes, bytes], tmp_path: Path) -> None:
    variables = {**{os.fsencode(key): os.fsencode(value) for key, value in environment().items()}, **variables}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, env=variables, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert b'J?rgen" has bytes that are not UTF-8' in done.stderr
    assert b"Traceback" not in done.stderr


async def test_files_of_the_client_with_invalid_utf_8_count_as_damaged(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "tictactoe"
    folder.mkdir()
    (folder / "choices.json").write_bytes(b'{"name": "%s"}' % LATIN)
    players = b'{"players": [{"server": "%s", "name": "", "token": ""}], "version": 3}' % LATIN
    (folder / "players.json").write_bytes(players)
    async with run_client("name", "-s", server.url, XDG_STATE_HOME=str(tmp_path)) as client:
        assert await client.end() == 0
        assert "You are playing as guest-" in client.lines[0]
        assert "Traceback" not in await client.errors()
    assert (folder / "players.json").read_bytes() == players


async def test_the_full_screen_drops_keys_that_are_no_utf_8(server: Server) -> None:
    async with run_screen(*COMMAND, "new", "-n", "ana", "-s", server.url) as screen:
        await screen.shows("Waiting for another player")
        screen.type(b"\xfc?\xff")
        await screen.shows("Help")
        screen.type("\x11")
        assert await screen.end() == 0
