"""Houses of several servers on three nodes as contestants: every move is on a majority's disk before it is shown."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.bench.contestants import Contestant
from tests.bench.processes import CORES, cpu_seconds_of
from tests.bench.tables import Meter, seat_in_house
from tests.house.servers import House

NODES = 3


class MeasuredHouse:
    """A running house: all its servers are measured as one, and the nodes beside them.

    It is never paused, since nodes would hold an election then; between its turns it does next to nothing.
    """

    def __init__(self, house: House) -> None:
        self.url = ",".join(server.url for server in house.servers)
        self._servers = [server.pid for server in house.servers]
        self._nodes = [node.pid for node in house.nodes.nodes]
        for pid in self._servers:
            pin(pid, CORES[:1])

    def cpu_seconds(self) -> float:
        """Return the processor time of all servers together."""
        return sum(map(cpu_seconds_of, self._servers))

    def beside_seconds(self) -> float:
        """Return that of all nodes together."""
        return sum(map(cpu_seconds_of, self._nodes))

    def pause(self) -> None:
        """Go on."""

    def resume(self) -> None:
        """Go on."""


@dataclass(frozen=True)
class HouseContestant(Contestant):
    """A house of so many servers, on which the two of a room are on different ones."""

    servers: int = 1

    @contextlib.asynccontextmanager
    async def started(self) -> AsyncIterator[Meter]:
        with tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as folder:
            async with House(Path(folder), servers=self.servers, nodes=NODES) as house:
                yield MeasuredHouse(house)


def houses(servers: int) -> list[Contestant]:
    """Return a house of one server, and one of so many."""
    words = {2: "two"}.get(servers, str(servers))
    return [
        HouseContestant("nats, one server", (), seat_in_house, is_durable=True),
        HouseContestant(f"nats, players on {words} servers", (), seat_in_house, is_durable=True, servers=servers),
    ]


def pin(pid: int, cores: Iterable[int]) -> None:
    """Have a process, with all its threads, run on these cores alone."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), cores)
