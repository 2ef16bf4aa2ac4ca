"""External checkers of the page: TypeScript and axe-core, installed into `.ci-work` once by npm."""

import fcntl
import os
import re
import shutil
from functools import cache
from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired, run
from time import time
from typing import Final

import pytest

from tests.environment import environment

FOLDER: Final = Path(__file__).parents[2] / ".ci-work" / "npm"
PACKAGES: Final = ("axe-core@4", "typescript@7")
ANSWER_SECONDS, INSTALL_SECONDS = 15, 40
"""How long npm may wait for its registry, and how long a small installation may take."""
TIMEOUT_SECONDS: Final = 300 + ANSWER_SECONDS + INSTALL_SECONDS
"""The timeout of tests that may install the checkers first."""
TRIED_AGAIN_SECONDS: Final = 600
"""Seconds until npm tries a failed installation again; the workers of a test run skip it instead of waiting in turn."""
_TOLD: Final = re.compile(r"home|npm_config_.*|(https?|all|no)_proxy|ssl_cert_(file|dir)|node_extra_ca_certs", re.I)
_WAY_OUT: Final = {name: value for name, value in os.environ.items() if _TOLD.fullmatch(name)}
"""The environment from before the tests cleared it; npm needs it to reach its registry."""
_QUIET: Final = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=0")


def axe() -> Path:
    """Return the path of axe-core's script; skip the test if it is missing."""
    return _modules() / "axe-core" / "axe.min.js"


def tsc() -> Path:
    """Return the path of the TypeScript compiler; skip the test if it is missing."""
    return _modules() / ".bin" / "tsc"


def _modules() -> Path:
    why = _install()
    if why:
        pytest.skip(why)
    return FOLDER / "node_modules"


@cache
def _install() -> str:
    """Install the missing packages, one test run at a time; return the reason of a failure, else ""."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    failure = FOLDER / "failure"
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if all((FOLDER / "node_modules" / package.partition("@")[0]).is_dir() for package in PACKAGES):
            return "" if shutil.which("node") else "no node on this machine"
        if failure.exists() and time() - failure.stat().st_mtime < TRIED_AGAIN_SECONDS:
            return failure.read_text()
        why = _run_npm()
        failure.write_text(why)
    return why


def _run_npm() -> str:
    npm = shutil.which("npm")
    if npm is None:
        return "no npm on this machine, which installs axe-core and TypeScript"
    ask, install = (npm, "view", *_QUIET, PACKAGES[0], "name"), (npm, "install", "--prefix", FOLDER, *_QUIET, *PACKAGES)
    try:
        for command, seconds in ((ask, ANSWER_SECONDS), (install, INSTALL_SECONDS)):
            run(command, capture_output=True, text=True, check=True, timeout=seconds, env=environment(**_WAY_OUT))
    except TimeoutExpired as expired:
        return f"npm could not install axe-core and TypeScript: {expired.cmd[1]} took more than {expired.timeout} s"
    except CalledProcessError as failed:
        return f"npm cannot install axe-core and TypeScript: {failed.stderr.strip()[:200]}"
    return ""
