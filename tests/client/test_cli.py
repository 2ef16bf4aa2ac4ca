from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tictactoe_client.cli import run
from tictactoe_client.screen import wants_colour

NOT_FOR_HELP = {"asyncio", "msgspec", "textual", "websockets", "segno", "logging"}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["new", "-h"], ["replay", "-h"], ["--version"], ["completion", "bash"]]
)
def test_help_loads_no_network(arguments: list[str]) -> None:
    program = f"import sys; from tictactoe_client.cli import run; run({arguments!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (
        NOT_FOR_HELP & set(done.stdout.splitlines()[-1].split()) - ({"msgspec"} if "--version" in arguments else set())
        == set()
    )


@pytest.mark.parametrize(
    "command", ["play", "bot", "new", "join", "watch", "rooms", "history", "replay", "check", "completion", "config"]
)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    out = capsys.readouterr().out
    for option in ("--server", "--name", "--plain", "--json", "--no-color", "--timeout", "--no-input", "--version"):
        assert option in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["join", "K7M4P"], 'A room code has 6 letters and digits; "K7M4P" has 5.'),
        (["watch", "K7M4P"], 'A room code has 6 letters and digits; "K7M4P" has 5.'),
        (["new", "--board", "40x40", "--win", "50"], "--win 50 can't fit a 40x40 board (at most 40)."),
        (["play", "--json", "--plain"], "Choose one of --json and --plain."),
        (["--json", "play", "--plain"], "Choose one of --json and --plain."),
        (["play", "-s", "ho st"], '"ho st" is no server address. It looks like ws://host:8765, or just host.'),
        (["play", "--timeout", "0"], "--timeout is more than 0 and at most 3600 seconds."),
        (["play", "--timeout", "nan"], "--timeout is more than 0 and at most 3600 seconds."),
        (["play", "--clock", "soon"], '"soon" is no clock. Write 3+2 (3 minutes, 2 seconds more a move) or'),
        (["new", "--seat", "Z"], "--seat Z: the marks are X, O."),
    ],
)
def test_misuse_is_one_line_and_exit_code_two(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().err.startswith(message)


def test_a_mistyped_command_is_recognised(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["jion", "X"]) == 2
    assert "No such command 'jion'. Did you mean 'join'?" in capsys.readouterr().err


def test_misuse_in_json_mode_still_ends_with_the_closing_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["join", "K7M4P", "--json"]) == 2
    assert json.loads(capsys.readouterr().out) == {"from": "client", "type": "closed", "exit": 2}


def test_the_bare_command_off_a_terminal_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "play" in captured.err
    assert "--help" in captured.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "tictactoe-client" in capsys.readouterr().out


def test_completion_knows_commands_and_presets(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("_TICTACTOE_CLIENT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "tictactoe-client play --rules go")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run([]) == 0
    assert capsys.readouterr().out == "plain,gomoku\n"


def test_the_version_names_the_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", "--version"]) == 0
    assert capsys.readouterr().out.endswith("(protocol 1)\n")


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
    ],
)
def test_colour_off_a_terminal_is_only_for_those_who_force_it(environment: dict[str, str], *, wanted: bool) -> None:
    assert wants_colour(environment, no_colour=False) is wanted
    assert not wants_colour(environment, no_colour=True)
