"""Run the modules of the page with node."""

import json
import shutil
import subprocess
from typing import Any, Final
from urllib.parse import quote

import pytest

from tests.environment import environment
from tictactoe_server.http.assets import STANDARD_GAMES

DOCUMENT: Final = f"globalThis.document = {{documentElement: {json.dumps({'dataset': {'games': STANDARD_GAMES}})}}}"
"""The part of the page's document that its modules read when they are loaded."""


def run_node(*words: str, stdin: str = "") -> str:
    """Return what node prints with these arguments; skip the test if node is missing."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on this machine")
    command = [node, "--import", f"data:text/javascript,{quote(DOCUMENT)}", *words]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def evaluate(program: str, *words: str) -> Any:
    """Return the JSON that a module prints, which gets these arguments."""
    return json.loads(run_node("--input-type=module", "--eval", program, *words))
