"""Generate a Grafana dashboard and Prometheus alerts from the list of metrics.

``python -m tools.monitoring --out deploy/`` writes them. The same list always gives the same files.
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tictactoe_server.features.backups.service import Backups
from tictactoe_server.features.bots.pool import ThinkingPool
from tictactoe_server.features.metrics.service import FIGURES, PREFIX, Figure

JsonObject = dict[str, Any]

_SOURCE: Final = {"type": "prometheus", "uid": "${source}"}
_COLUMNS, _WIDTH, _HEIGHT = 3, 8, 8  # of the 24 columns that a dashboard has
_UNITS: Final = {"seconds": "s", "bytes": "Bps"}


class Alert(NamedTuple):
    """An alert: its expression, how long the expression has to hold, and the operator's next step."""

    name: str
    expression: str
    minutes: int
    words: str


ALERTS: Final = (
    Alert("NotReady", "{ready} == 0", 5, "The server is not ready: tictactoe-server status says why."),
    Alert("Gone", 'absent({ready}) or up{{job="tictactoe"}} == 0', 2, "No figures come from the server."),
    Alert("EventLoopLate", "{event_loop_lag_seconds} > 0.5", 5, "Everybody waits: too much for the machine."),
    Alert(
        *("StoreSlow", "rate({store_seconds}_sum[5m]) / rate({store_seconds}_count[5m]) > 0.5", 5),
        "The disk takes half a second for a write, and so does every move.",
    ),
    Alert("ManyHeldBack", "sum(rate({limited}_total[5m])) > 50", 10, "An attack, or a limit that is too low."),
    Alert("BotsBehind", "{bot_queue} > 50", 10, "Bots cannot keep up: --bot-workers, or fewer of their games."),
    Alert("BackupFailing", "{backup_failing} > 0", 60, "The last attempt to make a backup failed: status says why."),
    Alert("BackupOld", "{backup_age_seconds} > 2 * 86400", 60, "No backup for two days: status says why."),
    Alert(
        *("ServersMissing", "max({cluster_servers}) < max_over_time(max({cluster_servers})[1d:5m])", 10),
        "A server of the cluster is gone.",
    ),
    Alert("StoreNodeFaulty", "{store_faulty_nodes} > 0", 5, "tictactoe-server cluster check says what to do."),
    Alert(
        *("StoreLostWrites", "{store_lost_writes}_total > 0", 0),
        "Nodes of the store were set back: the log and docs/how-to/run-a-cluster.md say what to do.",
    ),
)
SHOWN: Final = (*FIGURES, *(Figure("gauge", *gauge) for gauge in (*ThinkingPool.gauges, *Backups.gauges)))
"""All metrics: those of every server, and those of services."""


def render_dashboard() -> str:
    """Return the dashboard as JSON: a panel for each figure that changes."""
    shown = [one for one in SHOWN if one.kind != "info"]
    panels = [_panel(number, one) for number, one in enumerate(shown)]
    source = {"name": "source", "type": "datasource", "query": "prometheus", "label": "Data source"}
    instance = {
        "name": "instance",
        "type": "query",
        "label": "Server",
        "datasource": _SOURCE,
        "query": f"label_values({PREFIX}ready, instance)",
        "includeAll": True,
        "multi": True,
        "refresh": 2,
    }
    board = {
        "title": "tictactoe-server",
        "uid": "tictactoe-server",
        "schemaVersion": 39,
        "timezone": "browser",
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [source, instance]},
        "panels": panels,
    }
    return json.dumps(board, indent=2) + "\n"


def _panel(number: int, figure: Figure) -> JsonObject:
    row, column = divmod(number, _COLUMNS)
    unit = _UNITS.get(figure.name.rpartition("_")[2], "short")
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": figure.words.rstrip("."),
        "datasource": _SOURCE,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": "A", "datasource": _SOURCE, "expr": query, "legendFormat": legend}
            for query, legend in [_query_of(figure)]
        ],
    }


def _query_of(figure: Figure) -> tuple[str, str]:
    """Return the Prometheus query of a metric, and the legend of its lines."""
    name, chosen, by = f"{PREFIX}{figure.name}", '{instance=~"$instance"}', figure.label or "instance"
    if figure.kind == "histogram":
        buckets = f"sum by (le, instance) (rate({name}_bucket{chosen}[5m]))"
        return f"histogram_quantile(0.99, {buckets})", "99 % of {{instance}}"
    if figure.kind == "counter":
        return f"sum by ({by}) (rate({name}_total{chosen}[5m]))", f"{{{{{by}}}}} a second"
    return f"sum by ({by}) ({name}{chosen})", f"{{{{{by}}}}}"


def render_alerts() -> str:
    """Return the rules as YAML."""
    names = {one.name: f"{PREFIX}{one.name}" for one in SHOWN}
    lines = [
        "# Rules for Prometheus, which reads the figures of --metrics as the job `tictactoe`. On a server of its own,",
        "# or without --backup-to, some figures are not there, and their rules say nothing.",
        "groups:",
        "  - name: tictactoe-server",
        "    rules:",
    ]
    for one in ALERTS:
        lines += [
            f"      - alert: Tictactoe{one.name}",
            f"        expr: {json.dumps(one.expression.format_map(names))}",
            f"        for: {one.minutes}m",
            "        annotations:",
            f"          summary: {json.dumps(one.words)}",
        ]
    return "\n".join(lines) + "\n"


def render_files() -> Mapping[str, str]:
    """Return the texts of the files by their names."""
    return {"grafana.json": render_dashboard(), "alerts.yaml": render_alerts()}


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="The folder to write into.")
    folder = parser.parse_args().out
    for name, text in render_files().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
