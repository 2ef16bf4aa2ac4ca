"""Metrics for Prometheus, read from the server's own counters on request.

Threads of the Prometheus library serve them. All figures are read in the same iteration of the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple, get_args

from prometheus_client import CollectorRegistry, core, start_http_server
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tictactoe_server import OperatorError, __version__
from tictactoe_server.core.core import Service
from tictactoe_server.operator.order import ServerParts

_COLLECT_SECONDS: Final = 5.0  # how long a scrape waits for the event loop
PREFIX: Final = "tictactoe_"
Kind = Literal["info", "gauge", "counter", "histogram"]


class MetricsServer(Service, Collector):
    """Serves `/metrics` on its own address.

    Args:
        server: Returns the parts of the server that is measured.
    """

    def __init__(self, host: str, port: int, server: Callable[[], ServerParts]) -> None:
        self._host = host
        self.port = port
        self._server = server

    async def prepare(self) -> None:
        """Start listening; may raise `OperatorError`."""
        self._loop = asyncio.get_running_loop()
        registry = CollectorRegistry()
        registry.register(self)
        ProcessCollector(registry=registry)
        try:
            self._http, _ = start_http_server(self.port, self._host, registry)
        except OSError as error:
            raise OperatorError(f"Cannot serve metrics on {self._host}, port {self.port}: {error.strerror}.") from None
        self.port = self._http.server_port

    async def close(self) -> None:
        await asyncio.to_thread(self._http.shutdown)
        self._http.server_close()

    def collect(self) -> Iterable[core.Metric]:
        """Return all metrics; called in a thread of the library."""
        return asyncio.run_coroutine_threadsafe(self._measure(), self._loop).result(_COLLECT_SECONDS)

    async def _measure(self) -> list[core.Metric]:
        server = self._server()
        measured = [figure.measure(server) for figure in FIGURES]
        measured += [_gauge(*one).measure(service) for service in server.services for one in service.gauges]
        return [metric for metric in measured if metric is not None]


class Figure(NamedTuple):
    """A metric.

    Attributes:
        name: The name without `PREFIX`.
        words: The description for people.
        read: Returns the current value, or None if the server does not have this metric; called with the server's parts
            or with the service that the metric is about.
        label: The name of the label for the keys if the value is a mapping, otherwise "".
    """

    kind: Kind
    name: str
    words: str
    read: Callable[[Any], Any]
    label: str = ""

    def measure(self, measured: ServerParts | Service) -> core.Metric | None:
        """Return the metric with its current value, as a labelled sample for each key if the value is a mapping.

        Returns None if the server does not have this metric.
        """
        found, name = self.read(measured), f"{PREFIX}{self.name}"
        if found is None:
            return None
        if self.kind == "info":
            return core.InfoMetricFamily(name, self.words, found)
        if self.kind == "histogram":
            bounds = (*map(str, found.bounds), "+Inf")
            buckets = list(zip(bounds, map(float, accumulate(found.counts)), strict=True))
            return core.HistogramMetricFamily(name, self.words, buckets=buckets, sum_value=found.total)
        family: Any = core.GaugeMetricFamily if self.kind == "gauge" else core.CounterMetricFamily
        metric: core.Metric = family(name, self.words, labels=[self.label] if self.label else [])
        for values, number in [([str(value)], each) for value, each in found.items()] if self.label else [([], found)]:
            metric.add_metric(values, float(number))  # type: ignore[attr-defined]
        return metric


def _in_cluster(read: Callable[[ServerParts], Any]) -> Callable[[ServerParts], Any]:
    """Return a function that calls `read` if the server is in a cluster, and otherwise returns None."""
    return lambda server: read(server) if server.elsewhere.is_several else None


_info, _gauge, _counter, _histogram = (partial(Figure, kind) for kind in get_args(Kind))

FIGURES: Final = (
    _info("server", "The server's version.", lambda server: {"version": __version__}),
    _gauge(
        "ready",
        "1 where the server is ready, 0 while it starts, drains or waits.",
        lambda server: server.unready() is None,
    ),
    _info(
        "cluster",
        "What this server is called in its cluster.",
        _in_cluster(lambda server: {"server": next(iter(server.elsewhere.cluster_status.names.values()))}),
    ),
    _gauge(
        "cluster_servers",
        "Servers of the cluster that live, this one included.",
        _in_cluster(lambda server: len(server.elsewhere.cluster_status.names)),
    ),
    _gauge(
        "rooms_served",
        "Rooms that this server serves.",
        _in_cluster(lambda server: len(server.core.rooms.by_code)),
    ),
    _gauge("connections", "Open connections, also those without a hello.", lambda server: server.admission.connections),
    _counter("connections_accepted", "Connections that were accepted.", lambda server: server.admission.accepted),
    _gauge(
        "sessions", "Connections over which a player has said hello.", lambda server: len(server.core.presence.players)
    ),
    _gauge("rooms", "Rooms, by status.", lambda server: server.core.indexes.by_status, "status"),
    _counter("moves", "Moves that were stored.", lambda server: server.core.rooms.moves),
    _counter("games_ended", "Games that ended, by reason.", lambda server: server.core.counters.games, "reason"),
    _counter("refusals", "Requests that were refused, by code.", lambda server: server.core.counters.refusals, "code"),
    _counter("limited", "What a limit held back, by kind.", lambda server: server.limited(), "kind"),
    _histogram(
        "store_seconds", "How long transactions of the store took.", lambda server: server.core.store.figures.seconds
    ),
    _histogram(
        "store_batch_writes",
        "How many writes a transaction of the store held.",
        lambda server: server.core.store.figures.writes,
    ),
    _gauge(
        "store_faulty_nodes",
        "Nodes of the store whose copies differ, or that do not answer or store.",
        _in_cluster(lambda server: len(server.elsewhere.cluster_status.faulty_nodes)),
    ),
    _counter(
        "store_lost_writes",
        "Acknowledged writes that the nodes of the store have lost.",
        _in_cluster(lambda server: server.elsewhere.cluster_status.lost_writes),
        "stream",
    ),
    _gauge("event_loop_lag_seconds", "The longest delay of the event loop lately.", lambda server: server.lag.seconds),
    _gauge("bans", "Bans that count now.", lambda server: len(server.bans)),
)
"""The metrics of every server; services add their gauges. The dashboard and the alerts in `deploy/` use them."""
