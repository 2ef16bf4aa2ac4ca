"""The servers that are measured beside each other, and how two sit down at one of their tables."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace

from tests.bench.processes import IN_MEMORY, RELAY, SERVER, started
from tests.bench.tables import Meter, Seating, seat_at_relay, seat_at_server
from tests.environment import environment


@dataclass(frozen=True)
class Contestant:
    """A server to measure. `{folder}` in its command stands for an empty folder."""

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
"""The yardstick, a bare relay, and our own server without and with every move on disk before it is shown."""


@contextlib.contextmanager
def older_packages(commit: str) -> Iterator[str]:
    """Return where Python finds the packages as they were at a commit; raises `CalledProcessError` for none."""
    with tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as tree:
        archive = subprocess.run(("git", "archive", commit), check=True, capture_output=True, env=environment()).stdout
        subprocess.run(("tar", "--extract", "--directory", tree), check=True, input=archive, env=environment())
        yield ":".join(f"{tree}/{folder}" for folder in ("protocol", "server", "client"))


@contextlib.contextmanager
def older(commit: str) -> Iterator[list[Contestant]]:
    """Return our own server as it was at a commit, without and with a disk; raises `CalledProcessError` for none."""
    with older_packages(commit) as packages:
        yield [
            replace(one, name=f"{one.name} at {commit[:8]}", command=("env", f"PYTHONPATH={packages}", *one.command))
            for one in OURS
            if one.command != RELAY
        ]
