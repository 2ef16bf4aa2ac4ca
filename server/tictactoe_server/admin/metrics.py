"""The server's figures for Prometheus: read when somebody asks, from plain numbers, and never counted for it.

They are answered on the event loop, by the HTTP of the server itself with its timeouts, and taken in one go.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tictactoe_protocol import CloseCode
from tictactoe_server import __version__
from tictactoe_server.admin.meter import Meter
from tictactoe_server.admin.site import Site
from tictactoe_server.settings import Limits
from tictactoe_server.storage.figures import Histogram
from tictactoe_server.transport.connection import Connection
from tictactoe_server.transport.door import Door
from tictactoe_server.transport.listen import CannotListen, open_sockets
from tictactoe_server.transport.listener import Listener
from tictactoe_server.transport.plain import Request, Response, say

MAX_CONNECTIONS: Final = 100
"""How many may be there for figures at once, so that they leave descriptors to those who play."""
_LIMITS: Final = Limits(connections=MAX_CONNECTIONS)

_PREFIX: Final = "tictactoe_"


class MetricsServer:
    """Answers `GET /metrics` on an address of its own from `open` to `close`, within limits of its own."""

    def __init__(self, host: str, port: int, site: Site, meter: Meter) -> None:
        self._host = host
        self.port = port
        self._site = site
        self._meter = meter
        self._registry = CollectorRegistry()
        door = Door(_LIMITS)
        door.unready, door.pages = site.unready, self._answer
        self._listener = Listener(_Nobody, door, _LIMITS)

    async def open(self) -> None:
        """Listen from now on; raises `CannotListen`."""
        self._registry.register(_SiteCollector(self._site, self._meter))
        ProcessCollector(registry=self._registry)
        try:
            sockets = open_sockets(self._host, self.port)
        except CannotListen as error:
            raise CannotListen(f"Cannot show metrics on {self._host}, port {self.port}: {error}") from None
        self.port = sockets[0].getsockname()[1]
        await self._listener.listen(sockets)

    async def close(self) -> None:
        """Listen no more."""
        await self._listener.stop(CloseCode.GOING_AWAY, "stopping", 0)

    def _answer(self, request: Request) -> Response:
        if request.path not in ("/", "/metrics"):
            return say(HTTPStatus.NOT_FOUND, "There is nothing here. Figures: /metrics")
        return Response(HTTPStatus.OK, generate_latest(self._registry), CONTENT_TYPE_PLAIN_0_0_4)


class _Nobody:
    """Hears those who open a WebSocket where there is none for them."""

    def __init__(self, connection: Connection) -> None:
        connection.close(CloseCode.POLICY_VIOLATION, "figures only")

    def received(self, message: bytes) -> None:
        """Do nothing."""

    def ended(self) -> None:
        """Do nothing."""


class _SiteCollector(Collector):
    """Takes all figures at once."""

    def __init__(self, site: Site, meter: Meter) -> None:
        self._site = site
        self._meter = meter

    def describe(self) -> list[Metric]:
        """Return nothing: so that registering asks for no figures yet."""
        return []

    def collect(self) -> list[Metric]:
        """Return all figures."""
        return list(_figures(self._site, self._meter))


def _figures(site: Site, meter: Meter) -> Iterator[Metric]:
    tally, written = site.tally, site.store.figures
    yield InfoMetricFamily("tictactoe_server", "The server's version.", {"version": __version__})
    yield _gauge("ready", "1 where the server is ready, 0 while it starts, drains or waits.", site.unready() is None)
    if site.cluster is not None:
        members = site.cluster.members
        served = len(list(site.registry.rooms))
        yield InfoMetricFamily(
            "tictactoe_house", "What this server is called in its cluster.", {"server": members.name}
        )
        yield _gauge("house_servers", "Servers of the cluster that live, this one included.", len(members.urls))
        yield _gauge("rooms_served", "Rooms that this server serves.", served)
    yield _gauge("connections", "Open connections, also those without a hello.", site.door.connections)
    yield _counter("connections_accepted", "Connections that were accepted.", site.door.accepted)
    yield _gauge("sessions", "Connections over which a player has said hello.", site.presence.greeted)
    yield _each(GaugeMetricFamily, "rooms", "Rooms, by status.", "status", site.registry.by_status)
    yield _counter("moves", "Moves that were stored.", site.changes.moves)
    yield _each(CounterMetricFamily, "games_ended", "Games that ended, by reason.", "reason", tally.games)
    yield _each(CounterMetricFamily, "refusals", "Requests that were refused, by code.", "code", tally.refusals)
    yield _each(CounterMetricFamily, "limited", "What a limit held back, by kind.", "kind", site.limited())
    yield _histogram("store_seconds", "How long transactions of the store took.", written.seconds)
    yield _histogram("store_batch_writes", "How many writes a transaction of the store held.", written.writes)
    yield _gauge("event_loop_lag_seconds", "The longest delay of the event loop lately.", site.lag.seconds)
    yield _gauge("bot_queue", "Questions that wait for a process in which bots think.", site.bots_waiting())
    yield _gauge("bans", "Bans that count now.", sum(1 for _ in site.bans))
    yield _counter("sent_bytes", "Bytes that were sent to peers.", meter.sent)


def _gauge(name: str, words: str, value: float) -> Metric:
    return GaugeMetricFamily(_PREFIX + name, words, float(value))


def _counter(name: str, words: str, value: float) -> Metric:
    return CounterMetricFamily(_PREFIX + name, words, float(value))


def _each(family: Any, name: str, words: str, label: str, values: dict[str, int]) -> Metric:
    metric: Metric = family(_PREFIX + name, words, labels=[label])
    for value, count in values.items():
        metric.add_metric([str(value)], float(count))  # type: ignore[attr-defined]
    return metric


def _histogram(name: str, words: str, histogram: Histogram) -> Metric:
    """Return a histogram whose buckets count all that is at most as large as their bounds."""
    buckets, so_far = [], 0
    for bound, count in zip((*map(str, histogram.bounds), "+Inf"), list(histogram.counts), strict=True):
        so_far += count
        buckets.append((bound, float(so_far)))
    return HistogramMetricFamily(_PREFIX + name, words, buckets=buckets, sum_value=histogram.total)
