"""The parts of a running server that the operator's orders and the metrics read and act upon."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from tictactoe_server.admin.bans import Bans
from tictactoe_server.admin.chores import LoopLag
from tictactoe_server.admin.drain import Drain
from tictactoe_server.core.core import Core
from tictactoe_server.transport.admission import Admission

LimitsNow = Mapping[str, tuple[float | None, float | None]]
"""Each limit by its name: what it is, None for none; and how much there is now, None where that is no one figure."""


class OtherServers(Protocol):
    """The cluster as orders see it; a server is named by its id."""

    @property
    def names(self) -> Mapping[str, str]:
        """What people call the living servers, by their ids; this one comes first."""

    @property
    def urls(self) -> tuple[str, ...]:
        """Where those are reached that do not leave."""

    def server_of(self, code: str) -> str:
        """Return which server has a room: this one where no other has it."""

    async def ask_order(self, id: str, order: bytes) -> bytes:
        """Return another server's answer; raises `StoreUnavailable`."""

    async def leave(self) -> bool:
        """Give all rooms to the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerParts:
    """`address` and `data` say where the server listens and what it keeps. `limits` returns what counts now, `limited`
    how often each limit held something back, `bots_waiting` how many thoughts of bots wait.

    `unready` returns why the server is not ready, or None. `cluster` is None for a server on its own.
    """

    address: str
    data: str
    core: Core
    admission: Admission
    bots_waiting: Callable[[], int]
    lag: LoopLag
    bans: Bans
    drain: Drain
    limits: Callable[[], LimitsNow]
    limited: Callable[[], Counter[str]]
    unready: Callable[[], str | None]
    cluster: OtherServers | None = None
    started_at: float = field(default_factory=time.monotonic)

    @property
    def names(self) -> Mapping[str, str]:
        """What people call the servers of the cluster, by their ids, this one first; "" for one on its own."""
        return {"": ""} if self.cluster is None else self.cluster.names
