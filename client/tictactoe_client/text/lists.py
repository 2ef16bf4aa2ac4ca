"""Lists of rooms and of finished games as lines for people; pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Final

from tictactoe_client.text.wording import (
    count,
    describe_clock,
    describe_manners,
    describe_reason,
    describe_rules,
    format_duration,
    is_draw,
)
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import PastGame, RoomSummary

_PLAYERS: Final = 3
"""Which column of a list of games has the players."""


def list_rooms(rooms: Sequence[RoomSummary], *, numbered: bool = False) -> list[str]:
    """Return one line a room in aligned columns, with a number before each for choosing; empty for no rooms.

    The age of the room stands last.
    """
    table = [
        (
            *((f"{number}.",) if numbered else ()),
            room.room,
            _describe_status(room),
            ", ".join((describe_rules(room.rules), *describe_manners(room))),
            _describe_seats(room),
            describe_clock(room.clock),
            format_duration(room.age_ms),
        )
        for number, room in enumerate(rooms, 1)
    ]
    return _align(table)


def list_games(
    games: Sequence[PastGame],
    viewer: str | Sequence[str],
    zone: tzinfo | None = None,
    *,
    whose: Sequence[str] = (),
    width: int | None = None,
) -> list[str]:
    """Return one line a game in aligned columns: the id for `replay`, date, rules, players, the viewer's result, moves.

    Where not all are of one viewer, there is one for each game, and `whose` it is in words stands last.
    Where that is wider than `width`, the players stand on a line of their own below. Dates are in the zone, by default
    this machine's. Empty for no games.
    """
    viewers = [viewer] * len(games) if isinstance(viewer, str) else viewer
    table = [
        (
            f"id {clean_text(game.id)}",
            format_date(game.at, zone),
            game.rules.preset or describe_rules(game.rules),
            " v ".join(f"{clean_text(player.name)} ({mark})" for mark, player in game.players.items()),
            describe_outcome(game, viewer),
            count(game.moves, "move"),
            *(clean_text(name) for name in whose[number : number + 1]),
        )
        for number, (game, viewer) in enumerate(zip(games, viewers, strict=True))
    ]
    lines = _align(table)
    if width is None or all(len(line) <= width for line in lines):
        return lines
    short = _align([(*row[:_PLAYERS], *row[_PLAYERS + 1 :]) for row in table])
    indent = " " * (max(len(row[0]) for row in table) + 2)
    return [line for head, row in zip(short, table, strict=True) for line in (head, f"{indent}{row[_PLAYERS]}")]


def _align(table: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def _describe_status(room: RoomSummary) -> str:
    if room.status == "playing":
        return count(room.ply, "move")
    return clean_text(room.status)


def _describe_seats(room: RoomSummary) -> str:
    seats = (f"{clean_text(seat.name)} ({mark})" if seat else f"free ({mark})" for mark, seat in room.seats.items())
    return " v ".join(seats)


def describe_outcome(game: PastGame, viewer: str) -> str:
    """Return how a game ended for the viewer: ``won by a line``."""
    winner = game.players.get(game.result.winner or "")
    if game.result.winner is None:
        verdict = "drawn" if is_draw(game.result) else "ended"
    else:
        verdict = "won" if winner and winner.player == viewer else "lost"
    return f"{verdict} {describe_reason(game.result.reason)}"


def format_date(milliseconds: int, zone: tzinfo | None = None) -> str:
    """Return a moment as a day and a time in the zone, by default this machine's, or that it is unknown."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone(zone).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "date unknown"
