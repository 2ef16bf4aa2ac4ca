import pytest

from tests.client.conftest import Program
from tests.kept import write_config
from tictactoe_client.cli.main import cli
from tictactoe_client.settings import OPTIONS
from tictactoe_words.catalogue import LANGUAGES, say


def spoken() -> str:
    return {"You win!": "en", "Du gewinnst!": "de"}[say("verdict win")]


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
def test_the_default_language_is_the_systems(
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


def test_ascii_mode_transliterates_the_language(program: Program) -> None:
    for options, told in ((["--ascii"], "zuruecknehmen"), ([], "zurücknehmen")):
        program.output("config", "path", "--language", "de", *options)
        assert told in say("deed undo offer")


def test_every_language_that_there_is_a_file_for_can_be_chosen() -> None:
    assert OPTIONS["language"].words == ("auto", *LANGUAGES)


@pytest.mark.parametrize("command", cli.commands)
def test_the_help_of_a_command_is_in_the_language(command: str, program: Program) -> None:
    told = program.output(command, "--help", "--language", "de")
    assert told.startswith("Aufruf: tictactoe-client ")
    assert "\nBeispiele:\n" in told
    english = set(program.output(command, "--help").splitlines())
    said = {line.strip() for line in told.splitlines() if line in english} - {""}
    assert [
        line for line in said if " " in line and not line.startswith(("tictactoe-client", "-", "eval", "In ~"))
    ] == []


def test_the_help_of_the_program_is_in_the_language(program: Program) -> None:
    told = program.output("--help", "--language", "de")
    for title in ("Spielen:", "Server und Spieler:", "In Skripten:", "Exit-Codes:"):
        assert f"\n{title}\n" in told
    assert not any(word in told for word in (" the ", " of ", " not "))
    assert "..." not in told.partition("Spielen:")[2].partition("Server und Spieler")[0]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Nenne einen Befehl: play, new, bot"),
        (("jion",), "Einen Befehl „jion“ gibt es nicht. Meintest du 'join'?"),
        (("K7M4PQ",), "Einem Raum beitreten: tictactoe-client join K7M4PQ"),
        (("play", "--jso"), "Eine Option „--jso“ gibt es nicht. Meintest du '--json'?"),
        (("play", "--name"), "Die Option „--name“ braucht einen Wert."),
        (("play", "--json=3"), "Die Option „--json“ hat keinen Wert."),
        (("play", "--bell", "loud"), "Ungültiger Wert für '--bell': 'loud' ist keins von 'off', 'away', 'always'."),
        (("play", "--timeout", "x"), "Ungültiger Wert für '--timeout': 'x' ist keine Zahl."),
        (("new", "--win", "x"), "'x' ist keine Zahl."),
        (("new", "--board", "3x3", "--win", "9"), "Eine Reihe von 9 passt"),
        (("new", "--blocked", "z9"), "--blocked: Z9 liegt neben dem Brett: Spalten A-C"),
        (("history", "--limit", "0"), "0 liegt nicht im Bereich 1 bis 10000."),
        (("replay", "--at", "-1"), "-1 ist zu klein: mindestens 0."),
        (("join",), "Es fehlt 'CODE|LINK'."),
        (("completion",), "Zur Wahl stehen: bash, zsh, fish."),
        (("rooms", "x", "y"), "2 Wörter zu viel: x y"),
        (("play", "--json", "--plain"), "Nimm nur eins von --json und --plain."),
    ],
)
def test_errors_in_command_lines_are_translated(
    arguments: tuple[str, ...], told: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICTACTOE_LANGUAGE", "de")
    if "--json" in arguments:
        assert told in program.output(*arguments, code=2)
    else:
        assert told in program.complaint(*arguments)
