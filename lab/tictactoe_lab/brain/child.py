"""Launches an engine: limits its memory, makes it die with its parent process, then executes the engine.

Runs as a script, ``child.py BYTES PARENT_PID COMMAND…`` (0 bytes: no limit), so it imports only the standard library.
"""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(limit: str, parent: str, *command: str) -> None:
    """Replace this process with the command; raise OSError or ValueError if a limit cannot be set or the exec fails."""
    if int(limit):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):  # the parent ended before prctl took effect
            return
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
