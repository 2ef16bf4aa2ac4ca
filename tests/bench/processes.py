"""Servers under measurement: started on a core of their own, their processor time read from the kernel, ended by id."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

RELAY = (sys.executable, "-m", "tests.bench.relay")
SERVER = (
    *(str(Path(sys.executable).parent / "tictactoe-server"), "--log-level", "warning"),
    *("--host", "127.0.0.1", "--port", "0"),
)
IN_MEMORY = ("--data", ":memory:")
CORES = sorted(os.sched_getaffinity(0))
_TICKS = os.sysconf("SC_CLK_TCK")


class Measured:
    """A running server: where it listens, and what it has used."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.pid = process.pid
        self.url = url

    def cpu_seconds(self) -> float:
        """Return the processor time that the process has used, in user and kernel mode."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_kib(self) -> int:
        """Return the memory that the process holds."""
        match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert match
        return int(match[1])


@contextlib.contextmanager
def started(command: Sequence[str], *, is_pinned: bool = True) -> Iterator[Measured]:
    """Run a server that prints its ws:// address; pinned, it has the first core and we keep to the others."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if is_pinned:
            os.sched_setaffinity(process.pid, {CORES[0]})
            os.sched_setaffinity(0, set(CORES[1:]) or {CORES[0]})
        assert process.stdout
        line = process.stdout.readline()
        match = re.search(r"ws://\S+", line)
        assert match, f"{command[0]} printed {line!r}"
        yield Measured(process, match[0])
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(15)
        os.sched_setaffinity(0, set(CORES))
