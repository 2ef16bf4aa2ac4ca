"""Commands that end with the process that started them, even if that is killed.

The Linux kernel guarantees this; on other systems the commands run normally.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1
"""See prctl(2); the setting survives exec."""


def tied(*command: str) -> tuple[str, ...]:
    """Return a command prefix that ties a process to this one."""
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
