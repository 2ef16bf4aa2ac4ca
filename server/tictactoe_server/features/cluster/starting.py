"""How a server becomes one of a cluster: it opens the shared store, and its time follows the other servers."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tictactoe_server import clock
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.features.cluster.cluster import GRACE_SECONDS, NOTE_SECONDS, Cluster
from tictactoe_server.features.cluster.feature import ClusterOptions
from tictactoe_server.features.jetstream.store import JetStreamStore
from tictactoe_server.storage.specs import Specs, Storage
from tictactoe_server.storage.store import CannotOpenStore

MOST_NS: Final = 1_000_000_000  # longest time between two readings of the clock in a running process


async def open_store(options: ClusterOptions, specs: Specs, data: Path | None) -> Storage:
    """Open the shared store, with a copy of the finished games in the folder `data`; raises `CannotOpenStore`."""
    return await JetStreamStore.open(
        options.store or "",
        specs,
        credentials=options.store_credentials,
        ca=options.store_ca,
        data=data,
        unsafe=options.store_unsafe,
    )


def join_cluster(
    store: Storage, port: int, url: str, monotonic_ns: Callable[[], int], is_draining: Callable[[], bool]
) -> Cluster:
    """Return the cluster of the servers that share a store; this server is at `url`. Raises `CannotOpenStore`."""
    if not isinstance(store, JetStreamStore):
        raise CannotOpenStore("This is no store of several servers.")
    uninterrupted = Uninterrupted(monotonic_ns)  # in a cluster no time passes while this server is suspended
    served = ServedTime(store, uninterrupted, note_seconds=NOTE_SECONDS, grace_seconds=GRACE_SECONDS)
    return Cluster(store, f"{socket.gethostname()}:{port}", url, served, is_draining)


class Uninterrupted:
    """A monotonic clock in ns that stops with this process, as the other servers of a cluster play on meanwhile."""

    def __init__(self, monotonic_ns: Callable[[], int] = clock.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._seen_ns = monotonic_ns()
        self._missed_ns = 0

    def __call__(self) -> int:
        now = self._monotonic_ns()
        if now - self._seen_ns > MOST_NS:
            self._missed_ns += now - self._seen_ns
        self._seen_ns = now
        return now - self._missed_ns
