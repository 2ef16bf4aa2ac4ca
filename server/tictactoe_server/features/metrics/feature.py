"""The feature for metrics. The Prometheus library is imported only if metrics are enabled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from click import BadParameter

from tictactoe_server.core.core import Service
from tictactoe_server.features.feature import Feature, Parts
from tictactoe_server.settings import Options, option


def _parse_address(text: str) -> tuple[str, int]:
    """Return the host and the port in HOST:PORT; may raise `BadParameter`. An IPv6 address must be in brackets."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise BadParameter(f"{text!r} is not a HOST:PORT such as 127.0.0.1:9100.")
    return host.removeprefix("[").removesuffix("]"), int(port)


@dataclass(frozen=True, slots=True)
class MetricsOptions(Options):
    """The address that metrics are served on, or None to disable metrics."""

    section = "Metrics"

    address: tuple[str, int] | None = option(
        "Serve metrics for Prometheus on this address, such as 127.0.0.1:9100. [default: off]",
        _parse_address,
        "HOST:PORT",
        name="metrics",
    )


def _make(parts: Parts) -> Iterable[Service]:
    address = parts.settings.of(MetricsOptions).address
    if address is None:
        return ()
    from tictactoe_server.features.metrics.service import MetricsServer

    return [MetricsServer(*address, parts.server)]


FEATURE: Final = Feature(make=_make, options=MetricsOptions)
