"""Run the command `tictactoe-server` to its end, as an operator does."""

import sys
from dataclasses import dataclass

from tests.environment import environment
from tests.programs import run_program

PATIENCE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a command; `output` includes errors."""

    exit_code: int
    output: str


def run_command(*arguments: str) -> Ran:
    done = run_program([sys.executable, "-m", "tictactoe_server", *arguments], env=environment())
    return Ran(done.returncode, done.stdout + done.stderr)
