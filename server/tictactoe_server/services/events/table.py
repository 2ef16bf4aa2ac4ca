"""The table of an event as the wire says it, a fold over its pairings; and the whole of an event with it."""

from __future__ import annotations

from msgspec import Struct

from tictactoe_protocol.events import EventKind, EventRow, EventStatus, PairingResult, PairingState
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


class WholePairing(Struct, frozen=True):
    """Who played whom, by mark; `result` is the winner's mark, ``draw``, ``none`` for 0-0, None while it is open."""

    id: str
    round: int
    players: dict[str, str]
    state: PairingState
    result: PairingResult | None
    reason: str | None
    by: str | None
    game: str | None


class WholeEvent(Struct, frozen=True):
    """An event with its whole table and all pairings of all rounds."""

    event: str
    title: str
    kind: EventKind
    status: EventStatus
    round: int
    seq: int
    table: tuple[EventRow, ...]
    pairings: tuple[WholePairing, ...]


def whole_of(event: Event) -> WholeEvent:
    """Return all of an event that everybody may know."""
    head = event.code, event.title, event.kind, event.status, event.round, event.seq
    return WholeEvent(*head, rows(event), tuple(WholePairing(**one.told) for one in event.pairings))
