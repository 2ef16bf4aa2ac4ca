"""The client: requests as methods, which return rooms and tournaments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET, UnsetType, structs

from tictactoe_client.online.address import (
    DEFAULT_SERVER,
    Address,
    Cluster,
    parse_cluster,
    parse_code,
)
from tictactoe_client.online.backoff import Backoff
from tictactoe_client.online.connection import Connection, arrive, greet
from tictactoe_client.online.conversation import Conversation
from tictactoe_client.online.errors import ClientError, ConnectionLost, ProtocolBroken, Refused, Unreachable
from tictactoe_client.online.events import ChallengeEnded
from tictactoe_client.online.games import Games
from tictactoe_client.online.ladders import NO_LADDERS, Ladders
from tictactoe_client.online.names import Names
from tictactoe_client.online.part import Awaited, require, require_field
from tictactoe_client.online.room import GOODBYE_SECONDS, Room
from tictactoe_client.online.tournament import Tournament
from tictactoe_engine import PRESETS, Rules
from tictactoe_protocol import ErrorCode, requests, terms
from tictactoe_protocol.challenges import Answer, Block, Challenge, OpenChallenge
from tictactoe_protocol.events import EventJoin, EventOpen, Events, EventSummary, EventWatch
from tictactoe_protocol.pushes import Ok, RoomSummary
from tictactoe_protocol.terms import choice_of
from tictactoe_words.catalogue import say
from tictactoe_words.ladders import describe_challenge_end

Chosen = Rules | str | None
Clock = terms.ClockFields | None
"""Rules by name or value, by default classic; and a clock, or none."""


class Client(Conversation):
    """A connection to a server, after hello; made by `connect`.

    Attributes:
        games: Our finished games.
        ladders: The ladders of rated games.
        names: Our name, our devices and our stored data.
    """

    def __init__(
        self,
        cluster: Cluster,
        connection: Connection,
        backoff: Backoff | None,
        timeout_seconds: float,
        ca: str | Path | None = None,
    ) -> None:
        super().__init__(cluster, connection, backoff, timeout_seconds, ca)
        self.games, self.ladders, self.names = Games(self), Ladders(self), Names(self)

    def held_ms(self, room: str) -> int | None:
        """Return how long our seat in a room is still held, in ms; None if we were not away from it."""
        stated = (self.welcome.held_ms or {}).get(room)
        passed = asyncio.get_running_loop().time() - self._welcomed_at
        return None if stated is None else max(0, stated - round(passed * 1000))

    async def create(
        self,
        rules: Chosen = None,
        *,
        clock: Clock = None,
        private: bool = False,
        seat: str | None = None,
        bots: Sequence[str] = (),
        analysis: Literal["closed", "open"] = "closed",
        chat: Literal["all", "players"] = "all",
        rated: bool = False,
        guests: Sequence[str] = (),
    ) -> Room:
        """Open a room and take a seat in it, the first if `seat` is None; `rules` may be a preset's name.

        `guests` are the names of others who play by this connection, each in a seat of their own.
        """
        if rated:
            require(self.ladders.names, NO_LADDERS)
        request = requests.Create(
            rules=_choose_rules(rules),
            clock=clock,
            visibility="private" if private else "public",
            seat=UNSET if seat is None else seat,
            bots=tuple(bots),
            analysis=analysis,
            chat=chat,
            rated=rated,
            guests=tuple(guests),
        )
        return await self._enter(request)

    async def match(self, rules: Chosen = None, *, clock: Clock = None, rated: bool = False) -> Room:
        """Join an open public room with these rules and this clock, `rated` or not, or open one.

        It is the oldest such room; of rated rooms it is the one with the nearest rating.
        """
        if rated:
            require(self.ladders.names, NO_LADDERS)
        return await self._enter(requests.Match(rules=_choose_rules(rules), clock=clock, rated=rated))

    async def join(self, room: str, *, guests: Sequence[str] = ()) -> Room:
        """Take a free seat and one for each of the `guests`, or return to the seats that we hold.

        Raises `BadRoomCode` for a malformed code.
        """
        request = self._way_into(parse_code(room), watching=False)
        return await self._enter(structs.replace(request, guests=tuple(guests)))

    async def watch(self, room: str) -> Room:
        """Watch a room; its `seat` is None. Raises `BadRoomCode` for a malformed code."""
        return await self._enter(self._way_into(parse_code(room), watching=True))

    async def rooms(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return (await self._ask(requests.Rooms())).rooms or ()

    async def lobby(self, *, on: bool, boards: int = 0, demo: bool = False) -> int:
        """Subscribe to changes of the list of rooms, which come in `messages`, or unsubscribe.

        Returns the number of people online, the player included.

        Args:
            boards: The number of boards of running games to subscribe to.
            demo: Ask for a game between bots if there is no other board.
        """
        return (await self._ask(requests.Lobby(on=on, boards=boards, demo=demo))).online or 0

    @property
    def has_challenges(self) -> bool:
        """Whether players may challenge each other here."""
        return self.welcome.challenges is not UNSET

    async def challenge(
        self,
        player: str,
        rules: Chosen = None,
        *,
        clock: Clock = None,
        rated: bool = False,
        side: str = "",
        name: str = "",
    ) -> str:
        """Challenge a player, by id or claimed name; return the id of the challenge.

        A `ChallengeEnded` reports its end; see `meet`.

        Args:
            side: The mark that we play, by default drawn.
            name: The player's name, for messages.
        """
        require(self.has_challenges, "why no challenges")
        chosen, mark = _choose_rules(rules) or "classic", side or UNSET
        request = Challenge(player=player, rules=chosen, clock=clock, rated=rated, side=mark)
        known = terms.RulesState.of(PRESETS[chosen] if isinstance(chosen, str) else chosen.to_rules())
        about: dict[str, Any] = {"clock": clock, "rated": rated, "side": mark, "rules": known, "expires_ms": 0}
        own = OpenChallenge(challenge="", player=self.player, name=self.name, to=player, **about)
        self._proposed = own, name or player
        return require_field((await self._ask(request)).challenge)

    async def answer(self, challenge: str, *, accept: bool) -> str | None:
        """Accept or decline a challenge, or withdraw our own; return the code of the room."""
        require(self.has_challenges, "why no challenges")
        if accept:
            self.asked.setdefault(challenge, "")
        return (await self._ask(Answer(challenge=challenge, accept=accept))).room or None

    async def meet(self, asked: Awaitable[str]) -> Room:
        """Send a challenge, wait for the answer, and enter the room, or that of another challenge accepted meanwhile.

        Raises `Refused` with the end of our challenge. If this is cancelled, the challenge is withdrawn.
        """
        async with self.messages() as messages:
            asking = asyncio.ensure_future(asked)
            try:
                own = await asyncio.shield(asking)
                async for message in messages:
                    end = message.event
                    if isinstance(end, ChallengeEnded) and (end.leads or end.over.challenge == own):
                        break
                else:
                    raise ConnectionLost(say("lost closed by us"))
            finally:
                with suppress(ClientError, TimeoutError):
                    async with asyncio.timeout(GOODBYE_SECONDS):
                        if (own := await asking) in self.challenges:
                            await self.answer(own, accept=False)
        if not end.leads:
            raise Refused(end.over.how, describe_challenge_end(end.over, end.challenge, self.player, end.name))
        return await self.join(end.over.room or "")

    async def block(
        self, player: str | None = None, *, on: bool = True, strangers: bool | None = None
    ) -> tuple[str, ...]:
        """Block a player, by id or claimed name, or unblock; return the ids of all blocked players.

        Args:
            strangers: Whether challenges by people we have not played are blocked; None changes nothing.
        """
        require(self.has_challenges, "why no challenges")
        request = Block(player=player or UNSET, on=on, strangers=UNSET if strangers is None else strangers)
        blocks = (await self._ask(request)).blocks or ()
        for one in [one for one in self.challenges.values() if one.player in blocks]:
            del self.challenges[one.challenge]  # its end is not told
        return blocks

    async def ping(self) -> int:
        """Return the server's time in milliseconds since the epoch."""
        return (await self._ask(requests.Ping())).time or 0

    async def events(self) -> tuple[EventSummary, ...]:
        """Return the open and running events."""
        return (await self._ask(Events())).events or ()

    async def open_event(self, terms: EventOpen) -> Tournament:
        """Open an event as its organiser, and watch it."""
        reply = await self._ask(terms)
        tournament = await self.watch_event(reply.event or "")
        tournament.ticket, tournament.cards = reply.ticket or "", reply.cards or ()
        return tournament

    async def join_event(
        self, event: str, *, ticket: str | None = None, name: str | None = None, here: bool = False
    ) -> Tournament:
        """Enter and watch an event.

        Args:
            ticket: The code of the event or of a card, if it needs one.
            name: Our name in this event.
            here: Take over a card that is in use on another device; see `EventWay.instead`.
        """
        request = EventJoin(event=parse_code(event), ticket=ticket or UNSET, name=name or UNSET, here=here)
        await self._ask(request)
        return await self.watch_event(event)

    async def watch_event(self, event: str) -> Tournament:
        """Watch an event; raises `BadRoomCode` for a malformed code."""
        tournament = self.tournament(parse_code(event))
        await self._ask(EventWatch(event=tournament.code, on=True))
        await self._wait_for(tournament._wait_for_state(), "event", event=tournament.code)
        if not tournament.has_state:
            raise self._ended or Refused(ErrorCode.NO_SUCH_EVENT, say("refused no_such_event", event=tournament.code))
        return tournament

    async def _ask(self, request: requests.Request) -> Ok:
        return await self._wait_for(self.request(request), "answer", request=request.__struct_config__.tag)

    async def _enter(self, request: requests.Create | requests.Match | requests.Join | requests.Watch) -> Room:
        """Send a request that enters a room; return the room with its first state."""
        reply = await self._ask(request)
        if not reply.room:
            raise ProtocolBroken(say("broken no room"))
        room = self.room(reply.room)
        await self._wait_for(room._wait_for_state(), "state", room=room.code)
        if not room.has_state:
            why = room.closed_reason or say("room was closed")
            raise self._ended or Refused(ErrorCode.NO_SUCH_ROOM, why, room=room.code)
        return room

    async def _wait_for(self, coming: Awaitable[Awaited], what: str, **places: object) -> Awaited:
        """Return the result; raises `Unreachable` if the server does not answer although we are connected."""
        waiting = asyncio.ensure_future(coming)
        try:
            while not waiting.done():
                before = self._connection
                await asyncio.wait({waiting}, timeout=self._timeout_seconds)
                if not waiting.done() and self.is_here and self._connection is before and not self._looking:
                    why = say(f"failure no {what} within", seconds=f"{self._timeout_seconds:g}", **places)
                    raise Unreachable(self.address.url, why)
            return waiting.result()
        finally:
            waiting.cancel()


def _choose_rules(rules: Chosen) -> terms.RulesChoice | UnsetType:
    return UNSET if rules is None else rules if isinstance(rules, str) else choice_of(rules)


@asynccontextmanager
async def connect(
    url: str | Address | Cluster | Sequence[str | Address] = DEFAULT_SERVER,
    *,
    name: str | None = None,
    token: str | None = None,
    link: str | None = None,
    rescue: str | None = None,
    timeout_seconds: float = 5.0,
    reconnect: bool | Backoff = False,
    ca: str | Path | None = None,
    keep_seats: bool = False,
    bot: bool = False,
) -> AsyncIterator[Client]:
    """Connect to a server and say hello; the end of the ``async with`` gives our seats up and closes.

    Args:
        url: A server (``ws://host:port``, ``wss://host``, ``host``, or a link to one of its rooms), or the
            servers of a cluster, tried in this order.
        name: The player's name; without one the server chooses it.
        token: The secret of an earlier connection: we are the same player again.
        link: A code from another device of ours.
        rescue: A code that brings back the `name` that was claimed with it.
        reconnect: Reconnect a lost connection for as long as the server holds our seats.
        ca: A PEM file with further certificates to trust.
        keep_seats: Keep our seats at the end.
        bot: Be shown as a program, for bots.

    Raises `BadAddress`, `Unreachable`, `VersionRefused` or `Refused`.
    """
    cluster = parse_cluster([url] if isinstance(url, str) else url)
    backoff = Backoff() if reconnect is True else reconnect or None
    codes = {key: code for key, code in (("link", link), ("rescue", rescue)) if code}
    who: dict[str, Any] = {"name": name, "token": token, "bot": bot, **codes}
    connection = await arrive(cluster, partial(greet, timeout_seconds=timeout_seconds, ca=ca, **who))
    client = Client(cluster, connection, backoff, timeout_seconds, ca)
    try:
        yield client
    finally:
        try:
            if not keep_seats:
                await client.leave_rooms()
        finally:
            await client.close()
