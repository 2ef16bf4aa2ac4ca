"""The server's figures for Prometheus: read when somebody asks, from plain numbers, and never counted for it.

The HTTP is the library's own server, in threads of its own; the figures are taken on the event loop, in one go.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from tictactoe_server import __version__
from tictactoe_server.operator.meter import Meter
from tictactoe_server.operator.site import Site
from tictactoe_server.stores import Histogram
from tictactoe_server.transport import CannotListen

_PATIENCE_SECONDS: Final = 5.0
_PREFIX: Final = "tictactoe_"


class MetricsServer:
    """Answers `GET /metrics` on an address of its own from `open` to `close`."""

    def __init__(self, host: str, port: int, site: Site, meter: Meter) -> None:
        self._host = host
        self.port = port
        self._site = site
        self._meter = meter
        self._registry = CollectorRegistry()
        self._server: Any = None

    async def open(self) -> None:
        """Listen from now on; raises `CannotListen`."""
        self._registry.register(_SiteCollector(self._site, self._meter, asyncio.get_running_loop()))
        ProcessCollector(registry=self._registry)
        try:
            start = partial(start_http_server, self.port, self._host, self._registry)
            self._server, self._thread = await asyncio.to_thread(start)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CannotListen(f"Cannot show metrics on {self._host}, port {self.port}: {reason}.") from None
        self.port = self._server.server_port

    async def close(self) -> None:
        """Listen no more."""
        await asyncio.to_thread(self._server.shutdown)
        self._server.server_close()
        self._thread.join()


class _SiteCollector(Collector):
    """Takes all figures at once, on the event loop; called in a thread of the HTTP server."""

    def __init__(self, site: Site, meter: Meter, loop: asyncio.AbstractEventLoop) -> None:
        self._site = site
        self._meter = meter
        self._loop = loop

    def describe(self) -> list[Metric]:
        """Return nothing: so that registering asks for no figures yet."""
        return []

    def collect(self) -> list[Metric]:
        """Return all figures."""
        return asyncio.run_coroutine_threadsafe(_take(self._site, self._meter), self._loop).result(_PATIENCE_SECONDS)


async def _take(site: Site, meter: Meter) -> list[Metric]:
    return list(_figures(site, meter))


def _figures(site: Site, meter: Meter) -> Iterator[Metric]:
    tally, written = site.tally, site.store.figures
    yield InfoMetricFamily("tictactoe_server", "The server's version.", {"version": __version__})
    yield _gauge("ready", "1 where the server is ready, 0 while it starts, drains or waits.", site.unready() is None)
    if site.house is not None:
        members = site.house.members
        served = sum(not live.is_elsewhere for live in site.registry.rooms)
        yield InfoMetricFamily("tictactoe_house", "What this server is called in its house.", {"server": members.name})
        yield _gauge("house_servers", "Servers of the house that live, this one included.", len(members.living))
        yield _gauge("rooms_served", "Rooms of the house that this server serves.", served)
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
    yield _gauge("bot_queue", "Questions that wait for a process in which bots think.", site.pool.waiting)
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
