"""Options that several orders share, and the formatting of values and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import click
from msgspec import Meta

from tictactoe_protocol import clean_text
from tictactoe_server.settings import parse_duration

Reason = Annotated[str, Meta(max_length=120)]
Seconds = Annotated[float, Meta(ge=0, le=10 * 365 * 86_400)]


def without_stop(reason: str) -> str:
    """Return a reason without unprintable characters and without a final full stop."""
    return clean_text(reason).strip().rstrip(".")


def reason_option(help: str) -> click.Option:
    return click.Option(["--reason"], default="", metavar="TEXT", help=help)


def time_option(name: str, help: str) -> click.Option:
    return click.Option([f"--{name}", "seconds"], type=parse_duration, metavar="TIME", help=help)


def show(value: object) -> str:
    """Return a value as printable text; None and empty values become a dash.

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
    """Return a time (ms since 1970) as text, or a dash for None.

    >>> show_time(1_770_000_000_000)
    '2026-02-02 02:40 UTC'
    """
    return "-" if ms is None else f"{datetime.fromtimestamp(ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"


def show_duration(seconds: float) -> str:
    """Return a duration in its two largest units.

    >>> show_duration(59), show_duration(3_600), show_duration(90_061)
    ('59 s', '1 h 0 min', '1 d 1 h')
    """
    for size, unit, part, small in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} {int(seconds % size // part)} {small}"
    return f"{int(seconds)} s"


def show_count(number: int, noun: str) -> str:
    """Return a number and its noun, such as ``1 room`` or ``0 finished games``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_ready(unready: str | None) -> str:
    """Return a text that says whether a server is ready, given the reason why it is not, or None."""
    return "yes" if unready is None else f"no: {unready}"


def _show_ms(ms: float | None) -> str | None:
    return None if ms is None else f"{ms} ms"


_COLUMNS: Final[Mapping[str, tuple[str, Callable[[Any], object]]]] = {
    "since": ("since", show_time),
    "until": ("until", show_time),
    "seconds": ("for", show_duration),
    "unready": ("ready", show_ready),
    "served": ("rooms served", show),
    "loop_lag_ms": ("loop lag", _show_ms),
    "store_owes_ms": ("store lag", _show_ms),
}
"""The heading and the formatting function of the columns that do not use their names and `show`."""


def draw_table(names: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a table with headings; `names` are the keys of the columns in the rows.

    >>> names = ["server", "unready", "seconds", "served", "loop_lag_ms", "store_owes_ms"]
    >>> print(draw_table(names, [{"server": "a:8765", "seconds": 59, "served": 2, "loop_lag_ms": 0.1}]))
    SERVER  READY  FOR   ROOMS SERVED  LOOP LAG  STORE LAG
    a:8765  yes    59 s  2             0.1 ms    -
    """
    columns = [(name, *_COLUMNS.get(name, (name, show))) for name in names]
    cells = [[head.upper() for _, head, _ in columns]]
    cells += [[show(shown(row.get(name))) for name, _, shown in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)
