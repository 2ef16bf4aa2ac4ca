"""The parts of a running server that its operator sees and acts upon, in one value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tictactoe_server.admin.bans import Bans
from tictactoe_server.admin.drain import Drain
from tictactoe_server.admin.lag import LoopLag
from tictactoe_server.core.changes import Changes
from tictactoe_server.core.presence import Presence
from tictactoe_server.core.registry import Registry
from tictactoe_server.core.tally import Tally
from tictactoe_server.core.timers import Timers
from tictactoe_server.storage.specs import Storage
from tictactoe_server.transport.door import Door

if TYPE_CHECKING:
    from tictactoe_server.cluster.cluster import Cluster

LimitsNow = Mapping[str, tuple[float | None, float | None]]
"""Each limit by its name: what it is, None for none; and how much there is now, None where that is no one figure."""


@dataclass(frozen=True, slots=True)
class Site:
    """`address` and `data` are where the server listens and what it keeps, in words; `limits` returns what counts now,
    `limited` how often each held something back, `bots_waiting` how many thoughts of bots wait.

    `unready` returns why the server is not ready, or None. `cluster` is None for a server on its own.
    """

    address: str
    data: str
    store: Storage
    door: Door
    presence: Presence
    registry: Registry
    changes: Changes
    timers: Timers
    bots_waiting: Callable[[], int]
    tally: Tally
    lag: LoopLag
    bans: Bans
    drain: Drain
    limits: Callable[[], LimitsNow]
    limited: Callable[[], Counter[str]]
    unready: Callable[[], str | None]
    cluster: Cluster | None = None
