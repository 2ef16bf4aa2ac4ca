"""Answers of a server as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tictactoe_protocol import clean_text

Row = Sequence[object]

_SERVERS: Final = (
    "server",
    "ready",
    "players",
    "connections",
    "rooms served",
    "moves",
    "elsewhere",
    "loop late",
    "store owes",
)


def draw_table(head: Sequence[str], rows: Iterable[Row]) -> str:
    """Return rows under a head, in columns as wide as they need.

    >>> print(draw_table(["room", "ply"], [["K7M4PQ", 3]]))
    ROOM    PLY
    K7M4PQ  3
    """
    cells = [[title.upper() for title in head], *([show(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


def show(value: object) -> str:
    """Return one value, safe to print; a dash for none.

    >>> show(None), show(True), show(["K7M4PQ", "M2XWQ7"]), show({"X": "ana", "O": None})
    ('-', 'yes', 'K7M4PQ M2XWQ7', 'X ana, O -')
    """
    match value:
        case None | [] | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case list():
            return " ".join(map(show, value))
        case dict():
            return ", ".join(f"{key} {show(item)}" for key, item in value.items())
        case _:
            return clean_text(str(value))


def show_time(ms: int | None) -> str:
    """Return a moment (ms since 1970), a dash for none.

    >>> show_time(1_770_000_000_000)
    '2026-02-02 02:40 UTC'
    """
    return "-" if ms is None else f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def show_duration(seconds: float | None) -> str:
    """Return a length of time, a dash for none.

    >>> show_duration(59), show_duration(3_600), show_duration(90_061)
    ('59 s', '1 h 0 min', '1 d 1 h')
    """
    if seconds is None:
        return "-"
    minutes, hours, days = int(seconds // 60), int(seconds // 3_600), int(seconds // 86_400)
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {int(seconds % 60)} s" if minutes else f"{int(seconds)} s"


def list_status(status: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what there is to say about a server, each with its name."""
    drain = status["drain"]
    rows = [
        ("server", f"tictactoe-server {status['version']}, process {status['pid']}, up {_up(status)}"),
        ("address", f"{status['address']}, keeps {status['data']}"),
        ("ready", "yes" if status["unready"] is None else f"no: {status['unready']}"),
        ("people", f"{status['players']} players, {status['connections']} connections, {status['bans']} bans"),
        ("rooms", show(status["rooms"])),
        ("moves", f"{status['moves']}; {status['refusals']} requests refused, {status['limited']} by a limit"),
        (
            "load",
            f"event loop {status['loop_lag_ms']} ms late, store owes {status['store_owes_ms']} ms, "
            f"{status['bots_waiting']} thoughts of bots wait",
        ),
    ]
    if drain is not None:
        rows.append(("drain", describe_drain(drain)))
    return [(name, clean_text(text)) for name, text in rows]


def draw_servers(status: dict[str, Any]) -> str:
    """Return the servers of the cluster of which one has told its status as a table, or "" for one on its own.

    >>> one = {"server": "a:8765", "unready": None, "players": 3, "connections": 4, "served": 2, "moves": 9}
    >>> one |= {"elsewhere": 0, "loop_lag_ms": 0.1, "store_owes_ms": 0}
    >>> print(draw_servers({"house": [one]}))
    SERVER  READY  PLAYERS  CONNECTIONS  ROOMS SERVED  MOVES  ELSEWHERE  LOOP LATE  STORE OWES
    a:8765  yes    3        4            2             9      0          0.1 ms     0 ms
    """
    rows = [
        (
            one["server"],
            "yes" if one["unready"] is None else f"no: {one['unready']}",
            *(one[name] for name in ("players", "connections", "served", "moves", "elsewhere")),
            *(None if one[name] is None else f"{one[name]} ms" for name in ("loop_lag_ms", "store_owes_ms")),
        )
        for one in status.get("house", ())
    ]
    return draw_table(_SERVERS, rows) if rows else ""


def describe_drain(drain: dict[str, Any]) -> str:
    """Return what a server waits for before it goes."""
    count, left = drain["games"], drain["seconds_left"]
    latest = "however long they take" if left is None else f"at most {show_duration(left)}"
    if not count:
        return f"No new games; none is on, and the server {'stops' if drain['for_good'] else 'restarts'} now."
    what = "1 game goes on" if count == 1 else f"{count} games go on"
    return f"No new games; {what}, {latest}; then the server {'stops' if drain['for_good'] else 'restarts'}."


def _up(status: dict[str, Any]) -> str:
    return show_duration(status["up_seconds"])
