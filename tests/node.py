"""Run the modules of the page with node."""

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.environment import environment


def run_node(*words: str, stdin: str = "") -> str:
    """Return what node prints with these arguments; skip the test if node is missing."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    done = subprocess.run([node, *words], input=stdin, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def evaluate(program: str, *words: str) -> Any:
    """Return the JSON that a module prints, which gets these arguments."""
    return json.loads(run_node("--input-type=module", "--eval", program, *words))
