"""How to run this program again: commands to be typed now, on this machine, as they work here.

Where the name alone finds another program, or none, the path stands for it by which this one was started. Lines that
are meant for other people keep the plain name: they have an installation of their own.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final

from tictactoe_client.online.address import DEFAULT_SERVER, Address

CLIENT: Final = "tictactoe-client"
SERVER: Final = "tictactoe-server"


def own_command(*words: str, server: Address | None = None) -> str:
    """Return the line that runs this program with these words, and with the server unless it is the default one.

    >>> from tictactoe_client.online.address import parse_address
    >>> own_command("rooms", server=parse_address("ws://localhost:8765")) == own_command("rooms")
    True
    """
    target = () if server is None or server.url == DEFAULT_SERVER else ("--server", server.url)
    return " ".join([_name(CLIENT), *(shlex.quote(word) for word in (*words, *target))])


def server_command() -> str:
    """Return the line that starts a server of the same installation."""
    return _name(SERVER)


def name_program(program: str, started: str, python: str, found: str | None, folder: str) -> str:
    """Return how to call one of our programs from this folder.

    `started` is the path of the running program, `python` its interpreter, `found` what the bare name leads to. Pure
    but for a look at the files themselves.
    """
    homes = [Path(path).parent for path in (started, python) if os.sep in path]
    if Path(started).name != CLIENT:
        homes = homes[1:] if os.sep in started else homes
    own = next((home / program for home in homes if (home / program).is_file()), None)
    if own is None or (found is not None and os.path.realpath(found) == os.path.realpath(own)):
        return program
    whole = os.path.abspath(os.path.join(folder, own))
    near = os.path.relpath(whole, folder)
    return shlex.quote(min(near if os.sep in near else os.path.join(".", near), whole, key=len))


@lru_cache(maxsize=2)
def _name(program: str) -> str:
    started = sys.argv[0] if sys.argv else ""
    if Path(started).name != CLIENT and Path(started).parts[-2:] != ("tictactoe_client", "__main__.py"):
        return program
    return name_program(program, started, sys.executable, shutil.which(program), os.getcwd())
