"""Twenty fixed seeds keep every promise, and a seed does the same in another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.simulation.planted import FAULTS


def simulate(*options: str, hash_seed: str = "0") -> list[dict[str, Any]]:
    """Return the results of `python -m tests.simulation`, which needs a process whose clocks it may replace."""
    command = [sys.executable, "-m", "tests.simulation", "--json", *options]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONHASHSEED": hash_seed}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.timeout(300)
def test_twenty_seeds_keep_every_promise() -> None:
    results = simulate("--seeds", "1-20")
    assert [result["seed"] for result in results] == list(range(1, 21))
    broken = {result["seed"]: [*result["violations"], *result["story"]] for result in results if result["violations"]}
    assert broken == {}
    assert all(result["counts"]["ok move"] and result["counts"]["commits"] for result in results)
    assert sum(result["counts"].get("kills", 0) for result in results) > 0


@pytest.mark.timeout(180)
def test_a_seed_does_the_same_in_two_processes() -> None:
    first = simulate("--seeds", "3-4", hash_seed="3")
    second = simulate("--seeds", "3-4", hash_seed="4")
    assert [result["digest"] for result in first] == [result["digest"] for result in second]
    assert first[0]["digest"] != first[1]["digest"]


def test_every_fault_can_be_planted() -> None:
    program = (
        "from tests.simulation.world import install; install()\n"
        "from tests.simulation.planted import FAULTS, plant\n"
        "for name in FAULTS: plant(name)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_within_sixty_seeds(name: str) -> None:
    results = simulate("--seeds", "1-60", "--fault", name, "--stop")
    assert any(result["violations"] for result in results)
