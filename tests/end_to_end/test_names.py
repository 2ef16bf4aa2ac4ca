import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.clients import COMMAND, outcome, run_client
from tests.peer import open_peer
from tests.terminal import run_screen
from tictactoe_client.files.players import KnownPlayers
from tictactoe_client.online.connection import hide_secrets
from tictactoe_server.server import Server

CODE = re.compile(r"  ([2-9A-Z]{4}(?:-[2-9A-Z]{4}){3})")
LINK = re.compile(r"/#link=([2-9A-Z]{8})")


async def run(server: Server, home: Path, *words: str, code: int = 0, errors: str = "") -> list[str]:
    state, config = str(home / "state"), str(home / "config")
    async with run_client("name", *words, "-s", server.url, XDG_STATE_HOME=state, XDG_CONFIG_HOME=config) as client:
        assert await client.end() == code, await client.errors()
        assert re.search(errors, await client.errors())
        return client.lines


async def test_a_name_is_claimed_shared_and_brought_back_by_the_command(server: Server, tmp_path: Path) -> None:
    home, phone, other = tmp_path / "home", tmp_path / "phone", tmp_path / "other"
    claimed = await run(server, home, "claim", "ana")
    assert claimed[0].startswith("ana is yours.")
    codes = [found[1] for line in claimed if (found := CODE.fullmatch(line))]
    assert len(codes) == 3
    link = "\n".join(await run(server, home, "link"))
    found = LINK.search(link)
    assert found is not None
    address = re.search(r" --server ws(://\S+)", link)
    assert address is not None
    assert f"http{address[1]}/#link=" in link, "the command names the same address as the link"
    lines = await run(server, phone, "link", found[1])
    assert lines[0] == "ana is yours. 3 rescue codes are left."
    assert [line.endswith("(this one)") for line in lines[1:]] == [False, True]
    assert (await run(server, phone))[0] == lines[0], "it is remembered"
    environment: dict[str, Any] = {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    async with run_client("name", "-s", server.url, **environment) as client:
        assert await client.end() == 0
        warning = await client.errors()
        assert "A device was added to your player" in warning
        assert f"To remove one: tictactoe-client name revoke ID --server {server.url}" in warning
        assert client.lines[2].endswith("  (new)")
    back = await run(server, other, "rescue", codes[0].lower(), "--name", "ana")
    assert back[0] == "ana is yours. 2 rescue codes are left."
    playing = KnownPlayers(home / "state" / "tictactoe" / "players.json")
    assert playing.take((server.url,)) is not None
    for words in (("notify", "--feed"), ("event", "new"), ("block", "--strangers")):
        assert (await outcome(*words, "-s", server.url, **environment)).code == 0
    assert [(known.name, known.pid) for known in playing.on((server.url,))] == [("ana", os.getpid())]
    for options, is_warned in (((), True), (("--name", "bot1"), False)):
        joined = await outcome("join", "K7M4PQ", "--plain", *options, "-s", server.url, code=5, **environment)
        assert ("Another program is playing as ana." in joined.output) is is_warned
    stranger = await run(server, tmp_path / "stranger", "--name", "ANA")
    assert stranger[0] == (
        'ANA belongs to another player here, so others see you as "ANA?". '
        "Choose another name or, if it is yours, use a rescue code."
    )
    gone = await run(server, other, "revoke", lines[2].split()[0])
    assert len(gone) == 3
    async with run_client("name", "link", found[1], "-s", server.url, XDG_STATE_HOME=str(phone)) as client:
        assert await client.end() != 0
        assert "Get a new one on the other device." in await client.errors()


@pytest.mark.parametrize(("variable", "is_drawn"), [("TERM=xterm-256color", True), ("NO_COLOR=1", False)])
async def test_a_link_is_a_picture_on_a_terminal(server: Server, variable: str, *, is_drawn: bool) -> None:
    name, _, value = variable.partition("=")
    async with run_screen(*COMMAND, "name", "link", "-s", server.url, **{name: value}) as terminal:
        await terminal.until("#link=")
        assert await terminal.end() == 0
        text = terminal.written.decode()
    code = LINK.search(text)
    assert code is not None
    assert ("\x1b[30;107m" in text) is is_drawn
    async with open_peer(server.url, link=code[1]) as phone:
        assert phone.welcome["type"] == "welcome"


@pytest.mark.parametrize("words", [("claim",), ("revoke",), ("rescue",), ("rescue", "7KQ2"), ("sell",)])
async def test_missing_arguments_are_reported(server: Server, tmp_path: Path, words: tuple[str, ...]) -> None:
    await run(server, tmp_path, *words, code=2)


def test_no_code_is_in_a_debug_log() -> None:
    said = (
        '{"type":"hello","link":"7KQ2M94F","rescue": "7KQ2-M94F"}{"type":"ok","rescue":["7KQ2-M94F","7KQ2"],'
        '"link_code":"7KQ2M94F","ticket":"7KQ2","cards":[{"name":"ana","ticket":"7KQ2"}],"token":"7KQ2"}'
    )
    assert "7KQ2" not in hide_secrets(said)


async def test_a_player_can_export_and_after_two_questions_delete_their_data(server: Server, tmp_path: Path) -> None:
    file = tmp_path / "ana.json"
    await run(server, tmp_path, "claim", "ana")
    await run(server, tmp_path, "export", str(file))
    assert json.loads(file.read_text())["games"] == []
    assert await run(server, tmp_path, "forget", code=2, errors="about ana .* name forget ana ") == []
    (told,) = await run(server, tmp_path, "forget", "ana")
    assert told.startswith("Everything about you has been deleted")
    assert (await run(server, tmp_path))[0].startswith("You are playing as guest-")
    async with open_peer(server.url, "ana") as other:
        assert "claimed" not in other.welcome
