"""Answers of a server as text for people, and lengths of time as they are typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from tictactoe_protocol import clean_text

_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION: Final = re.compile(r"([0-9]{1,9})([smhdw]?)", re.ASCII)


def parse_duration(text: str) -> float:
    """Return the seconds of a length of time, which may have a unit; raises ValueError.

    >>> parse_duration("90"), parse_duration("30m"), parse_duration("4w")
    (90.0, 1800.0, 2419200.0)
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no length of time: write 90, 30m, 12h, 7d or 4w.")
    return float(int(found[1]) * _UNITS[found[2]])


def draw_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
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


def show_duration(seconds: float) -> str:
    """Return a length of time in its two largest units.

    >>> show_duration(59), show_duration(3_600), show_duration(90_061)
    ('59 s', '1 h 0 min', '1 d 1 h')
    """
    minutes, hours, days = int(seconds // 60), int(seconds // 3_600), int(seconds // 86_400)
    if days:
        return f"{days} d {hours % 24} h"
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {int(seconds % 60)} s" if minutes else f"{int(seconds)} s"


def show_count(count: int, what: str) -> str:
    """Return so many of something, as in 2 connections."""
    return f"{count} {what}{'' if count == 1 else 's'}"
