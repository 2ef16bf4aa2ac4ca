"""The environment of processes that tests start. It hides the environment that the tests run in."""

import os
import sys
from pathlib import Path
from typing import Final

SERVICE_TYPE: Final = f"_tictactoe{os.environ.get('PYTEST_XDIST_WORKER', '')}._tcp.local."
"""The service type that servers in this process announce; it differs for each worker process."""


def environment(**variables: str) -> dict[str, str]:
    """Return HOME, PATH with our programs first, Python's warnings as errors, a patient client, and `variables`."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    usual = {"PATH": path, "HOME": str(Path.home()), "PYTHONWARNINGS": "error", "TICTACTOE_TIMEOUT": "120"}
    return {**usual, **variables}
