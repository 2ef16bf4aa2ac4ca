"""Command lines of our programs, which can be pasted into the shell that started this one."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from functools import lru_cache
from pathlib import Path

from tictactoe_client.online.address import DEFAULT_SERVER, Address
from tictactoe_client.settings import PROGRAM


def own_command(*words: str, server: Address | None = None) -> str:
    """Return a command line of this program, with the server unless it is the default one."""
    target = () if server is None or server.url == DEFAULT_SERVER else ("--server", server.socket_url)
    return " ".join([_name(PROGRAM), *(shlex.quote(word) for word in (*words, *target))])


def invitation(room: str) -> str:
    """Return the command with which others join a room on their machines."""
    return f"{PROGRAM} join {room}"


def server_command() -> str:
    """Return the command that starts a server of the same installation."""
    return _name("tictactoe-server")


def name_program(program: str, started: str, python: str, found: str | None, folder: str) -> str:
    """Return how to call a program from a folder; `found` is the path that the bare name leads to."""
    paths = (started, python) if Path(started).name == PROGRAM else (python,)
    homes = [Path(path).parent for path in paths if os.sep in path]
    own = next((home / program for home in homes if (home / program).is_file()), None)
    if own is None or (found is not None and os.path.realpath(found) == os.path.realpath(own)):
        return program
    whole = os.path.abspath(os.path.join(folder, own))
    near = os.path.relpath(whole, folder)
    return shlex.quote(min(near if os.sep in near else os.path.join(".", near), whole, key=len))


@lru_cache(maxsize=2)
def _name(program: str) -> str:
    started = sys.argv[0] if sys.argv else ""
    if Path(started).name != PROGRAM and Path(started).parts[-2:] != ("tictactoe_client", "__main__.py"):
        return program
    return name_program(program, started, sys.executable, shutil.which(program), os.getcwd())
