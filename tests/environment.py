"""What a process that a test starts finds around it: nothing of what happens to be set where the tests run."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

SERVICE_TYPE: Final = f"_tictactoe{os.environ.get('PYTEST_XDIST_WORKER', '')}._tcp.local."
"""What servers in this process announce and look for: not those of tests that run beside it."""


def environment(**variables: str) -> dict[str, str]:
    """Return PATH, with our programs first, HOME, `variables`, and Python's warnings as errors unless they say else."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    return {"PATH": path, "HOME": str(Path.home()), "PYTHONWARNINGS": "error", **variables}
