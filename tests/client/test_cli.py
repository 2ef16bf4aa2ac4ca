import inspect
import json
import re
import shlex
import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any

import click
import pytest

from tests.client.conftest import Program
from tests.environment import environment
from tictactoe_client.cli.commands import ENTRY_POINTS, CommandElsewhere
from tictactoe_client.cli.main import cli
from tictactoe_client.input.rule_options import parse_clock, parse_rules
from tictactoe_client.settings import PROGRAM
from tictactoe_client.streams.output import wants_colour
from tictactoe_client.themes import THEMES

NOT_FOR_HELP = {"asyncio", "msgspec", "textual", "websockets", "segno", "logging"}
NOT_TO_START = {*NOT_FOR_HELP, "importlib.metadata", "tictactoe_lab"}
OWN = [name for name, command in cli.commands.items() if not isinstance(command, CommandElsewhere)]
COMMANDS = [one.load() if isinstance(one, CommandElsewhere) else one for one in (cli, *cli.commands.values())]


@pytest.mark.parametrize(
    ("commands", "kept_out"),
    [
        ([["--help"], *([name, "-h"] for name in OWN), ["completion", "bash"]], NOT_TO_START),
        ([[name, "-h"] for name in cli.commands], NOT_FOR_HELP),
        ([["--version"]], NOT_FOR_HELP - {"msgspec"}),
    ],
    ids=["help", "help of other packages", "version"],
)
def test_help_loads_no_network(commands: list[list[str]], kept_out: set[str]) -> None:
    runs = f"from tictactoe_client.cli.main import run\nfor each in {commands!r}: run(each)\n"
    program = f"{runs}import sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment()
    )
    assert kept_out & set(done.stdout.splitlines()[-1].split()) == set()


@pytest.mark.parametrize("command", cli.commands)
def test_every_command_explains_itself(command: str, program: Program) -> None:
    out = program.output(command, "--help")
    for option in ("--server", "--name", "--plain", "--json", "--no-color", "--timeout", "--no-input", "--version"):
        assert option in out
    assert 0 < out.index("\nExamples:\n") < out.index("\nCommon options:\n") < out.index("--version")
    assert "How long to wait for the server" not in out
    own = out.partition("\nOptions:\n")[2].partition("\n\n")[0].splitlines()
    assert [line for line in own if not line.startswith(("  -", "    "))] == []
    assert "What they mean, and exit codes: tictactoe-client --help" in out


def test_the_help_of_the_program_names_exit_codes(program: Program) -> None:
    out = program.output("--help")
    for title in ("Play:", "Examples:", "Exit codes:"):
        assert f"\n{title}\n" in out
    assert all(f"\n  {code} " in out for code in range(8))
    listed = out.partition("\nPlay:\n")[2].partition("Server and player:")[0]
    assert "..." not in listed
    assert set(re.findall(r"^  (\S+)", listed, re.MULTILINE)) == set(cli.commands)


def test_a_command_of_a_package_that_is_not_there_is_none(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe_client.cli.commands.ENTRY_POINTS", "tictactoe_client.no_commands")
    assert "Error: No such command 'cup'." in program.complaint("cup", "--bot", "easy")


def test_every_command_of_another_package_has_its_place() -> None:
    places = {name for name, command in cli.commands.items() if isinstance(command, CommandElsewhere)}
    assert entry_points(group=ENTRY_POINTS).names == places


def test_no_command_is_taken_for_a_setting_of_the_same_name(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}

    def note(**parameters: Any) -> int:
        seen.update(parameters)
        return 0

    monkeypatch.setattr(cli, "callback", note)
    program.output()
    assert {name: seen[name] for name in cli.commands if name in seen} == {"local": False, "name": None}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_examples_are_valid(program: Program, command: click.Command, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[str, Any]] = []

    def note(**parameters: Any) -> int:
        seen.append(parameters)
        return 0

    told = program.output(*([] if command is cli else [str(command.name)]), "--help")
    section = told.partition("\nExamples:\n")[2].partition("\n\n")[0]
    for each in COMMANDS:
        monkeypatch.setattr(each, "callback", note)
    lines = [shlex.split(line) for line in section.splitlines()]
    assert 2 <= len(lines) <= 4
    for name, *arguments in lines:
        assert name == PROGRAM
        program.output(*arguments)
        assert command is cli or arguments[0] == command.name
        typed = seen[-1]
        if "rules" in typed:
            names = inspect.signature(parse_rules).parameters
            parse_rules(**{name: typed[name] for name in names if name in typed})
            parse_clock(typed.get("clock"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["join", "K7M4P"], 'A room code has 6 letters and digits; "K7M4P" has 5.'),
        (["event", "K7M4P"], 'A room code has 6 letters and digits; "K7M4P" has 5.'),
        (["event", "K7M4PQ", "begn"], 'I don\'t know "begn". Type join, leave,'),
        (["play", "--json", "--plain"], "Use either --json or --plain."),
        (["play", "-s", "ho st"], '"ho st" is not a server address. It looks like ws://host:8765, or just host.'),
        (["play", "--timeout", "0"], "--timeout is a number of seconds, more than 0 and at most 3600."),
        (["play", "--timeout", "nan"], "--timeout is a number of seconds, more than 0 and at most 3600."),
        (["play", "--clock", "soon"], '"soon" is not a clock. Write 3+2 (3 minutes, 2 extra seconds per move) or'),
        (["new", "--seat", "Z"], "--seat Z: the marks are X, O."),
        (["challenge", "carl", "--side", "Z"], "--side Z: the marks are X, O."),
        (["new", *["--bot", "easy"] * 3], "--bot was given 3 times, but the marks are X, O."),
        (["play", "--local", "--server", "example.org"], "Use either --local or --server."),
    ],
)
def test_misuse_is_one_line_and_exit_code_two(arguments: list[str], message: str, program: Program) -> None:
    assert program.complaint(*arguments).startswith(message)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("K7M4PQ", " To join a room: tictactoe-client join K7M4PQ"),
        ("ws://192.168.1.20:8765/K7M4PQ", " To join a room: tictactoe-client join ws://192.168.1.20:8765/K7M4PQ"),
        ("192.168.1.20:8765", " To play there: tictactoe-client --server 192.168.1.20:8765"),
        ("jion", " Did you mean 'join'?"),
        ("xyzzy", ""),
    ],
)
def test_an_unknown_command_is_answered_with_the_meant_one(word: str, told: str, program: Program) -> None:
    assert program.complaint(word).endswith(f"Error: No such command '{word}'.{told}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bell", "loud"], "Invalid value for '--bell': 'loud' is not one of 'off', 'away', 'always'.\n"),
        (["--bell", "alwys"], "is not one of 'off', 'away', 'always'. Did you mean 'always'?\n"),
        (["--keys", "Pad"], "Did you mean 'pad'?\n"),
        (["--theme", "nigth"], "Did you mean 'night'?\n"),
        (["--theme", "drak"], "Did you mean 'night'?\n"),
        (["--theme", "monokai"], f"'monokai' is not one of {', '.join(map(repr, THEMES))}.\n"),
        (["--coordinates", "row-column"], "Did you mean 'row-column-1'?\n"),
        (["--rules", "gomuku"], "Did you mean 'gomoku'?\n"),
        (["--timeout", "soon"], "Invalid value for '--timeout': 'soon' is not a number.\n"),
        (["--coordinate", "x-y-1"], "No such option '--coordinate'. Did you mean '--coordinates', '--rated'?\n"),
    ],
)
def test_an_invalid_value_is_refused_with_a_suggestion(arguments: list[str], message: str, program: Program) -> None:
    assert program.complaint("play", *arguments).endswith(message)


def test_misuse_in_json_mode_still_ends_with_the_closing_line(program: Program) -> None:
    told, closed = map(json.loads, program.output("join", "K7M4P", "--json", code=2).splitlines())
    assert (told["type"], told["code"]) == ("error", "usage")
    assert told["message"] == 'A room code has 6 letters and digits; "K7M4P" has 5.'
    assert closed == {"from": "client", "type": "closed", "exit": 2}


def test_misuse_is_reported_in_json_if_a_variable_says_so(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICTACTOE_JSON", "1")
    for arguments in (["jion"], ["play", "--bell", "loud"], ["join", "K7M4P"], []):
        told, closed = map(json.loads, program.output(*arguments, code=2).splitlines())
        assert (told["code"], closed["type"]) == ("usage", "closed")
    assert program.output("jion", "--plain", code=2) == ""


def test_the_version_names_the_protocol(program: Program) -> None:
    assert program.output("play", "--version").endswith("(protocol 2)\n")


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb", "TEXTUAL_COLOR_SYSTEM": "truecolor"}, True),
    ],
)
def test_colour_without_a_terminal_has_to_be_forced(environment: dict[str, str], *, wanted: bool) -> None:
    assert wants_colour(environment, no_colour=False) is wanted
    assert not wants_colour(environment, no_colour=True)
