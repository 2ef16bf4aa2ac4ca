import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from tests.client.conftest import Program
from tests.kept import write_config
from tictactoe_client.cli.main import cli, run
from tictactoe_client.cli.options import settings_of
from tictactoe_client.files.config import load_config
from tictactoe_client.online.address import parse_cluster
from tictactoe_client.settings import FILE_OPTIONS, OPTIONS, Settings
from tictactoe_client.themes import THEMES
from tictactoe_words.commands import ACTIONS


def test_values_and_bindings_are_read() -> None:
    write_config('server = "example.org"\ntimeout = 3\n[bindings]\nup = ["up", "k"]\nhelp = "h"\n')
    config = load_config()
    assert config.values == {"server": ["example.org"], "timeout": 3}
    assert config.bindings == {"up": ("up", "k"), "help": ("h",)}
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ('name = "ana"\n\n\nthme = "night"', 'client.toml line 4: unknown key "thme". Did you mean "theme"?'),
        ('theme = "pink"', f"client.toml line 1: theme is one of {', '.join(THEMES)}."),
        ('theme = "nigth"', f'client.toml line 1: theme is one of {", ".join(THEMES)}. Did you mean "night"?'),
        ("timeout = 0", "client.toml line 1: timeout is a number of seconds, more than 0 and at most 3600."),
        ("timeout = nan", "client.toml line 1: timeout is a number of seconds, more than 0 and at most 3600."),
        ("ascii = 1", "client.toml line 1: ascii is true or false."),
        ("name = 3", "client.toml line 1: name is a text in quotation marks."),
        ('timeout = "long"', "client.toml line 1: timeout is a number of seconds, more than 0 and at most 3600."),
        ('[bindings]\nhlep = "h"', 'client.toml line 2: unknown action "hlep". Did you mean "help"?'),
        ("[bindings]\nhelp = 3", "client.toml line 2: help is a key, or a list of keys."),
        ('qqqqqq = "x"', 'client.toml line 1: unknown key "qqqqqq".'),
    ],
)
def test_a_config_error_is_reported_with_its_line_and_the_rest_applies(text: str, warning: str) -> None:
    write_config(f"{text}\n")
    assert load_config().warnings == (warning,)


def test_a_damaged_config_file_is_reported() -> None:
    path = write_config("ascii = true\nname = ana\n")
    assert load_config().warnings == (
        f"{path}: Invalid value (at line 2, column 8). Correct it or delete the file; nothing in it is used.",
    )
    assert not load_config().hides_server


@pytest.mark.parametrize(
    "text",
    [
        *("server = ws://10.0.0.1\n", 'theme = night\nserver = "ws://10.0.0.1"\n'),
        *(f"server = {value}\n" for value in ("1", "[]", "[3]", '"ho st"', '["ho st"]', '"one, ho st"')),
    ],
)
def test_a_server_that_cannot_be_read_is_not_replaced_by_the_default_one(program: Program, text: str) -> None:
    path = write_config(text)
    told, demand = program.complaint("rooms").splitlines()
    assert told.startswith((f"{path}: Invalid value (at line 1,", "client.toml line 1: "))
    assert demand == "The server is set in that file: correct it, or use --server."
    assert run(["rooms", "--server", "ws://127.0.0.1:1"]) == 3
    assert run(["config", "path"]) == 0


def test_settings_are_objects_with_typed_values_in_json_mode(program: Program) -> None:
    path = write_config('theme = "paper"\ntimeout = 2.5\nconfirm = true\n[bindings]\nup = ["up", "k"]\n')
    *rows, closed = [json.loads(line) for line in program.output("config", "show", "--json").splitlines()]
    assert {"from": "client", "type": "setting", "key": "theme", "value": "paper", "origin": str(path)} in rows
    assert [row["key"] for row in rows] == [*FILE_OPTIONS, "up"]
    values = {row["key"]: row["value"] for row in rows}
    assert (values["name"], values["ascii"], values["confirm"], values["timeout"]) == (None, False, True, 2.5)
    assert values["up"] == ["up", "k"]
    assert closed == {"from": "client", "type": "closed", "exit": 0}


def test_an_unreadable_config_file_is_reported(tmp_path: Path) -> None:
    assert load_config(tmp_path).warnings[0].startswith(f"Cannot read {tmp_path}: ")


def test_config_show_lists_values_with_their_sources(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_config('theme = "paper"\nname = "ana"\nconfirm = true\n[bindings]\nhelp = "h"\n')
    monkeypatch.setenv("TICTACTOE_BELL", "always")
    rows = {
        line.split()[0]: line.split(maxsplit=2)[1:]
        for line in program.output("config", "show", "--name", "bo").splitlines()
    }
    assert rows["theme"] == ["paper", str(path)]
    assert rows["name"] == ["bo", "command line"]
    assert rows["bell"] == ["always", "TICTACTOE_BELL"]
    assert rows["ascii"] == ["false", "default"]
    assert rows["confirm"] == ["true", str(path)]
    assert rows["help"] == ["h", str(path)]
    assert rows["server"] == ["ws://localhost:8765", "default"]
    assert rows["timeout"] == ["5", "default"]


@pytest.mark.parametrize(
    ("text", "variable", "options"),
    [
        ("", None, ["-s", "one", "--server", "wss://two"]),
        ("", None, ["-s", "one,wss://two"]),
        ("", "one wss://two", []),
        ("", "one, wss://two", []),
        ('server = ["one", "wss://two"]', None, []),
        ('server = "one, wss://two"', None, []),
        ('server = "three"', "four", ["-s", "one", "-s", "wss://two"]),
        ('server = "three"', "one wss://two", []),
    ],
)
def test_the_servers_of_a_cluster_are_one_setting(
    monkeypatch: pytest.MonkeyPatch, text: str, variable: str | None, options: list[str]
) -> None:
    if text:
        write_config(f"{text}\n")
    if variable:
        monkeypatch.setenv("TICTACTOE_SERVER", variable)
    config = load_config()
    assert config.warnings == ()
    with cli.make_context("tictactoe-client", ["rooms", *options], obj=config, default_map={}) as above:
        command = cli.commands["rooms"]
        with command.make_context("rooms", options, parent=above, default_map=config.values) as context:
            assert parse_cluster(settings_of(context).server).urls == ("ws://one:8765", "wss://two")


@pytest.mark.parametrize("source", ["file", "environment", "option"])
def test_secrets_in_an_address_are_not_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    address = "wss://ana:secret@example.org/?token=secret"
    if source == "file":
        write_config(f'server = "{address}"\n')
    elif source == "environment":
        monkeypatch.setenv("TICTACTOE_SERVER", address)
    assert run(["config", "show", *(["--server", address] if source == "option" else [])]) == 0
    captured = capsys.readouterr()
    assert "wss://…@example.org/?…" in (captured.err if source == "file" else captured.out)
    assert "secret" not in captured.out + captured.err


@pytest.mark.parametrize(
    ("variable", "names"), [("NO_COLOR", {"no_color"}), ("ACCESSIBLE", {"plain", "no_board"})], ids=["colour", "words"]
)
def test_variables_of_all_programs_are_shown_as_theirs(
    program: Program, monkeypatch: pytest.MonkeyPatch, variable: str, names: set[str]
) -> None:
    monkeypatch.setenv(variable, "1")
    rows = [line.split() for line in program.output("config", "show").splitlines()]
    assert {row[0] for row in rows if row[1:] == ["true", variable]} == names


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ('name = "zoe!"\n', "client.toml line 1: Leave ! out"),
        ('name = ""\n', "client.toml line 1: Type a name first."),
    ],
)
def test_an_invalid_name_is_reported_and_ignored(capsys: pytest.CaptureFixture[str], text: str, warning: str) -> None:
    write_config(text)
    assert run(["config", "path"]) == 0
    assert capsys.readouterr().err.startswith(warning)
    with cli.make_context("tictactoe-client", [], obj=load_config(), default_map=load_config().values) as context:
        settings = settings_of(context)
    assert (settings.server, settings.name) == (None, None)
    assert settings.doubts[0].startswith(warning)


@pytest.mark.parametrize(
    ("given", "is_for_now"), [("file", False), ("environment", True), ("option", True), ("nowhere", False)]
)
def test_a_name_given_by_option_or_variable_is_temporary(
    monkeypatch: pytest.MonkeyPatch, given: str, *, is_for_now: bool
) -> None:
    if given == "file":
        write_config('name = "ana"\n')
    elif given == "environment":
        monkeypatch.setenv("TICTACTOE_NAME", "ana")
    arguments = ["--name", "ana"] if given == "option" else []
    config = load_config()
    with cli.make_context("tictactoe-client", arguments, obj=config, default_map=config.values) as context:
        settings = settings_of(context)
    assert settings.name == (None if given == "nowhere" else "ana")
    assert settings.name_is_for_now is is_for_now


def test_the_reference_documents_every_option_and_the_manual_every_action() -> None:
    reference = Path(__file__).parents[2] / "docs" / "reference"
    _, _, of_client = (reference / "options.md").read_text().partition("## Options of the client")
    described = {
        name: not mark for name, mark in re.findall(r"^- `(?:-\w, )?--([\w-]+)[^`]*`( †)?", of_client, re.MULTILINE)
    }
    assert described == {option.name: option.is_in_file for option in OPTIONS.values()} | {"version": False}
    manual = (reference / "client.md").read_text()
    assert [action for action in ACTIONS if f"`{action}`" not in manual] == []


def test_every_option_has_a_section() -> None:
    assert {one.name for one in fields(Settings) if one.metadata} == {one.fills for one in OPTIONS.values()} - {""}
