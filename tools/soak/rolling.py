"""Restarts every server and every node of a cluster in turn under play with clocks, as for a new version.

No move may be lost and no game lost on time, and rooms may pause for three seconds in one case of a hundred.
"""

from __future__ import annotations

import random
import signal
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.servers import Cluster
from tools.soak.cluster import Fault, Found, hand_over, play
from tools.soak.figures import times

CLOCK = {"move_ms": 5_000}
PAUSE_SECONDS = 3.0


@dataclass
class Rolling:
    """What came of it."""

    found: Found

    @property
    def pauses(self) -> list[float]:
        """The longest pause of every room in every restart, in seconds."""
        return sorted(pause for pauses in self.found.pauses.values() for pause in pauses)

    @property
    def has_failed(self) -> bool:
        slow = self.pauses[len(self.pauses) * 99 // 100 :]
        return self.found.has_failed or not slow or slow[0] > PAUSE_SECONDS

    def __str__(self) -> str:
        return f"rooms paused {times(self.pauses)}, {len(self.found.ledger.late)} lost on time; {self.found}"


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


async def run(folder: Path, *, rounds: int, moves: int, rooms: int, servers: int, seed: int = 0) -> Rolling:
    """Restart all of them so often, while `rooms` play on until so many moves are acknowledged."""
    async with Cluster(folder, servers=servers) as cluster:
        nodes = range(len(cluster.nodes.nodes))
        one_round = [
            *((f"server {number} restarted", restarting_server(number)) for number in range(servers)),
            *((f"node {number} restarted", restarting_node(number)) for number in nodes),
        ]
        return Rolling(await play(cluster, one_round * rounds, moves=moves, rooms=rooms, seed=seed, clock=CLOCK))
