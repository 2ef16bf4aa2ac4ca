"""A program of its own comes to the digests of the fold, from the definition in the docs alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from hypothesis import given

from tests.protocol.ratings.test_ladder import Log, logs
from tictactoe_protocol.ratings.exported import EndLine, GamesLine, Line, VerdictLine, encode_line
from tools import refold


def written(log: Log) -> bytes:
    lines: list[Line] = []
    for entry in log.entries:
        count = 1 if entry.verdict is not None else len(entry.games)
        proofs = (None,) * count, ("",) * count
        games = tuple(log.games[id] for id in entry.games)
        lines.append(GamesLine(games, *proofs) if entry.verdict is None else VerdictLine(entry.verdict, *proofs))
    return b"".join(map(encode_line, [*lines, EndLine(log.fold().digest)]))


@given(logs(verdicts=5))
def test_it_comes_to_the_same_digest_for_every_log(log: Log) -> None:
    games, verdicts = refold.split(written(log).decode().splitlines())
    assert refold.digest_of(refold.fold(refold.judge(games, verdicts))) == log.fold().digest


def test_it_imports_nothing_of_ours() -> None:
    tree = ast.parse(Path(refold.__file__).read_text(encoding="utf-8"))
    named = [node.names[0].name for node in ast.walk(tree) if isinstance(node, ast.Import)]
    named += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names
