"""Tournaments, which the protocol calls events, as `Client.tournaments`."""

from __future__ import annotations

import asyncio

from msgspec import UNSET, structs

from tictactoe_client.online.address import parse_code
from tictactoe_client.online.errors import ConnectionLost, Refused
from tictactoe_client.online.part import PartOwner
from tictactoe_client.online.rooms import Rooms
from tictactoe_client.online.tournament import Tournament
from tictactoe_protocol import ErrorCode, events
from tictactoe_words.catalogue import say


class Tournaments:
    """The server's tournaments, those that we follow, and their calls to games."""

    def __init__(self, client: PartOwner, rooms: Rooms) -> None:
        self._client = client
        self._rooms = rooms
        self._followed: dict[str, Tournament] = {}
        self._calls: dict[str, tuple[events.Call, float]] = {}  # by tournament, with the time of the first move
        self._take_calls(*(client.welcome.calls or ()))

    @property
    def calls(self) -> tuple[events.Call, ...]:
        """The calls to games that we can still join; `due_ms` counts from now."""
        now, rooms = asyncio.get_running_loop().time(), self._rooms._own_codes
        return tuple(
            structs.replace(call, due_ms=round((due_at - now) * 1000))
            for call, due_at in self._calls.values()
            if due_at > now and call.room not in rooms
        )

    async def list(self) -> tuple[events.EventSummary, ...]:
        """Return the open and running tournaments."""
        return (await self._client.ask(events.Events())).events or ()

    def get(self, code: str) -> Tournament:
        """Return a tournament that we follow."""
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
            ticket: The code of the tournament or of a card, if it needs one.
            name: Our name in this tournament.
            here: Take over a card that is in use on another device; see `EventWay.instead`.
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

    def _take_calls(self, *calls: events.Call) -> None:
        now = asyncio.get_running_loop().time()
        self._calls |= {call.event: (call, now + call.due_ms / 1000) for call in calls}

    def _drop_calls(self, room: str) -> None:
        self._calls = {event: each for event, each in self._calls.items() if each[0].room != room}

    def _end(self, lost: ConnectionLost | None) -> None:
        for tournament in self._followed.values():
            tournament._end(lost)
