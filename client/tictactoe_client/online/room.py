"""A room as one of its players or watchers holds it: the newest state and the moves, what happens, and the requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.errors import BadCell, ClientError, MovesUnknown, ProtocolBroken, Refused
from tictactoe_client.online.events import Cut, RoomEvent, Updated
from tictactoe_client.online.feed import RoomFeed, RoomRequests, position_after
from tictactoe_client.online.messages import Stream, call
from tictactoe_engine import IllegalMove, Position, UnknownNotation, parse_cell
from tictactoe_protocol import MAX_LISTED_GAMES, requests, terms
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Choices, choices
from tictactoe_protocol.pushes import AnalysisState, RoomState
from tictactoe_protocol.refusals import describe_fault
from tictactoe_protocol.wording import seat_of

GOODBYE_SECONDS: Final = 1.0
"""How long the end of a program waits for a server that is told that we go."""


class Room(RoomFeed):
    """One room; made by `Client.create`, `match`, `join` and `watch`.

    Iterating yields its states, the current one first; whoever is slow gets the newest and misses those between. It
    stops when the room has `ended` for us and raises `ConnectionLost` when the connection did; not at the end of a
    game, for there may be a rematch.

    `viewer` is our public id, and `state` the newest state, which is there from the start: only a room of `Client.room`
    may not be entered yet, and then `has_state` is false. `moves` are the cells of the game in order, all of them where
    `knows_moves`. `seat` is our mark, which a rematch may change, or None for a watcher; `is_my_turn` tells whether the
    server waits for our move, not for one that it has taken and whose state is still to come; `plays` whether we play a
    game that is on, not one who is out of it, among three or more; `looks_on` whether there is nothing for us to play:
    we watch, or are out of the game, or it is over. Where several play at one keyboard (`Client.bring`) `hands` are all
    their ids and `actor` is the one whose act it is, about whom `seat`, `is_my_turn` and `plays` are then; nobody is
    the `viewer`, to whom words say "you". `closed_reason` is why a room was closed.
    """

    def __init__(self, client: RoomRequests, code: str) -> None:
        super().__init__(client, code)
        self._asked_at: dict[tuple[type, terms.OfferAction], tuple[int, int]] = {}

    @property
    def features(self) -> frozenset[str]:
        """What the server can do beyond the first version of the protocol."""
        return self._client.features

    @property
    def position(self) -> Position:
        """The position of the newest state; raises `MovesUnknown` where its moves are not to be had."""
        if self._position is None:
            self._position = position_after(self.state, self.moves) if self.knows_moves else None
        if self._position is None:
            raise MovesUnknown
        return self._position

    def events(self) -> Stream[RoomEvent]:
        """Return everything that happens here from now on, none left out; first comes `Updated` as things are.

        The first who asks also hears what has happened since we entered, unless that is long ago. It stops and raises
        as iterating over the room does. Close it, or use it in an ``async with``, where it is not read to its end.
        """
        stream: Stream[RoomEvent] = Stream()
        for event in self._until_now():
            stream.put(event)
        self._subscribers.add(stream)
        if self._lost is not None or self.ended is not None:
            stream.put(self._lost)
        return stream

    def subscribe(self, listener: Callable[[RoomEvent], object]) -> Callable[[], None]:
        """Call `listener` with each of `events` as it happens, last `Cut` where the connection is; return its end."""
        for event in (*self._until_now(), *([] if self._lost is None else [Cut(self._lost)])):
            call(listener, event)
        return self._subscribers.subscribe(listener)

    def _until_now(self) -> list[RoomEvent]:
        opening, self._opening = self._opening, None
        if opening or not self.has_state:
            return opening or []
        return [Updated(None, self.state, self.moves if self.knows_moves else None)]

    def choices(self, passed_ms: float, *, is_online: bool = True) -> Choices:
        """Return what may be done here so many ms after the newest state came.

        Of several at one keyboard it is what the one may do who is asked something, beside that the move of who is on
        turn, and taking back by who moved last.
        """

        def find(player: str) -> Choices:
            moves = self.moves if self.knows_moves else None
            return choices(self.state, player, moves, self.features, passed_ms, is_online=is_online)

        asked = self.find_asked(self.state)
        found = find(asked)
        for name, player in (("place", self.actor), ("undo offer", self.find_mover())):
            if player not in (None, asked) and not found.may(name) and (deed := find(str(player)).find(name)):
                reasons = {other: why for other, why in found.reasons.items() if other != name}
                found = Choices((*found.deeds, deed), found.questions, reasons)
        return found

    def find_mover(self) -> str | None:
        """Return who of our hands made the last move, None where nobody did."""
        mark = None if self.state.last is None else self.state.board[self.state.last]
        return next((player for player in self.hands if mark and seat_of(self.state, player) == mark), None)

    async def __aiter__(self) -> AsyncIterator[RoomState]:
        seen = 0
        while True:
            if self._states_seen > seen and not self._awaits_state:
                seen = self._states_seen
                yield self.state
            elif self._lost is not None:
                raise self._lost
            elif self.ended is not None:
                return
            else:
                await self._changed.wait()

    async def _share(self, hands: tuple[str, ...], client: RoomRequests) -> None:
        """Be the room of several at one keyboard, who are all here; what has happened before they came is no news."""
        self.hands, self._client, self.viewer = hands, client, ""
        await self._changed.until(lambda: all(seat_of(self.state, player) for player in hands) or self._is_done)
        self._find_seat()
        self._opening = None

    async def move(self, cell: int | str, *, ply: int | None = None) -> None:
        """Play a cell, given by number (row-major from 0) or by name (``"b2"``).

        `ply` is how many moves the mover sees on the board, by default those of the newest state. The iterators then
        wait for the state that holds the move. Raises `Refused`, and `BadCell` for a name that is no cell.
        """
        if isinstance(cell, str):
            try:
                cell = parse_cell(cell, self.state.rules.to_rules())
            except (IllegalMove, UnknownNotation) as bad:
                raise BadCell(bad.code, describe_fault(bad)) from None
        if ply is None:
            ply = self.state.ply
        await self._client.request(requests.Move(room=self.code, cell=cell, ply=ply))
        if self.state.ply <= ply:
            self._awaits_state, self.is_my_turn = True, False

    async def choose(self, take: str, *, ply: int | None = None) -> None:
        """Take a side in an opening, by its mark, or ``more``: one of the `options` of the state's `opening`.

        `ply` is as for `move`, and so are the iterators. Raises `Refused`.
        """
        if ply is None:
            ply = self.state.ply
        await self._client.request(requests.Choose(room=self.code, take=take, ply=ply))
        due = self.state.opening
        if due and due.options and self.state.ply <= ply:
            self._awaits_state, self.is_my_turn = True, False

    async def resign(self) -> None:
        """Give the game up; we stay in the room."""
        await self._client.request(requests.Resign(room=self.code))

    async def rematch(self) -> None:
        """Ask for another game, or agree to it."""
        game = self.state.game if "repeat" in self._client.features else UNSET
        await self._client.request(requests.Rematch(room=self.code, game=game))

    async def leave(self) -> None:
        """Go: a watcher stops, a waiting player frees the seat, a playing one resigns. Iterating stops."""
        try:
            await self._client.request(requests.Leave(room=self.code))
        except Refused as refused:
            if refused.code not in ("not_in_room", "no_such_room", "moved"):
                raise
        self._end("left")

    async def say_goodbye(self) -> bool:
        """Leave, waiting a second at most for the server's answer; tell whether it knows."""
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self.leave()
        except (TimeoutError, ClientError):
            return False
        return True

    async def record(self, game: int) -> str | None:
        """Return a finished game of this room as text, None where it is none of our last hundred; they count from 1."""
        for past in (await self._client.request(requests.History(limit=MAX_LISTED_GAMES))).games or ():
            if (past.room, past.game) == (self.code, game):
                return (await self._client.request(requests.Record(game=past.id))).record or ""
        return None

    async def draw(self, action: terms.OfferAction = "offer") -> None:
        """Offer a draw, or answer an offer."""
        await self._ask_once(requests.Draw(room=self.code, action=action))

    async def undo(self, action: terms.OfferAction = "offer") -> None:
        """Ask to take back our last move, or answer such a request."""
        await self._ask_once(requests.Undo(room=self.code, action=action))

    async def claim(self, as_: Literal["win", "draw"]) -> None:
        """End a game whose opponent has been gone past the hold."""
        await self._client.request(requests.Claim(room=self.code, as_=as_))

    async def analyse(self, ply: int | None = None) -> AnalysisState:
        """Return what the position after `ply` moves is worth, by default the current one.

        Raises `Refused` while we, or two people or more, play the game, unless the room is open for analysis.
        """
        reply = await self._client.request(requests.Analyse(room=self.code, ply=UNSET if ply is None else ply))
        if reply.analysis is UNSET:
            raise ProtocolBroken(say("broken no analysis"))
        return reply.analysis

    async def chat(self, text: str) -> None:
        """Say something to players and watchers, in at most 200 characters."""
        await self._client.request(requests.Chat(room=self.code, text=text))

    async def _ask_once(self, request: requests.Draw | requests.Undo) -> None:
        """Send what is meant for this position alone; what is asked there a second time is meant as such."""
        if "repeat" not in self._client.features:
            await self._client.request(request)
            return
        what, moment = (type(request), request.action), (self.state.game, self.state.ply)
        if self._asked_at.get(what) != moment:
            request = replace(request, game=moment[0], ply=moment[1])
        await self._client.request(request)
        self._asked_at[what] = moment
