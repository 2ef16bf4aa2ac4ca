import errno
import os
from pathlib import Path

import pytest

from tictactoe_client.exits import describe_failure
from tictactoe_client.online.address import parse_address
from tictactoe_client.online.errors import Refused, Unreachable, describe_system_error
from tictactoe_client.settings import Settings
from tictactoe_client.text import programs
from tictactoe_client.text.programs import own_command, server_command


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    home = tmp_path / "game" / ".venv" / "bin"
    home.mkdir(parents=True)
    for name in ("tictactoe-client", "tictactoe-server", "python"):
        (home / name).touch()
    return tmp_path / "game"


@pytest.mark.parametrize(
    ("started", "found", "called"),
    [
        ("{home}/tictactoe-client", None, "{home}/tictactoe-server"),
        ("{home}/tictactoe-client", "/usr/bin/env", "{home}/tictactoe-server"),
        ("{home}/tictactoe-client", "{home}/tictactoe-server", "tictactoe-server"),
        ("/lib/tictactoe_client/__main__.py", None, "{home}/tictactoe-server"),
        ("/nowhere/tictactoe-client", None, "tictactoe-server"),
        ("pytest", None, "tictactoe-server"),
    ],
    ids=["by path", "another one by name", "by name", "module", "not installed", "another program"],
)
def test_a_program_is_named_so_that_the_words_start_it(
    installed: Path, monkeypatch: pytest.MonkeyPatch, started: str, found: str | None, called: str
) -> None:
    home = installed / ".venv" / "bin"
    monkeypatch.setattr("sys.argv", [started.format(home=home)])
    monkeypatch.setattr("sys.executable", str(home / "python"))
    monkeypatch.setattr("shutil.which", lambda _: found and found.format(home=home))
    programs._name.cache_clear()
    try:
        assert server_command() == called.format(home=home)
    finally:
        programs._name.cache_clear()


def test_unknown_system_errors_keep_the_systems_text() -> None:
    assert describe_system_error(errno.EPIPE) == os.strerror(errno.EPIPE).lower()


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
