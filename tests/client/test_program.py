from pathlib import Path

import pytest

from tictactoe_client.exits import describe_failure
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.errors import Refused, Unreachable
from tictactoe_client.settings import Settings
from tictactoe_client.text.programs import name_program, own_command, server_command

SCRIPT = ".venv/bin/tictactoe-client"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    home = tmp_path / "game" / ".venv" / "bin"
    home.mkdir(parents=True)
    for name in ("tictactoe-client", "tictactoe-server", "python"):
        (home / name).touch()
    return tmp_path / "game"


FAR = "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/deeper/and/deeper/down/it/goes/deeper/and/deeper/down/it/goes"


@pytest.mark.parametrize(
    ("program", "folder", "found", "started", "called"),
    [
        ("tictactoe-client", ".", None, SCRIPT, SCRIPT),
        ("tictactoe-server", ".", None, SCRIPT, ".venv/bin/tictactoe-server"),
        ("tictactoe-client", ".", "/usr/bin/tictactoe-client", SCRIPT, SCRIPT),
        ("tictactoe-client", ".venv/bin", None, SCRIPT, "./tictactoe-client"),
        ("tictactoe-client", ".", SCRIPT, SCRIPT, "tictactoe-client"),
        ("tictactoe-client", FAR, None, SCRIPT, "{installed}/.venv/bin/tictactoe-client"),
        ("tictactoe-client", ".", None, "/lib/tictactoe_client/__main__.py", SCRIPT),
    ],
    ids=["by path", "server", "another one by name", "same folder", "by name", "far away", "module"],
)
def test_a_program_is_named_by_the_shortest_words_that_start_it(
    installed: Path, program: str, folder: str, found: str | None, started: str, called: str
) -> None:
    python, path = installed / ".venv" / "bin" / "python", found and str(installed / found)
    name = name_program(program, str(installed / started), str(python), path, str(installed / folder))
    assert name == called.format(installed=installed)


def test_without_a_script_the_plain_name_stays(tmp_path: Path) -> None:
    assert name_program("tictactoe-server", "tictactoe-client", "/nowhere/python", None, str(tmp_path)) == (
        "tictactoe-server"
    )


def test_a_command_keeps_the_server_unless_it_is_the_default_one() -> None:
    assert own_command("rooms", server=parse_address("localhost")) == "tictactoe-client rooms"
    assert own_command("rooms", server=parse_address("host:9")) == "tictactoe-client rooms --server ws://host:9"
    assert server_command() == "tictactoe-server"


def test_advice_on_an_unreachable_server_depends_on_its_address() -> None:
    here = describe_failure(Unreachable("ws://localhost:1", "connection refused"), Settings())
    assert "Start one:  tictactoe-server" in here
    there = describe_failure(Unreachable("ws://192.0.2.1:1", "no answer"), Settings())
    assert "Start one" not in there
    assert "tictactoe-client bot" in there


def test_a_missing_room_error_names_the_server_in_its_command() -> None:
    refused = Refused("no_such_room", "There is none.", room="K7M4PQ")
    told = describe_failure(refused, Settings(server="other"), parse_address("host:9"))
    assert told == (
        "There is no room K7M4PQ. It may have closed. To list the rooms: tictactoe-client rooms --server ws://host:9"
    )


def test_a_code_that_the_default_server_lacks_is_answered_with_how_to_name_the_right_one() -> None:
    refused = Refused("no_such_room", "There is none.", room="K7M4PQ")
    text = describe_failure(refused, Settings())
    assert "There is no room K7M4PQ at ws://localhost:8765." in text
    assert "tictactoe-client join K7M4PQ --server HOST" in text
    assert "tictactoe-client servers" in text
