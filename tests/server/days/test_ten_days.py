"""A game over ten days between players who never meet, with kills and long outages: no time is lost or given twice."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long), pytest.param(3, marks=pytest.mark.long)])
def test_a_game_over_ten_days(seed: int) -> None:
    command = [sys.executable, "-m", "tests.server.days.ten_days", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    lives, steps = (int(word) for word in done.stderr.split() if word.isdigit())
    assert lives >= 4
    assert steps > 20
