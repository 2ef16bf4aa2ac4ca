"""The table of an event as the wire says it, a fold over its pairings; and the whole of an event with it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from tictactoe_protocol.events import EventKind, EventRow, EventStatus, PairingResult, PairingState, round_of
from tictactoe_protocol.standings import ROUND_ROBIN, SWISS, Results, Tie, rank, spell_halves, standings
from tictactoe_server.events.event import Event
from tictactoe_server.events.knock_out import ranking


def rows(event: Event) -> tuple[EventRow, ...]:
    """Return the table, best first; `tie` is there where it was needed."""
    field = {one.player: one for one in event.field}
    if event.kind == "knock_out":
        table = ranking(event)
    else:
        breaks, games = SWISS if event.kind == "swiss" else ROUND_ROBIN, event.counted_games()
        is_first = event.edition == 1
        table = rank(FirstEdition([*field], games), breaks) if is_first else standings([*field], games, breaks)
    named = ((row, field[row.player]) for row in table)
    return tuple(
        EventRow(row.place, row.player, one.name, one.bot, row.points, row.played, row.tie, one.status)
        for row, one in named
    )


class FirstEdition(Results):
    """The results of an event that began before version 1.6, as they were reckoned then."""

    def first_key(self, player: str) -> tuple[int, int]:
        return not self.played[player], -self.halves[player]

    def wins(self, player: str, level: Sequence[str] = ()) -> Tie:
        count = sum(one.halves == 2 and one.opponent is not None for one in self.meetings[player])
        return Tie("wins", count, str(count))

    def buchholz_cut_1(self, player: str, level: Sequence[str] = ()) -> Tie:
        rounds = max(1, *map(len, self.meetings.values()))
        *kept, cut = (self.worths(player, self.meetings[player]) + [0] * rounds)[:rounds]
        return Tie("buchholz_cut_1", sum(kept) / 2, f"{'+'.join(map(spell_halves, kept))} ({spell_halves(cut)})")


class WholePairing(Struct, frozen=True):
    """Who played whom, by mark; `result` is the winner's mark, ``draw``, ``none`` for 0-0, None while it is open.

    `number` is what people and records call it, such as ``1.2``.
    """

    id: str
    number: str
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
    return WholeEvent(
        *head, rows(event), tuple(WholePairing(**one.told, number=round_of(one.id)) for one in event.pairings)
    )
