"""What a season comes to, between which days it lies, and how it is shown: as text and as CSV. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import astuple

from tictactoe_protocol import ErrorCode
from tictactoe_server.http.sheets import format_csv
from tictactoe_server.rooms import Refused

ALWAYS: Final = (0, 2**53)
_DAY_MS: Final = 86_400_000
_NAME_WIDTH: Final = 25

Span = tuple[int, int]
"""From when on, and until when (ms since 1970)."""


class SeasonRow(Struct, frozen=True):
    """One player: `error` is by how much the rating may be off to either side, in 19 of 20 cases."""

    place: int
    player: str
    name: str
    rating: float
    error: float
    games: int


class Season(Struct, frozen=True):
    """What so many games by some rules come to, between two moments (ms since 1970): the best first."""

    rules: str
    since: int
    until: int
    games: int
    rows: tuple[SeasonRow, ...]


def parse_span(since: str | None, until: str | None) -> Span:
    """Return the time from the first of two days to the end of the other, in UTC; all before or after one that is None.

    Raises `Refused` for what is no date as in 2026-01-31, and where the second comes first.
    """
    try:
        start = ALWAYS[0] if since is None else _ms_of(since)
        end = ALWAYS[1] if until is None else _ms_of(until) + _DAY_MS
    except ValueError:
        start, end = 1, 0
    if start >= end:
        raise Refused(ErrorCode.NOT_ALLOWED, "season dates")
    return start, end


def _ms_of(text: str) -> int:
    """Return when a day begins; raises ValueError."""
    return round(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) * 1000


def describe_season(season: Season) -> list[str]:
    """Return the lines of a season, of at most 80 columns."""
    rows = [
        f"{row.place:>4}  {row.name:{_NAME_WIDTH}} {row.rating:>5.0f}  ±{row.error:<4.0f} {row.games} games"
        for row in season.rows
    ]
    return [f"{season.rules}: {season.games} games", "", *(rows or ["Nobody has played."])]


def format_rows(rows: Sequence[Struct], kind: type[Struct]) -> bytes:
    """Return rows of a kind as CSV, under the names of their fields."""
    return format_csv((kind.__struct_fields__, *map(astuple, rows)))
