"""Restarts every server and every node of a cluster in turn under play with clocks, as for a new version.

No move may be lost and no game lost on time, and rooms may pause for three seconds in one case of a hundred. With
`busy` processes beside it that compute all the time, or with nodes that are so `slow` (ms) to let a server in, no room
may pause for more than five seconds, and every request has to be answered within three.
"""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.servers import Cluster
from tests.cluster.tied import tied
from tests.environment import environment
from tools.soak.cluster import Fault, Found, hand_over, play
from tools.soak.figures import times

CLOCK = {"move_ms": 5_000}
PAUSE_SECONDS = 3.0
SLOW_PAUSE_SECONDS = 5.0
SLOW_ANSWER_SECONDS = 3.0


@dataclass
class Rolling:
    """What came of it; with `is_slow` the machine was made busy, or the nodes slow to let a server in."""

    found: Found
    is_slow: bool

    @property
    def pauses(self) -> list[float]:
        """The longest pause of every room in every restart, in seconds."""
        return sorted(pause for pauses in self.found.pauses.values() for pause in pauses)

    @property
    def has_failed(self) -> bool:
        slow = self.pauses[len(self.pauses) * 99 // 100 :]
        if self.found.has_failed or not slow:
            return True
        if self.is_slow:
            return slow[-1] > SLOW_PAUSE_SECONDS or self.found.ledger.slowest_answer > SLOW_ANSWER_SECONDS
        return slow[0] > PAUSE_SECONDS

    def __str__(self) -> str:
        return (
            f"rooms paused {times(self.pauses)}, {len(self.found.ledger.late)} lost on time, "
            f"the slowest answer after {self.found.ledger.slowest_answer:.2f} s; {self.found}"
        )


def restarting_server(number: int) -> Fault:
    """Return what ends a server in order and starts it again."""

    async def restart(cluster: Cluster, choice: random.Random) -> None:
        await cluster.servers[number].end(signal.SIGTERM)
        await cluster.servers[number].start()

    return restart


def restarting_node(number: int) -> Fault:
    """Return what has a node hand over, ends it and starts it again."""

    async def restart(cluster: Cluster, choice: random.Random) -> None:
        await hand_over(cluster.nodes.nodes[number])

    return restart


@contextlib.contextmanager
def computing(count: int) -> Iterator[None]:
    """Run so many processes that do nothing but compute."""
    command = tied(sys.executable, "-c", "while True: pass")
    processes = [subprocess.Popen(command, env=environment()) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


async def run(
    folder: Path,
    *,
    rounds: int,
    moves: int,
    rooms: int,
    servers: int,
    nodes: int = 3,
    busy: int = 0,
    slow: int = 0,
    seed: int = 0,
) -> Rolling:
    """Restart servers and `nodes` of the nodes so often, while `rooms` play until so many moves are acknowledged."""
    async with Cluster(folder, servers=servers, is_proxied=slow > 0) as cluster:
        one_round = [
            *((f"server {number} restarted", restarting_server(number)) for number in range(servers)),
            *((f"node {number} restarted", restarting_node(number)) for number in range(nodes)),
        ]
        for cable in (cable for cables in cluster.cables for cable in cables):
            cable.slow_at_first(slow / 1000)
        with computing(busy):
            found = await play(cluster, one_round * rounds, moves=moves, rooms=rooms, seed=seed, clock=CLOCK)
        return Rolling(found, is_slow=busy + slow > 0)
