"""Shell completion: bash for real, the scripts of all three shells by the names in them."""

import shlex
import shutil
from pathlib import Path

import pytest

from tests.end_to_end.clients import COMMAND
from tests.environment import environment
from tests.programs import run_program
from tests.terminal import run_screen
from tictactoe_client.themes import THEMES

PROGRAM = "tictactoe-client"
LEVELS = ["easy", "medium", "hard", "random", "rules", "perfect"]

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")

CASES: list[tuple[list[str], list[str]]] = [
    (["pl"], ["play", "player"]),
    (["co"], ["config", "completion"]),
    (["new", "--ru"], ["--rules"]),
    (["--no-m"], ["--no-motion", "--no-mouse"]),
    (["play", "--rules", "go"], ["gomoku", "gomoku-standard"]),
    (["play", "--theme", ""], list(THEMES)),
    (["--theme", "ni"], ["night"]),
    (["bot", "--level", ""], LEVELS),
    (["-n", "ana", "bot", "--first", "b"], ["bot"]),
    (["--bell", "a"], ["away", "always"]),
    (["join", "--keys", "p"], ["phone", "pad"]),
    (["config", ""], ["path", "show"]),
    (["completion", "z"], ["zsh"]),
    (["join", ""], []),
    (["jion", "--res"], ["--result-code"]),
    (["play", "--theme", "nigth", "--rules", "cl"], ["classic"]),
]


@pytest.mark.parametrize(("words", "expected"), CASES)
def test_bash_is_answered_with_commands_options_and_their_values(words: list[str], expected: list[str]) -> None:
    variables = {"_TICTACTOE_CLIENT_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
    done = run_program(COMMAND, env=environment(COMP_WORDS=shlex.join([PROGRAM, *words]), **variables))
    assert [line.partition(",")[2] for line in done.stdout.split()] == expected
    assert done.stderr == ""


@needs_bash
async def test_the_tab_key_completes_at_a_prompt_of_bash(tmp_path: Path) -> None:
    (tmp_path / "a-game.txt").touch()
    async with run_screen("bash", "--norc", "--noprofile", "-i", PS1="> ") as shell:
        await shell.ask(f'cd {tmp_path}; eval "$({PROGRAM} completion bash)"; echo rea""dy\r', "ready")
        await shell.ask(f"{PROGRAM} bo\t--rul\tcon\t", f"{PROGRAM} bot --rules connect-four ")
        await shell.ask(f"\x15{PROGRAM} replay a-g\t", f"{PROGRAM} replay a-game.txt ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_for_the_program(shell: str) -> None:
    done = run_program([*COMMAND, "completion", shell], env=environment())
    assert (done.returncode, done.stderr) == (0, "")
    assert PROGRAM in done.stdout
    assert f"_TICTACTOE_CLIENT_COMPLETE={shell}_complete" in done.stdout
