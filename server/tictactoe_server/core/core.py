"""The core: rooms with their changes and timers, and sessions. A `Service` extends it and handles requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, TypeVar

from tictactoe_server.core.change import Handler, Timers
from tictactoe_server.core.hooks import Hooks
from tictactoe_server.core.indexes import Indexes, Lobby
from tictactoe_server.core.name_mask import NameMask
from tictactoe_server.core.remote import RemoteServers
from tictactoe_server.core.rooms import RoomLog, Rooms
from tictactoe_server.core.served_time import ServedTime
from tictactoe_server.core.session import Counters, Presence
from tictactoe_server.people.allowances import Allowances
from tictactoe_server.records.tables import ROOMS
from tictactoe_server.scheduler import Job, Scheduler, Tasks
from tictactoe_server.settings import Limits, Settings
from tictactoe_server.storage.specs import Storage
from tictactoe_server.transport.http_messages import Route


class Core:
    """The state and the operations that all services share.

    Attributes:
        hold_ms: How long a player's seats are held after the connection is lost.
        names: Hides people's names in public views if the settings require it.
        hooks: The extension points for features.
    """

    def __init__(
        self,
        store: Storage,
        time: ServedTime,
        limits: Limits,
        monotonic_ns: Callable[[], int],
        elsewhere: RemoteServers | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings = settings or Settings()
        self.store = store
        self.time = time
        self.limits = limits
        self.hold_ms = round(settings.hold_seconds * 1000)
        self.monotonic_ns = monotonic_ns
        self.counters = counters = Counters()
        self.presence = Presence()
        self.scheduler = Scheduler()
        self.names = NameMask(hides_names=settings.hides_names)
        self.hooks = hooks = Hooks()
        self.timers = Timers(self.scheduler, time, limits, monotonic_ns)
        self.allowances = Allowances(limits, counters.limited, monotonic_ns)
        self.lobby = Lobby(time, self.names, hooks.add_fields)
        self.indexes = Indexes(limits, counters.limited, self.lobby, elsewhere or RemoteServers())
        log = RoomLog(counters.games, monotonic_ns)
        self.rooms = Rooms(
            store.table(ROOMS), self.timers, self.indexes, self.allowances, log, hooks.policies, self.hold_ms
        )

    @property
    def current_players(self) -> Set[str]:
        """The ids of the players who are connected or have a seat. The data of these players is kept."""
        return self.presence.ids.union(self.indexes.seats.players, *self.rooms.asleep.values())

    def count_games(self) -> int:
        """Return the number of running games with a connected player."""
        return sum(bool(live.players) and live.room.status == "playing" for live in self.rooms.by_code.values())


Gauge = tuple[str, str, Callable[[Any], float]]
"""A figure in the metrics: its name, its description for people, and a function that reads it from the service."""

ServiceKind = TypeVar("ServiceKind", bound="Service")


class Service:
    """A part of the server that answers requests. The constructor adds its listeners to the core.

    Attributes:
        handles: The handlers, by type of request.
        admits: The types of requests for a room that a session may send before it has entered the room.
        routes: The handlers of plain HTTP requests, by regular expression for the whole path. Paths of rooms come last.
        jobs: The background tasks, started with the server and stopped by `close`.
        gauges: Figures about the service for the metrics.
    """

    handles: Mapping[type, Handler] = {}
    admits: frozenset[type] = frozenset()
    routes: Mapping[str, Route] = {}
    jobs: Sequence[Job] = ()
    gauges: Sequence[Gauge] = ()

    async def prepare(self) -> None:
        """Complete the start of the server before it accepts connections. May raise `OperatorError`."""

    def status(self) -> Mapping[str, str]:
        """Return lines for the server's status report, by heading."""
        return {}

    @cached_property
    def tasks(self) -> Tasks:
        return Tasks()

    async def close(self) -> None:
        await self.tasks.stop()
