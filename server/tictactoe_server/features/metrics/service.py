"""Metrics for Prometheus, read from the server's own counters on request.

All metrics are collected in the same iteration of the event loop, and the server's own HTTP code serves them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from http import HTTPStatus
from itertools import accumulate
from typing import Any, Final, Literal, NamedTuple, get_args

from prometheus_client import CollectorRegistry, core, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tictactoe_protocol import CloseCode
from tictactoe_server import OperatorError, __version__
from tictactoe_server.core.core import Core, Service
from tictactoe_server.core.session import Counters
from tictactoe_server.operator.order import ServerParts
from tictactoe_server.settings import Limits
from tictactoe_server.transport.admission import Admission
from tictactoe_server.transport.connection import Connection, Receiver
from tictactoe_server.transport.http_messages import HttpRequest, HttpResponse, say
from tictactoe_server.transport.listen import open_sockets
from tictactoe_server.transport.listener import Listener

_LIMITS: Final = Limits(connections=100, connections_per_address=10)  # so that file descriptors are left for players
PREFIX: Final = "tictactoe_"
Kind = Literal["info", "gauge", "counter", "histogram"]


class MetricsServer(Service, Collector):
    """Serves `/metrics` on its own address, with its own limits.

    Args:
        server: Returns the parts of the server that is measured.
    """

    def __init__(self, core: Core, host: str, port: int, server: Callable[[], ServerParts]) -> None:
        self._host = host
        self.port = port
        self._server = server
        self._registry = CollectorRegistry()
        self._listener = Listener(_turn_away, Admission(_LIMITS, answer=self._answer), _LIMITS, make=_Asking)
        core.hooks.connections.append(partial(MeteredConnection, core.counters))

    async def prepare(self) -> None:
        """Start listening; may raise `OperatorError`."""
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        try:
            sockets = open_sockets(self._host, self.port)
        except OperatorError as error:
            raise OperatorError(f"Cannot serve metrics on {self._host}, port {self.port}: {error}") from None
        self.port = sockets[0].getsockname()[1]
        await self._listener.listen(sockets)

    async def close(self) -> None:
        await self._listener.stop(CloseCode.GOING_AWAY, "stopping", 0)

    def collect(self) -> Iterator[core.Metric]:
        server = self._server()
        measured = [figure.measure(server) for figure in FIGURES]
        measured += [_gauge(*one).measure(service) for service in server.services for one in service.gauges]
        yield from filter(None, measured)

    def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.path not in ("/", "/metrics"):
            return say(HTTPStatus.NOT_FOUND, "Not found. The metrics are at /metrics.")
        return HttpResponse(HTTPStatus.OK, generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4)


class MeteredConnection(Connection):
    """A connection that adds the number of bytes it sends to the server's counters."""

    __slots__ = ("_counters",)

    def __init__(self, counters: Counters, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._counters = counters

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        write, counters = self._write, self._counters

        def count(data: bytes) -> None:
            counters.sent += len(data)
            write(data)

        self._write = count


class _Asking(Connection):
    """A connection to the metrics server. While it is idle, it may be closed to make room for a new connection."""

    __slots__ = ()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._peer.idle(self.abort)

    def _read_on(self) -> None:
        super()._read_on()
        self._peer.idle(self.abort)


def _turn_away(connection: Connection) -> Receiver:
    connection.close(CloseCode.POLICY_VIOLATION, "figures only")
    return Receiver()


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
        _in_cluster(lambda server: {"server": next(iter(server.elsewhere.names.values()))}),
    ),
    _gauge(
        "cluster_servers",
        "Servers of the cluster that live, this one included.",
        _in_cluster(lambda server: len(server.elsewhere.names)),
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
        _in_cluster(lambda server: len(server.elsewhere.faulty_nodes)),
    ),
    _counter(
        "store_lost_writes",
        "Acknowledged writes that the nodes of the store have lost.",
        _in_cluster(lambda server: server.elsewhere.lost_writes),
        "stream",
    ),
    _gauge("event_loop_lag_seconds", "The longest delay of the event loop lately.", lambda server: server.lag.seconds),
    _gauge("bans", "Bans that count now.", lambda server: len(server.bans)),
    _counter("sent_bytes", "Bytes that were sent to peers.", lambda server: server.core.counters.sent),
)
"""The metrics of every server; services add their gauges. The dashboard and the alerts in `deploy/` use them."""
