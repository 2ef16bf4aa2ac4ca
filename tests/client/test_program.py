from pathlib import Path

import pytest

from tictactoe_client.exits import describe_failure
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.errors import Refused, Unreachable
from tictactoe_client.settings import Settings
from tictactoe_client.text.programs import name_program, own_command, server_command


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """Return a folder with an installation in `.venv`."""
    home = tmp_path / "game" / ".venv" / "bin"
    home.mkdir(parents=True)
    for name in ("tictactoe-client", "tictactoe-server", "python"):
        (home / name).touch()
    return tmp_path / "game"


def call(installed: Path, program: str, folder: Path, found: str | None = None, started: str = "") -> str:
    bin = installed / ".venv" / "bin"
    return name_program(program, started or str(bin / "tictactoe-client"), str(bin / "python"), found, str(folder))


def test_a_program_that_the_name_alone_does_not_find_is_called_by_its_path(installed: Path) -> None:
    assert call(installed, "tictactoe-client", installed) == ".venv/bin/tictactoe-client"
    assert call(installed, "tictactoe-server", installed) == ".venv/bin/tictactoe-server"
    assert call(installed, "tictactoe-client", installed, "/usr/bin/tictactoe-client") == ".venv/bin/tictactoe-client"
    assert call(installed, "tictactoe-client", installed / ".venv" / "bin") == "./tictactoe-client"


def test_a_program_that_the_name_alone_finds_is_called_by_it(installed: Path) -> None:
    own = str(installed / ".venv" / "bin" / "tictactoe-client")
    assert call(installed, "tictactoe-client", installed, own) == "tictactoe-client"


def test_from_far_away_the_whole_path_is_the_shorter_one(installed: Path) -> None:
    far = installed / "a" / "b" / "c" / "d" / "e" / "f" / "g" / "h" / "i" / "j" / "k" / "l" / "m" / "n" / "o" / "p"
    for _ in range(3):
        far /= "deeper/and/deeper/down/it/goes"
    assert call(installed, "tictactoe-client", far) == str(installed / ".venv" / "bin" / "tictactoe-client")


def test_a_module_run_by_an_interpreter_is_called_by_the_script_beside_that(installed: Path) -> None:
    called = call(installed, "tictactoe-client", installed, started="/lib/tictactoe_client/__main__.py")
    assert called == ".venv/bin/tictactoe-client"


def test_without_a_script_the_plain_name_stays(tmp_path: Path) -> None:
    assert name_program("tictactoe-server", "tictactoe-client", "/nowhere/python", None, str(tmp_path)) == (
        "tictactoe-server"
    )


def test_a_command_keeps_the_server_unless_it_is_the_default_one() -> None:
    assert own_command("rooms", server=parse_address("localhost")) == "tictactoe-client rooms"
    assert own_command("rooms", server=parse_address("host:9")) == "tictactoe-client rooms --server ws://host:9"
    assert server_command() == "tictactoe-server"


def test_what_helps_where_no_server_is_depends_on_where_that_would_be() -> None:
    here = describe_failure(Unreachable("ws://localhost:1", "connection refused"), Settings())
    assert "Start one:  tictactoe-server" in here
    there = describe_failure(Unreachable("ws://192.0.2.1:1", "no answer"), Settings())
    assert "Start one" not in there
    assert "tictactoe-client bot" in there


def test_where_to_list_rooms_names_the_server_that_has_none() -> None:
    refused = Refused("no_such_room", "There is none.", room="K7M4PQ")
    told = describe_failure(refused, Settings(server="other"), parse_address("host:9"))
    assert told == ("No room K7M4PQ. It may have closed. List rooms: tictactoe-client rooms --server ws://host:9")


def test_a_code_that_the_default_server_lacks_is_answered_with_how_to_name_the_right_one() -> None:
    refused = Refused("no_such_room", "There is none.", room="K7M4PQ")
    text = describe_failure(refused, Settings())
    assert "No room K7M4PQ at ws://localhost:8765." in text
    assert "tictactoe-client join K7M4PQ --server HOST" in text
    assert "tictactoe-client servers" in text
