"""`Client.rooms`: entering and leaving rooms, and the lobby. `Client.games`: our finished games."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from tictactoe_client.online.address import parse_code, reachable_address
from tictactoe_client.online.errors import ProtocolBroken, Refused
from tictactoe_client.online.part import PartOwner
from tictactoe_client.online.room import Room
from tictactoe_engine import Rules
from tictactoe_protocol import MAX_LISTED_GAMES, ErrorCode, requests, terms
from tictactoe_protocol.pushes import PastGame, RoomSummary
from tictactoe_protocol.terms import choice_of
from tictactoe_words.catalogue import say

ChosenRules = Rules | str | None
"""Rules, or the name of a preset; by default classic."""
Clock = terms.ClockFields | None


class Rooms:
    """Enters and lists the server's rooms, and keeps the rooms that we are in."""

    def __init__(self, client: PartOwner) -> None:
        self._client = client
        self._known: dict[str, Room] = {}

    async def create(
        self,
        rules: ChosenRules = None,
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
        """Open a room and take a seat in it.

        Args:
            seat: The mark of our seat, by default the first.
            bots: The level of each bot that takes a seat.
            guests: The names of people who share this connection, each with their own seat.
        """
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

    async def match(self, rules: ChosenRules = None, *, clock: Clock = None, rated: bool = False) -> Room:
        """Join an open public room with these rules and this clock, or open a new room.

        We join the oldest such room, or for a rated game the one with the nearest rating.
        """
        return await self._enter(requests.Match(rules=_choose_rules(rules), clock=clock, rated=rated))

    async def join(self, code: str, *, guests: Sequence[str] = ()) -> Room:
        """Take a free seat, and one for each of the `guests`, or return to seats that we hold.

        Raises `BadRoomCode` for a malformed code.
        """
        return await self._enter(requests.Join(parse_code(code), seq=self._newest_seq(code), guests=tuple(guests)))

    async def watch(self, code: str) -> Room:
        """Watch a room; its `seat` is None. Raises `BadRoomCode` for a malformed code."""
        return await self._enter(requests.Watch(parse_code(code), seq=self._newest_seq(code)))

    def get(self, code: str) -> Room:
        """Return the room with this code, which is created if we are not in it yet."""
        room = self._find(code)
        if room is None:
            self._known = {room.code: room for room in self._own}
            room = self._known[code] = Room(self._client, code)
        return room

    async def list(self) -> tuple[RoomSummary, ...]:
        """Return the public rooms, newest first."""
        return (await self._client.ask(requests.Rooms())).rooms or ()

    async def lobby(self, *, on: bool, boards: int = 0, demo: bool = False) -> int:
        """Subscribe to the lobby or unsubscribe; its changes arrive in `Client.messages`.

        Returns the number of people online, including us.

        Args:
            boards: The number of running games whose boards we want to see.
            demo: Whether to see a game between bots if no other game is running.
        """
        return (await self._client.ask(requests.Lobby(on=on, boards=boards, demo=demo))).online or 0

    def held_ms(self, code: str) -> int | None:
        """Return for how many ms our seat in a room is still held, or None if the welcome named no limit."""
        stated = (self._client.welcome.held_ms or {}).get(code)
        passed = asyncio.get_running_loop().time() - self._client._welcomed_at
        return None if stated is None else max(0, stated - round(passed * 1000))

    @property
    def plays(self) -> bool:
        """Whether we are in a running game, during which no request may move us to another server."""
        return any(room.plays for room in self._own)

    def step_aside(self, *rooms: Room) -> None:
        """Detach from these rooms, by default from all, so that the next request may move us to another server.

        Our seats are then held as after a lost connection, or kept in games over days.
        """
        for room in rooms or self._own:
            self._client._detach(room)

    async def leave(self) -> bool:
        """Give up all our seats, waiting at most a second; return True if the server confirmed it.

        Seats in games over days are kept.
        """
        if not self._client.is_here:
            return False
        given_up = [room for room in self._own if not (room.is_watching or room.keeps_seat)]
        return all(await asyncio.gather(*(room.say_goodbye() for room in given_up)))

    @property
    def _own(self) -> Sequence[Room]:
        """The rooms that have not ended for us, including rooms that are being entered again."""
        return [room for room in self._known.values() if room.ended is None]

    @property
    def _own_codes(self) -> set[str]:
        return {room.code for room in self._own}

    def _find(self, code: str) -> Room | None:
        room = self._known.get(code)
        return None if room is None or room.ended is not None else room

    def _newest_seq(self, code: str) -> int | UnsetType:
        """Return the highest `seq` among the states received from a room, or `UNSET` if there are none."""
        known = self._known.get(code)
        return known._newest_seq if known is not None and known.has_state else UNSET

    async def _enter(self, request: requests.Create | requests.Match | requests.Join | requests.Watch) -> Room:
        """Send a request that enters a room; return the room once its first state has arrived."""
        client = self._client
        reply = await client.ask(request)
        if not reply.room:
            raise ProtocolBroken(say("broken no answer"))
        room = self.get(reply.room)
        await client._wait_for(room._wait_for_state(), request)
        if not room.has_state:
            why = room.closed_reason or say("room was closed")
            raise client._ended or Refused(ErrorCode.NO_SUCH_ROOM, why, room=room.code)
        return room


def _choose_rules(rules: ChosenRules) -> terms.RulesChoice | UnsetType:
    return UNSET if rules is None else rules if isinstance(rules, str) else choice_of(rules)


class Games:
    """Our finished games on this server."""

    def __init__(self, client: PartOwner) -> None:
        self._client = client

    async def list(self, limit: int = 20, *, before: str | None = None) -> tuple[PastGame, ...]:
        """Return our finished games, newest first; with `before`, a `game_id`, only older ones."""
        games: tuple[PastGame, ...] = ()
        while len(games) < limit:
            page_size = min(limit - len(games), MAX_LISTED_GAMES)
            page = (await self._client.ask(requests.History(limit=page_size, before=before or UNSET))).games or ()
            games += page
            if len(page) < page_size:
                break
            before = games[-1].game_id
        return games[:limit]

    async def record(self, game_id: str) -> str:
        """Return a finished game as text for `tictactoe_engine.records.parse_record`."""
        return (await self._client.ask(requests.Record(game_id=game_id))).record or ""

    async def share(self, game_id: str, *, on: bool = True) -> str | None:
        """Share a finished game and return the link; if `on` is False, stop sharing it and return None."""
        replay = (await self._client.ask(requests.Share(game_id=game_id, on=on))).replay
        if replay is UNSET:
            return None
        return reachable_address(self._client.cluster.given.first).link_to(f"replay/{replay}")
