"""The servers that are compared, and the ways to seat two players."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace

from tests.environment import environment
from tests.limits import COUNTED
from tools.bench.processes import IN_MEMORY, RELAY, SERVER, started
from tools.bench.tables import Meter, Seating, seat_at_relay, seat_at_server


@dataclass(frozen=True)
class Contestant:
    """A server to measure. `{folder}` in its command is replaced by an empty folder."""

    name: str
    command: tuple[str, ...]
    seating: Seating
    is_durable: bool = False

    @contextlib.asynccontextmanager
    async def started(self) -> AsyncIterator[Meter]:
        with (
            tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as folder,
            started([word.replace("{folder}", folder) for word in self.command]) as server,
        ):
            yield server


OURS = (
    Contestant("relay", RELAY, seat_at_relay),
    Contestant("memory", (*SERVER, *IN_MEMORY), seat_at_server),
    Contestant("disk", (*SERVER, "--data", "{folder}"), seat_at_server, is_durable=True),
)
"""A bare relay as the yardstick, and our server without and with every move on disk before it is shown."""


@contextlib.contextmanager
def older_packages(commit: str) -> Iterator[str]:
    """Return the paths of packages and tests at a commit; raises `CalledProcessError` for an unknown one."""
    with tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as tree:
        archive = subprocess.run(("git", "archive", commit), check=True, capture_output=True, env=environment()).stdout
        subprocess.run(("tar", "--extract", "--directory", tree), check=True, input=archive, env=environment())
        yield ":".join(f"{tree}/{folder}" for folder in ("protocol", "server", "client", ""))


@contextlib.contextmanager
def older(commit: str) -> Iterator[list[Contestant]]:
    """Return our server as it was at a commit, with its limits then; raises `CalledProcessError` for an unknown one."""
    with older_packages(commit) as packages:
        program = "import tests.limits; print(*tests.limits.COUNTED)"
        asking = (sys.executable, "-P", "-c", program)
        limits = subprocess.check_output(asking, text=True, env=environment(PYTHONPATH=packages)).split()
        command = ("env", f"PYTHONPATH={packages}", *SERVER[: -len(COUNTED)], *limits)
        yield [
            replace(one, name=f"{one.name} at {commit[:8]}", command=(*command, *one.command[len(SERVER) :]))
            for one in OURS
            if one.command != RELAY
        ]
