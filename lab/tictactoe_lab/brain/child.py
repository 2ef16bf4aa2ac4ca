"""What a child process does before it becomes the engine: it limits its memory, and dies with who started it.

Run by its path, so it imports nothing of ours: ``child.py BYTES PARENT COMMAND…``, with 0 bytes for no limit.
"""

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(limit: str, parent: str, *command: str) -> None:
    """Become the command; raises OSError and ValueError for what cannot be had."""
    if int(limit):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):  # it has gone meanwhile
            return
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
