"""The command lines in the documentation: the programs accept each of them."""

import re
import shlex
from collections.abc import Iterator
from itertools import dropwhile, groupby
from pathlib import Path

import click
import pytest

from tests.rows import each
from tictactoe_client.cli.main import cli
from tictactoe_server.cli.main import main

ROOT = Path(__file__).parents[1]
PROGRAMS = {"tictactoe-client": cli, "tictactoe-server": main}
FILES = "fullchain.pem", "privkey.pem", "cert.pem", "key.pem", "logo.svg", "greeting.txt", "tictactoe-backup.sqlite3"
"""Files that the pages name and options or arguments require."""


def list_commands() -> Iterator[tuple[str, ...]]:
    """Yield the program and the arguments of each command line in a shell block."""
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                if any(program in line for program in PROGRAMS):
                    yield from split_line(re.sub(r'"\$\((.*?)\)"', r"\1", line))


def split_line(line: str) -> Iterator[tuple[str, ...]]:
    """Yield the program and the arguments of each command of ours in a line of shell."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for is_operator, words in groupby(lexer, lambda word: set(word) <= set("();<>|&")):
        command = dropwhile(lambda word: Path(word).name not in PROGRAMS, words)
        if not is_operator and (program := next(command, None)) is not None:
            yield Path(program).name, *command


@each("words", sorted({*list_commands()}))
def test_a_documented_command_line_is_accepted(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TICTACTOE_STORE", "nats://a.example,b.example,c.example")
    for name in FILES:
        (tmp_path / name).touch()
    monkeypatch.setattr(click.Context, "invoke", lambda *_, **__: None)  # parse only
    program, *arguments = words
    cli.put_into_words()
    PROGRAMS[program].main(arguments, standalone_mode=False)
