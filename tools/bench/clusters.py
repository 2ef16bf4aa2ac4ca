"""Clusters of several servers on three nodes as contestants: a majority stores each move before it is shown."""

import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.nodes import SERVER_NAME
from tests.cluster.servers import Cluster
from tests.limits import COUNTED
from tools.bench.contestants import Contestant
from tools.bench.processes import CORES, cpu_seconds_of
from tools.bench.tables import Meter, seat_in_cluster

NODES = 3


class MeasuredCluster:
    """A running cluster: the busy servers are measured together; the nodes and an `idle` server separately.

    It is never paused, since the nodes would then elect a new leader; between its turns it does almost nothing.
    """

    def __init__(self, cluster: Cluster, *, idle: bool) -> None:
        used, unused = cluster.servers[: -1 if idle else None], cluster.servers[-1:] if idle else []
        self.url = ",".join(server.url for server in used)
        self._servers = [server.pid for server in used]
        self._idle = [server.pid for server in unused]
        self._nodes = cluster.nodes.nodes
        for pid in (*self._servers, *self._idle):
            pin(pid, CORES[:1])

    def cpu_seconds(self) -> float:
        """Return the processor time of all busy servers."""
        return sum(map(cpu_seconds_of, self._servers))

    def beside_seconds(self) -> dict[str, float]:
        """Return the processor time of all nodes, and of the idle server if there is one."""
        nodes = {"nodes": sum(cpu_seconds_of(node.pid) for node in self._nodes)}
        return nodes | ({"idle server": sum(map(cpu_seconds_of, self._idle))} if self._idle else {})

    def idle_bytes(self) -> int:
        """Return how much the nodes have sent to the idle server, which was started last."""
        if not self._idle:
            return 0
        servers = [one for node in self._nodes for one in node.connections() if one["name"] == SERVER_NAME]
        return int(max(servers, key=lambda one: str(one["start"]))["out_bytes"])

    def pause(self) -> None:
        """Go on."""

    def resume(self) -> None:
        """Go on."""


@dataclass(frozen=True)
class ClusterContestant(Contestant):
    """A cluster whose players connect to different servers; with `is_idle` one server has no players.

    The rooms are distributed among `streams`.
    """

    servers: int = 1
    is_idle: bool = False
    streams: int = 4

    @contextlib.asynccontextmanager
    async def started(self) -> AsyncIterator[Meter]:
        with tempfile.TemporaryDirectory(prefix="tictactoe-bench-") as folder:
            count = self.servers + self.is_idle
            async with Cluster(Path(folder), *COUNTED, servers=count, nodes=NODES, streams=self.streams) as cluster:
                yield MeasuredCluster(cluster, idle=self.is_idle)
                writes = sorted(cluster.nodes.nodes[0].writes().values())
                mean = sum(writes) / len(writes)
                print(
                    f"{self.name}: {sum(writes):,} writes over {len(writes)} streams, "
                    f"{writes[0] / mean - 1:+.0%} to {writes[-1] / mean - 1:+.0%} of the mean"
                )


def clusters(servers: int, streams: Sequence[int]) -> list[Contestant]:
    """Return a one-server cluster for each number of streams; with the first number also one with an idle server, and
    larger clusters.
    """
    counts = range(2, servers + 1)
    return [
        *(
            ClusterContestant(f"nats, streams {count}", (), seat_in_cluster, is_durable=True, streams=count)
            for count in streams[1:]
        ),
        ClusterContestant("nats, one server", (), seat_in_cluster, is_durable=True, streams=streams[0]),
        ClusterContestant(
            "nats, an idle one beside", (), seat_in_cluster, is_durable=True, is_idle=True, streams=streams[0]
        ),
        *(
            ClusterContestant(
                f"nats, {count} servers", (), seat_in_cluster, is_durable=True, servers=count, streams=streams[0]
            )
            for count in counts
        ),
    ]


def pin(pid: int, cores: Iterable[int]) -> None:
    """Restrict a process and its threads to these cores."""
    for thread in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread), cores)
