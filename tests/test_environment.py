"""That no test and no process of a test's goes by what happens to be set where the tests run."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.environment import environment

STARTING = frozenset(
    {
        "create_subprocess_exec",
        "create_subprocess_shell",
        "start_program",
        "run_program",
        *(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen")),
        *("os.system", "os.popen", "os.posix_spawn"),
    }
)
"""What starts a process, by the end of its full name."""


def find_leaks(source: str) -> Iterator[int]:
    """Yield the line of each call that starts a process with another environment than `environment(...)`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and any(f".{ast.unparse(node.func)}".endswith(f".{name}") for name in STARTING):
            given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if not given.get("env", "").startswith("environment("):
                yield node.lineno


def test_every_process_of_a_test_or_a_tool_gets_its_environment_from_one_place() -> None:
    root = Path(__file__).parents[1]
    leaks = [
        f"{path.relative_to(root)}:{line}"
        for folder in ("tests", "tools")
        for path in sorted((root / folder).rglob("*.py"))
        if path.name != "programs.py"  # whose callers are looked at
        for line in find_leaks(path.read_text(encoding="utf-8"))
    ]
    assert leaks == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("subprocess.run(['ls'])", [1]),
        ("x = 1\nawait asyncio.create_subprocess_exec('ls', env=os.environ)", [2]),
        ("create_subprocess_exec('ls', env={**environment()})", [1]),
        ("subprocess.Popen(['ls'], env=environment(TERM='dumb'))\nos.system('ls')", [2]),
        ("subprocess.run(['ls'], env=environment())\nasyncio.run(main())", []),
    ],
)
def test_the_check_reports_a_process_that_inherits_anything(source: str, lines: list[int]) -> None:
    assert list(find_leaks(source)) == lines


def test_a_process_gets_path_home_warnings_and_what_the_test_sets(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("TICTACTOE_NAME", "ana")
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    program = "import json, os; print(json.dumps({**os.environ}))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(TERM="dumb"))
    found = json.loads(done.stdout)
    found.pop("LC_CTYPE", None)  # Python's own, where the locale is C
    assert found.pop("PATH").endswith(os.environ["PATH"])
    assert found == {"HOME": str(home), "PYTHONWARNINGS": "error", "TERM": "dumb"}


def test_a_test_sees_nothing_of_what_is_set_outside() -> None:
    kept = {"PATH", "HOME", "TMPDIR", "UPDATE_PICTURES"}
    assert {name for name in os.environ if not name.startswith("PYTEST_")} <= kept
