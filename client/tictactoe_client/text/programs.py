"""Command lines of our programs, to be pasted into the shell that started this program."""

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
    """Return a command line of this program, with the option ``--server`` unless it is the default server."""
    target = () if server is None or server.url == DEFAULT_SERVER else ("--server", server.socket_url)
    return " ".join([_name(PROGRAM), *(shlex.quote(word) for word in (*words, *target))])


def invitation(room: str) -> str:
    """Return the command that other people type to join a room from their machines."""
    return f"{PROGRAM} join {room}"


def server_command() -> str:
    """Return the command that starts the server program of the same installation."""
    return _name("tictactoe-server")


@lru_cache(maxsize=2)
def _name(program: str) -> str:
    """Return how to run a program of this installation: its name, or its path if the name would run another file."""
    started = Path(sys.argv[0] if sys.argv else "")
    if started.name != PROGRAM and started.parts[-2:] != ("tictactoe_client", "__main__.py"):
        return program
    own = (started if started.name == PROGRAM else Path(sys.executable)).with_name(program)
    found = shutil.which(program)
    is_found = found is not None and own.is_file() and os.path.samefile(found, own)
    return program if is_found or not own.is_file() else shlex.quote(str(own))
