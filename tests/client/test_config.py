from __future__ import annotations

from pathlib import Path

import pytest

from tictactoe_client.cli import run
from tictactoe_client.config import config_path, load_config


def write(text: str) -> Path:
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_no_file_says_nothing() -> None:
    assert load_config().values == {}
    assert load_config().warnings == ()


def test_values_and_bindings_are_read() -> None:
    write('server = "example.org"\ntimeout = 3\n[bindings]\nup = ["up", "k"]\nhelp = "h"\n')
    config = load_config()
    assert config.values == {"server": "example.org", "timeout": 3}
    assert config.bindings == {"up": ("up", "k"), "help": ("h",)}
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ('name = "ana"\n\n\nthme = "night"', 'client.toml line 4: unknown key "thme". Did you mean "theme"?'),
        ('theme = "pink"', "client.toml line 1: theme is one of terminal, night, paper, contrast."),
        ("ascii = 1", "client.toml line 1: ascii is true or false."),
        ("name = 3", "client.toml line 1: name is a text in quotes."),
        ('timeout = "long"', "client.toml line 1: timeout is a number of seconds."),
        ('[bindings]\nhlep = "h"', 'client.toml line 2: unknown action "hlep". Did you mean "help"?'),
        ("[bindings]\nhelp = 3", "client.toml line 2: help is a key, or a list of keys."),
        ('[bindings]\nsave = "r"', 'client.toml line 2: "r" is refresh as well, in a list.'),
        ('[bindings]\nquit = "ctrl+c"', 'client.toml line 2: "ctrl+c" is leave as well, on the first page.'),
        ('[bindings]\nsave = "x"\nreview = "x"', 'client.toml line 3: "x" is save as well, after a game.'),
        ('qqqqqq = "x"', 'client.toml line 1: unknown key "qqqqqq".'),
    ],
)
def test_a_mistake_is_told_with_its_line_and_the_rest_counts(text: str, warning: str) -> None:
    write(f"{text}\n")
    assert load_config().warnings == (warning,)


def test_a_damaged_file_is_told() -> None:
    write("server =")
    assert load_config().warnings[0].startswith("client.toml: Invalid value")


def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    assert load_config(tmp_path).warnings[0].startswith("client.toml cannot be read:")


def test_the_command_says_where_the_file_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{config_path()}\n"


def test_the_command_says_what_is_set_and_by_what(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write('theme = "paper"\nname = "ana"\nconfirm = true\n[bindings]\nhelp = "h"\n')
    monkeypatch.setenv("TICTACTOE_BELL", "always")
    assert run(["config", "show", "--name", "bo"]) == 0
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in capsys.readouterr().out.splitlines()}
    assert rows["theme"] == ["paper", str(path)]
    assert rows["name"] == ["bo", "command line"]
    assert rows["bell"] == ["always", "TICTACTOE_BELL"]
    assert rows["ascii"] == ["false", "default"]
    assert rows["confirm"] == ["true", str(path)]
    assert rows["help"] == ["h", str(path)]


def test_a_typo_is_warned_of_and_the_command_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    write('nmae = "ana"\n')
    assert run(["config", "path"]) == 0
    assert capsys.readouterr().err == 'client.toml line 1: unknown key "nmae". Did you mean "name"?\n'


def test_an_unknown_theme_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["play", "--theme", "nigth"]) == 2
    assert capsys.readouterr().err == 'There is no theme "nigth". Did you mean "night"?\n'
