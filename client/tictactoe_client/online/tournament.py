"""An event of the server, which is a tournament, as whoever plays in it, runs or watches it has it.

The server sends the whole state once, then what has changed; here both are one newest state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.errors import ConnectionLost
from tictactoe_client.online.feed import RoomRequests
from tictactoe_client.online.work import Changed
from tictactoe_protocol.events import (
    Card,
    EventLeave,
    EventReady,
    EventRow,
    EventRows,
    EventRun,
    EventState,
    EventWatch,
    RunAction,
)
from tictactoe_protocol.tournaments import is_over, row_of

_MOST_ROWS: Final = 20
"""How many rows of the table are told, beside the own one."""


class Tournament:
    """One event; made by `Client.open_event`, `join_event` and `watch_event`.

    Iterating yields its states, the current one first; whoever is slow gets the newest. It stops after the last one,
    or after `unwatch`, and raises `ConnectionLost` when the connection did. `viewer` is our public id; `ticket` and
    `cards` are what opening it was answered with.
    """

    state: EventState

    def __init__(self, client: RoomRequests, code: str) -> None:
        self.code = code
        self.viewer = client.player
        self.has_state = False
        self.ticket = ""
        self.cards: tuple[Card, ...] = ()
        self._client = client
        self._came_at = 0.0
        self._has_ended = False
        self._lost: ConnectionLost | None = None
        self._changed = Changed()

    @property
    def is_over(self) -> bool:
        """Whether nothing follows: it was played to its end, or has been closed."""
        return self.has_state and is_over(self.state)

    @property
    def due_ms(self) -> int | None:
        """In how many ms the next round begins, or what is waited for is over; None where nothing is due."""
        return None if self.state.due_ms is None else max(0, self.state.due_ms - self.age_ms)

    @property
    def age_ms(self) -> int:
        """How long ago the newest state came, in ms: what it says of times counts from then."""
        return round((asyncio.get_running_loop().time() - self._came_at) * 1000)

    @property
    def is_organiser(self) -> bool:
        """Whether we may `run` it."""
        return self.viewer in self.state.head.organisers

    @property
    def row(self) -> EventRow | None:
        """Our row of the table, None where we are not in it."""
        return row_of(self.state, self.viewer)

    async def __aiter__(self) -> AsyncIterator[EventState]:
        told: EventState | None = None
        while True:
            if self.has_state and self.state is not told:
                told = self.state
                yield told
            elif self._lost is not None:
                raise self._lost
            elif self._has_ended or self.is_over:
                return
            else:
                await self._changed.wait()

    async def ready(self, *, on: bool = True) -> None:
        """Be paired from the next round on, or with `on` false no more until we are ready again."""
        await self._client.request(EventReady(event=self.code, on=on))

    async def leave(self) -> None:
        """Leave it for good, which forfeits what is open; watching it goes on."""
        await self._client.request(EventLeave(event=self.code))

    async def run(self, action: RunAction, *, player: str = "", pairing: str = "", name: str = "") -> tuple[Card, ...]:
        """Do what its organiser may; the answer to ``add`` and ``cards`` are cards. `player` is an id of the table.

        Raises `Refused` with ``stale`` where the newest state was not here yet.
        """
        more = {"player": player or UNSET, "pairing": pairing or UNSET, "name": name or UNSET}
        reply = await self._client.request(EventRun(event=self.code, seq=self.state.seq, action=action, **more))
        return reply.cards or ()

    async def unwatch(self) -> None:
        """Hear no more of it; calls come all the same. Iterating stops."""
        await self._client.request(EventWatch(event=self.code, on=False))
        self._end(None)

    async def _wait_for_state(self) -> None:
        await self._changed.until(lambda: self.has_state or self._has_ended)

    def _receive(self, push: EventState | EventRows) -> None:
        """Take the whole state, or what has changed since; what is older than the newest is no news."""
        if self._has_ended or (self.has_state and push.seq < self.state.seq):
            return
        if isinstance(push, EventState):
            self.state, self.has_state = push, True
        elif self.has_state:
            self.state = take_in(self.state, push, self.viewer)
        self._came_at = asyncio.get_running_loop().time()
        self._changed.note()

    def _end(self, lost: ConnectionLost | None) -> None:
        """Let nothing follow, with None as we want nothing more."""
        self._has_ended, self._lost = True, lost
        self._changed.note()


def take_in(state: EventState, news: EventRows, viewer: str) -> EventState:
    """Return a state with what has changed; the table is by place and no longer than it is told."""
    rows = {row.player: row for row in (*state.table, *news.rows)}
    table = sorted(rows.values(), key=lambda row: row.place)
    pairings = {one.id: one for one in (*state.pairings, *news.pairings) if one.round == news.round}
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
        bracket=state.bracket if news.bracket is UNSET else news.bracket,
    )
