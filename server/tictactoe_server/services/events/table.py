"""The table of an event as the wire says it: a fold over its pairings."""

from __future__ import annotations

from tictactoe_protocol.events import EventRow
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, standings
from tictactoe_server.services.events.event import Event, counted_games
from tictactoe_server.services.events.knock_out import ranking


def rows(event: Event) -> tuple[EventRow, ...]:
    """Return the table, best first; `tie` is there where it was needed."""
    field = {one.player: one for one in event.field}
    if event.kind == "knock_out":
        table = ranking(event)
    else:
        table = standings(tuple(field), counted_games(event), SWISS if event.kind == "swiss" else ROUND_ROBIN)
    named = ((row, field[row.player]) for row in table)
    return tuple(
        EventRow(row.place, row.player, one.name, one.bot, row.points, row.played, row.tie, one.status)
        for row, one in named
    )
