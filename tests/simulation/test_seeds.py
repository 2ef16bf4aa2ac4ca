"""Fixed seeds keep every promise, and a seed does the same in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.simulation.planted import FAULTS

pytestmark = pytest.mark.timeout(1200)  # these tests keep both cores of a machine busy


def simulate(*options: str, hash_seed: str = "0") -> list[dict[str, Any]]:
    """Return the results of `python -m tests.simulation`, which needs a process whose clocks it may replace."""
    command = [sys.executable, "-m", "tests.simulation", "--json", *options]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("last", [6, pytest.param(20, marks=pytest.mark.long)])
def test_seeds_keep_every_promise_and_repeat_exactly(last: int) -> None:
    results = simulate("--seeds", f"1-{last}")
    assert [result["seed"] for result in results] == list(range(1, last + 1))
    broken = {result["seed"]: [*result["violations"], *result["story"]] for result in results if result["violations"]}
    assert broken == {}
    assert all(result["counts"]["ok move"] and result["counts"]["commits"] for result in results)
    assert any("kills" in result["counts"] for result in results)
    assert len({result["digest"] for result in results}) == len(results)
    (repeated,) = simulate("--seeds", "3", hash_seed="4")
    assert repeated["digest"] == results[2]["digest"]


def test_every_fault_can_be_planted() -> None:
    program = (
        "from tests.simulation.world import install; install()\n"
        "from tests.simulation.planted import FAULTS, plant\n"
        "for name in FAULTS: plant(name)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_within_sixty_seeds(name: str) -> None:
    results = simulate("--seeds", "1-60", "--fault", name, "--stop")
    assert any(result["violations"] for result in results)
