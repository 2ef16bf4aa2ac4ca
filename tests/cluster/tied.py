"""Commands that end with the process that started them, however that ends, also when it is killed.

On Linux the kernel sees to it; elsewhere they are run as they are.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""See prctl(2); what it sets outlives exec."""


def tied(*command: str) -> tuple[str, ...]:
    """Return the command that runs this one until this process ends."""
    return (sys.executable, "-I", "-S", __file__, str(os.getpid()), *command)


def main() -> None:
    parent, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != int(parent):  # it ended before the kernel was told
            sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
