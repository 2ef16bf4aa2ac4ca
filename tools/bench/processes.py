"""Servers under measurement: started on a core of their own, measured by the kernel's clock, and ended by id."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.environment import environment
from tests.limits import COUNTED

RELAY = (sys.executable, "-m", "tools.bench.relay")
SERVER = (sys.executable, "-m", "tictactoe_server", "--host", "127.0.0.1", "--port", "0", *COUNTED)
"""The server as installed, with its log in a file and limits that a single address never reaches."""

IN_MEMORY = ("--data", ":memory:")
CORES = sorted(os.sched_getaffinity(0))
QUIET = 0.05
"""The seconds of work in a second, on all cores, that still count as quiet."""

_TICKS = os.sysconf("SC_CLK_TCK")


class Measured:
    """A running server: its address and processor time."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.pid = process.pid
        self.url = url

    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self.pid)

    def beside_seconds(self) -> dict[str, float]:
        """Return the processor time of helper processes; there are none."""
        return {}

    def idle_bytes(self) -> int:
        """Return the bytes sent to an idle server; there is none."""
        return 0

    def resident_kib(self) -> int:
        match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert match
        return int(match[1])

    def pause(self) -> None:
        """Suspend the process until `resume`."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)


def cpu_seconds_of(pid: int) -> float:
    """Return the processor time of a process's threads in seconds, without child processes.

    Source: the kernel's encoding of a process's own clock, see clock_getcpuclockid(3).
    """
    return time.clock_gettime((~pid << 3) | 2)


def core_busy_seconds(core: int = CORES[0]) -> float:
    """Return the seconds a core has worked since the machine started, to a hundredth."""
    rows = Path("/proc/stat").read_text().splitlines()
    fields = next(row for row in rows if row.startswith(f"cpu{core} ")).split()[1:]
    user, nice, system, _idle, _waits_for_disk, hard, soft, stolen = (int(field) for field in fields[:8])
    return (user + nice + system + hard + soft + stolen) / _TICKS


def wait_for_quiet(patience_seconds: float) -> None:
    """Return when all cores have had a quiet second, or when patience ends."""
    until = time.perf_counter() + patience_seconds
    while time.perf_counter() < until:
        before = sum(core_busy_seconds(core) for core in CORES)
        time.sleep(1)
        if sum(core_busy_seconds(core) for core in CORES) - before < QUIET:
            return


def allow_many_connections() -> int:
    """Raise this process's limit of descriptors, which servers inherit, as far as possible; return it."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


@contextlib.contextmanager
def started(command: Sequence[str], *, is_pinned: bool = True, cwd: Path | None = None) -> Iterator[Measured]:
    """Run a server that prints its address; if pinned, it has the first core and we keep to the others."""
    if is_pinned:
        os.sched_setaffinity(0, {CORES[0]})
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=cwd, env=environment()
        )
        if is_pinned:
            os.sched_setaffinity(0, set(CORES[1:]) or {CORES[0]})
        try:
            yield Measured(process, _read_address(process))
        except BaseException:
            errors.seek(0)
            sys.stderr.write(errors.read())
            raise
        finally:
            _end(process)
            os.sched_setaffinity(0, set(CORES))


def _read_address(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    line = process.stdout.readline()
    match = re.search(r"(?:ws|http)://\S+", line)
    assert match, f"{process.args!r} printed {line!r}"
    return match[0]


def _end(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout
    process.stdout.close()
