"""A test that hangs ends with a failure that says where, however long its report takes, and those after it run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.environment import environment

ROOT = Path(__file__).parents[1]
HANGING = """
import asyncio, subprocess, sys

async def for_ever():
    await asyncio.Event().wait()

async def test_a_task_waits():
    await for_ever()

async def test_a_teardown_waits():
    try:
        await asyncio.Event().wait()
    finally:
        await for_ever()

def test_a_program_goes_on():
    subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])

def test_the_next_one_runs():
    pass
"""


SLOW_REPORTS = """
import time
from tests import hangs

hangs.REPEATED_AFTER_SECONDS = 0.2

def pytest_runtest_makereport(call):
    if call.excinfo is not None:
        time.sleep(0.5)
"""


def test_what_hangs_fails_with_the_place_where_it_waits(tmp_path: Path) -> None:
    (tmp_path / "test_hanging.py").write_text(HANGING)
    (tmp_path / "conftest.py").write_text(SLOW_REPORTS)
    pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "tests.hangs", "-c", "pyproject.toml"]
    command = [*pytest, "--timeout=0.2", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=60)
    assert "3 failed, 1 passed, 1 error" in run.stdout
    for line in (
        "in test_a_task_waits\nE           await for_ever()",
        "in test_a_teardown_waits\nE           await for_",
    ):
        assert line in run.stdout
    assert ", in for_ever\nE           await asyncio.Event().wait()" in run.stdout
    assert "time.sleep(60)" in run.stdout
