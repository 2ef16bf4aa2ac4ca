"""A tournament, called event, for its players, organiser and watchers.

The server sends the whole state once and then changes, which are merged into the newest state here.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.errors import ConnectionLost
from tictactoe_client.online.room import Followed, RoomRequests
from tictactoe_protocol import events
from tictactoe_protocol.events import Card, EventRow, EventRows, EventState, RunAction
from tictactoe_words.tournaments import is_over, row_of

_MOST_ROWS: Final = 20


class Tournament(Followed[EventState]):
    """An event, returned by `open`, `join` and `watch` of `Client.tournaments`.

    Iteration yields its states, the current one first; a slow reader gets only the newest. It stops after the last
    state or `unwatch`, and raises `ConnectionLost` with the connection.

    Attributes:
        viewer: Our public id.
        ticket: The ticket of an event that we opened, or "".
        cards: The cards of an event that we opened with a roster.
    """

    def __init__(self, client: RoomRequests, code: str) -> None:
        super().__init__(client, code)
        self.ticket = ""
        self.cards: tuple[Card, ...] = ()
        self._came_at = 0.0
        self._has_ended = False

    @property
    def is_over(self) -> bool:
        """Whether the event was finished or closed."""
        return self.has_state and is_over(self.state)

    @property
    def _is_at_end(self) -> bool:
        return self._has_ended or self.is_over

    @property
    def due_ms(self) -> int | None:
        """The time to the next round or deadline in ms, or None."""
        return None if self.state.due_ms is None else max(0, self.state.due_ms - self.age_ms)

    @property
    def age_ms(self) -> int:
        """The age of the newest state in ms; its times count from then."""
        return round((asyncio.get_running_loop().time() - self._came_at) * 1000)

    @property
    def is_organiser(self) -> bool:
        """Whether we may `run` it."""
        return self.viewer in self.state.head.organisers

    @property
    def row(self) -> EventRow | None:
        """Our row of the table, or None."""
        return row_of(self.state, self.viewer)

    async def ready(self, *, on: bool = True) -> None:
        """Take part from the next round on, or pause with `on` false."""
        await self._client.request(events.EventReady(event=self.code, on=on))

    async def leave(self) -> None:
        """Leave the event for good and forfeit open games; watching goes on."""
        await self._client.request(events.EventLeave(event=self.code))

    async def run(self, action: RunAction, *, player: str = "", pairing: str = "", name: str = "") -> tuple[Card, ...]:
        """Carry out an organiser's action; ``add`` and ``cards`` return cards.

        Args:
            player: The id of a player in the table.

        Raises `Refused` with ``stale`` if our state was not the newest.
        """
        more = {"player": player or UNSET, "pairing": pairing or UNSET, "name": name or UNSET}
        reply = await self._client.request(events.EventRun(event=self.code, seq=self.state.seq, action=action, **more))
        return reply.cards or ()

    async def unwatch(self) -> None:
        """Stop watching and end iteration; calls still arrive."""
        await self._client.request(events.EventWatch(event=self.code, on=False))
        self._end(None)

    def _receive(self, push: EventState | EventRows) -> None:
        if self._has_ended or (self.has_state and push.seq < self.state.seq):
            return
        if isinstance(push, EventState):
            self.state, self.has_state = push, True
        elif self.has_state:
            self.state = take_in(self.state, push, self.viewer)
        self._states_seen += self.has_state
        self._came_at = asyncio.get_running_loop().time()
        self._changed.note()

    def _end(self, lost: ConnectionLost | None) -> None:
        self._has_ended, self._lost = True, lost
        self._changed.note()


def take_in(state: EventState, news: EventRows, viewer: str) -> EventState:
    """Return a state with changes merged in; the table is sorted and cut to its length."""
    rows = {row.player: row for row in (*state.table, *news.rows)}
    table = sorted(rows.values(), key=lambda row: row.place)
    pairings = {pairing.id: pairing for pairing in (*state.pairings, *news.pairings) if pairing.round == news.round}
    return replace(
        state,
        seq=news.seq,
        status=news.status,
        round=news.round,
        due_ms=news.due_ms,
        head=replace(state.head, present=news.present),
        table=tuple(row for number, row in enumerate(table) if number < _MOST_ROWS or row.player == viewer),
        pairings=tuple(pairings.values()),
        away=news.away,
        games=news.games,
        needed=news.needed,
        bracket=state.bracket if news.bracket is UNSET else news.bracket,
    )
