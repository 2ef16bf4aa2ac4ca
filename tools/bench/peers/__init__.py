"""Other projects' game servers under the same load: Colyseus and boardgame.io, with their own wire protocols.

Their games (`node/`) are small and follow their documentation: tic-tac-toe for two, each move shown to both at once,
nothing on disk. They are installed from npm into a temporary folder. (koa-compose is held below 4.2, which copies the
list of handlers before boardgame.io has added its own, so that every request for a match is a 404.)
"""

import contextlib
import http.client
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.environment import environment

INSTALL_SECONDS = 300
_PROGRAMS = Path(__file__).parent / "node"


class CannotInstall(Exception):
    """The servers cannot be installed; the message gives the reason in one line."""


@contextlib.contextmanager
def installed() -> Iterator[Path]:
    """Yield a folder with both servers and their dependencies; raises `CannotInstall`."""
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing:
        raise CannotInstall(f"{' and '.join(missing)} cannot be found.")
    with tempfile.TemporaryDirectory(prefix="tictactoe-peers-") as name:
        folder = Path(name)
        shutil.copytree(_PROGRAMS, folder, dirs_exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment(**os.environ),  # npm goes by proxies, certificates and registries that are set outside
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise CannotInstall(f"npm took longer than {INSTALL_SECONDS} s.") from None
        if done.returncode:
            raise CannotInstall(f"npm failed: {(done.stderr.strip() or 'without a word').splitlines()[-1]}")
        yield folder


def post(url: str, path: str, **fields: Any) -> dict[str, Any]:
    """Return the answer to a JSON request by plain HTTP."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    try:
        connection.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, body
        answer: dict[str, Any] = json.loads(body)
        return answer
    finally:
        connection.close()
