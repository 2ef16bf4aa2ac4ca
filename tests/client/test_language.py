"""The language that everything is told in: who chooses it, and what is said where there is none such."""

from __future__ import annotations

import pytest

from tests.client.conftest import Program
from tests.kept import write_config
from tictactoe_client.settings import OPTIONS
from tictactoe_protocol.catalogue import LANGUAGES, say


def spoken() -> str:
    return {"You win.": "en", "Du gewinnst.": "de"}[say("verdict win")]


@pytest.mark.parametrize(
    ("system", "language"),
    [
        ({}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "de"}, "de"),
        ({"LANG": "DE@euro"}, "de"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "tlh_QO"}, "en"),
        ({"LC_MESSAGES": "de_CH.UTF-8", "LANG": "en_US.UTF-8"}, "de"),
        ({"LC_ALL": "C", "LC_MESSAGES": "de_DE", "LANG": "de_DE"}, "en"),
        ({"LC_ALL": "", "LANG": "de_DE"}, "de"),
    ],
)
def test_the_system_decides_where_nobody_has(
    system: dict[str, str], language: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in system.items():
        monkeypatch.setenv(name, value)
    program.output("config", "path")
    assert spoken() == language


@pytest.mark.parametrize(
    ("file", "variable", "arguments", "language"),
    [
        (None, None, [], "de"),
        ("en", None, [], "en"),
        ("auto", None, [], "de"),
        ("en", "de", [], "de"),
        ("en", "auto", [], "de"),
        ("de", "de", ["--language", "en"], "en"),
        ("de", "de", ["--language=en"], "en"),
        (None, "en", ["--language", "auto"], "de"),
    ],
)
def test_an_option_counts_before_the_environment_that_before_the_file_and_that_before_the_system(
    file: str | None,
    variable: str | None,
    arguments: list[str],
    language: str,
    program: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    if file is not None:
        write_config(f'language = "{file}"\n')
    if variable is not None:
        monkeypatch.setenv("TICTACTOE_LANGUAGE", variable)
    for line in ([*arguments, "config", "path"], ["config", "path", *arguments]):
        program.output(*line)
        assert spoken() == language


def test_a_language_that_there_is_none_of_is_told_with_those_that_there_are(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "'tlh' is not one of 'auto', 'en', 'de'." in program.complaint("rooms", "--language", "tlh")
    monkeypatch.setenv("TICTACTOE_LANGUAGE", "tlh")
    assert "TICTACTOE_LANGUAGE: 'tlh' is not one of" in program.complaint("rooms")
    monkeypatch.delenv("TICTACTOE_LANGUAGE")
    write_config('language = "tlh"\n')
    assert "client.toml line 1: language is one of auto, en, de." in program.complaint("config", "path", code=0)


def test_every_language_that_there_is_a_file_for_can_be_chosen() -> None:
    assert OPTIONS["language"].words == ("auto", *LANGUAGES)
