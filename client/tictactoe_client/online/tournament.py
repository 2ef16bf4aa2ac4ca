"""`Client.tournaments`, and a single `Tournament`; the protocol calls tournaments events.

The server sends the whole state once and then changes, which are merged into the newest state here.
"""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.address import parse_code
from tictactoe_client.online.errors import ConnectionLost, Refused
from tictactoe_client.online.part import PartOwner
from tictactoe_client.online.room import Followed, RoomRequests
from tictactoe_client.online.rooms import Rooms
from tictactoe_protocol import ErrorCode, events
from tictactoe_protocol.events import Call, Card, EventRow, EventRows, EventState, RunAction
from tictactoe_words.catalogue import say
from tictactoe_words.tournaments import is_over, row_of

_MOST_ROWS: Final = 20


class Tournament(Followed[EventState]):
    """A tournament, returned by `open`, `join` and `watch` of `Client.tournaments`.

    Iteration yields its states, the current one first; a slow reader gets only the newest. It stops after the last
    state or `unwatch`, and raises `ConnectionLost` when the connection is lost for good.

    Attributes:
        viewer: Our public id.
        ticket: The ticket that lets players enter, if we opened the tournament with one; else "".
        cards: The cards of the players, if we opened the tournament with a roster.
    """

    def __init__(self, client: RoomRequests, code: str) -> None:
        super().__init__(client, code)
        self.ticket = ""
        self.cards: tuple[Card, ...] = ()
        self._received_at = 0.0
        self._has_ended = False

    @property
    def is_over(self) -> bool:
        """Whether the tournament was finished or closed."""
        return self.has_state and is_over(self.state)

    @property
    def _is_at_end(self) -> bool:
        return self._has_ended or self.is_over

    @property
    def due_ms(self) -> int | None:
        """The time until the next round or deadline in ms, or None if there is none."""
        return None if self.state.due_ms is None else max(0, self.state.due_ms - self.age_ms)

    @property
    def age_ms(self) -> int:
        """The age of the newest state in ms; the state's times count from its arrival."""
        return round((asyncio.get_running_loop().time() - self._received_at) * 1000)

    @property
    def is_organiser(self) -> bool:
        """Whether we may `run` the tournament."""
        return self.viewer in self.state.head.organisers

    @property
    def row(self) -> EventRow | None:
        """Our row of the table, or None if we are not in it."""
        return row_of(self.state, self.viewer)

    async def ready(self, *, on: bool = True) -> None:
        """Take part from the next round on, or pause if `on` is False."""
        await self._client.request(events.EventReady(event=self.code, on=on))

    async def leave(self) -> None:
        """Leave the tournament for good, forfeiting our open games; we keep watching."""
        await self._client.request(events.EventLeave(event=self.code))

    async def run(self, action: RunAction, *, player: str = "", pairing: str = "", name: str = "") -> tuple[Card, ...]:
        """Carry out an organiser's action; return the new cards of ``add`` and ``cards``, else ().

        Args:
            player: The id of a player in the table.

        Raises `Refused` with ``stale`` if our state was not the newest.
        """
        more = {"player": player or UNSET, "pairing": pairing or UNSET, "name": name or UNSET}
        reply = await self._client.request(events.EventRun(event=self.code, seq=self.state.seq, action=action, **more))
        return reply.cards or ()

    async def unwatch(self) -> None:
        """Stop watching and end iteration; calls to our games still arrive."""
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
        self._received_at = asyncio.get_running_loop().time()
        self._changed.note()

    def _end(self, lost: ConnectionLost | None) -> None:
        self._has_ended, self._lost = True, lost
        self._changed.note()


def take_in(state: EventState, news: EventRows, viewer: str) -> EventState:
    """Merge changes into a state; the table is sorted and cut to its first rows and the viewer's."""
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
        may=state.may if news.may is UNSET else news.may,
    )


class Tournaments:
    """Opens, enters and lists tournaments, and keeps those that we follow and their calls to games."""

    def __init__(self, client: PartOwner, rooms: Rooms) -> None:
        self._client = client
        self._rooms = rooms
        self._followed: dict[str, Tournament] = {}
        self._calls: dict[str, tuple[Call, float]] = {}  # by tournament, with the time when the first move is due
        self._take_calls(*(client.welcome.calls or ()))

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls to games that we can still join; their `due_ms` counts from now."""
        now, rooms = asyncio.get_running_loop().time(), self._rooms._own_codes
        return tuple(
            replace(call, due_ms=round((due_at - now) * 1000))
            for call, due_at in self._calls.values()
            if due_at > now and call.room not in rooms
        )

    async def list(self) -> tuple[events.EventSummary, ...]:
        """Return the open and running tournaments."""
        return (await self._client.ask(events.Events())).events or ()

    def get(self, code: str) -> Tournament:
        """Return the tournament with this code, which is created if we do not follow it yet."""
        known = self._followed.get(code)
        if known is None or known._has_ended:
            known = self._followed[code] = Tournament(self._client, code)
        return known

    async def open(self, terms: events.EventOpen) -> Tournament:
        """Open a tournament as its organiser, and watch it."""
        reply = await self._client.ask(terms)
        tournament = await self.watch(reply.event or "")
        tournament.ticket, tournament.cards = reply.ticket or "", reply.cards or ()
        return tournament

    async def join(
        self, code: str, *, ticket: str | None = None, name: str | None = None, here: bool = False
    ) -> Tournament:
        """Enter and watch a tournament; raises `BadRoomCode` for a malformed code.

        Args:
            ticket: The ticket of the tournament or of a card, if the tournament requires one.
            name: Our name in this tournament.
            here: Whether to take over a card that is in use on another device; see `EventWay.instead`.
        """
        code = parse_code(code)
        await self._client.ask(events.EventJoin(event=code, ticket=ticket or UNSET, name=name or UNSET, here=here))
        return await self.watch(code)

    async def watch(self, code: str) -> Tournament:
        """Watch a tournament; raises `BadRoomCode` for a malformed code."""
        tournament = self.get(parse_code(code))
        request = events.EventWatch(event=tournament.code, on=True)
        await self._client.ask(request)
        await self._client._wait_for(tournament._wait_for_state(), request)
        if not tournament.has_state:
            missing = Refused(ErrorCode.NO_SUCH_EVENT, say("refused no_such_event", event=tournament.code))
            raise self._client._ended or missing
        return tournament

    def _take(self, push: events.EventState | events.EventRows) -> None:
        if push.event in self._followed:
            self._followed[push.event]._receive(push)

    def _take_calls(self, *calls: Call) -> None:
        now = asyncio.get_running_loop().time()
        self._calls |= {call.event: (call, now + call.due_ms / 1000) for call in calls}

    def _drop_calls(self, room: str) -> None:
        self._calls = {event: each for event, each in self._calls.items() if each[0].room != room}

    def _end(self, lost: ConnectionLost | None) -> None:
        for tournament in self._followed.values():
            tournament._end(lost)
