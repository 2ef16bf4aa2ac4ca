"""A room as one of its players or watchers holds it: the newest state, and the requests that name a room."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final, Literal

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.errors import ClientError, ProtocolBroken, Refused
from tictactoe_engine import parse_cell
from tictactoe_protocol import MAX_LISTED_GAMES
from tictactoe_protocol.pushes import AnalysisState, Ok, RoomState, RulesState
from tictactoe_protocol.requests import (
    Analyse,
    Chat,
    Claim,
    Draw,
    Join,
    Leave,
    Move,
    OfferAction,
    Rematch,
    Resign,
    Sync,
    Undo,
    Watch,
)

if TYPE_CHECKING:
    from tictactoe_client.online.client import Client
    from tictactoe_client.online.errors import ConnectionLost

GOODBYE_SECONDS: Final = 1.0
"""How long the end of a program waits for a server that is told that we go."""

Ending = Literal["left", "closed", "replaced"]


class Room:
    """One room; made by `Client.create`, `match`, `join` and `watch`.

    Iterating yields its states: the current one first, then each newer one. Whoever is slow gets the newest and
    misses those between, which costs nothing, as each state is whole. Iterating stops when the room has `ended`:
    we left it, it was closed, or our seat was replaced by a newer connection; it raises `ConnectionLost` when the
    connection ended. It goes on past the end of a game, for there may be a rematch.

    `state` is the newest state, None before the first. `moves` are the cells that were played before we came.
    """

    def __init__(self, client: Client, code: str) -> None:
        self.code = code
        self.state: RoomState | None = None
        self.moves: tuple[int, ...] = ()
        self.ended: Ending | None = None
        self.closed_reason: str | None = None
        self._client = client
        self._seat: str | None = None
        self._watching = False
        self._version = 0
        self._fresh_from = 1
        self._asked: dict[tuple[type, OfferAction], tuple[int, int]] = {}
        self._lost: ConnectionLost | None = None
        self._changed = asyncio.Event()

    @property
    def seat(self) -> str | None:
        """Our mark in the current game, or None for a watcher; a rematch may change it."""
        if self._watching or self.state is None:
            return self._seat
        for mark, holder in self.state.seats.items():
            if holder is not None and holder.player == self._client.player:
                return mark
        return None

    async def __aiter__(self) -> AsyncIterator[RoomState]:
        seen = 0
        while True:
            if self._version >= max(seen + 1, self._fresh_from) and self.state is not None:
                seen = self._version
                yield self.state
            elif self._lost is not None:
                raise self._lost
            elif self.ended is not None:
                return
            else:
                await self._changed.wait()

    async def move(self, cell: int | str, *, ply: int | None = None) -> None:
        """Play a cell, given by number (row-major from 0) or by name (``"b2"``).

        `ply` is how many moves lie on the board as the mover sees it; by default as the newest state has it. The
        iterators then wait for the state that holds the move. Raises `Refused`, and for a name that is no cell of this
        board what `tictactoe_engine.parse_cell` raises.
        """
        state = self.state
        if isinstance(cell, str):
            if state is None:
                raise ValueError("A cell has no name before the first state: its number is needed.")
            cell = parse_cell(cell, state.rules.to_rules())
        if ply is None:
            ply = state.ply if state is not None else 0
        await self._client.request(Move(room=self.code, cell=cell, ply=ply))

    async def resign(self) -> None:
        """Give the game up; we stay in the room."""
        await self._client.request(Resign(room=self.code))

    async def rematch(self) -> None:
        """Ask for another game, or agree to it."""
        request = Rematch(room=self.code)
        if self.state is not None and "repeat" in self._client.features:
            request = replace(request, game=self.state.game)
        await self._client.request(request)

    async def leave(self) -> None:
        """Go: a watcher stops, a waiting player frees the seat, a playing one resigns. Iterating stops."""
        try:
            await self._client.request(Leave(room=self.code))
        except Refused as refused:
            if refused.code not in ("not_in_room", "no_such_room"):
                raise
        self._end("left")

    async def say_goodbye(self) -> bool:
        """Leave, so that nobody waits for us in vain; a server that does not answer within a second is not waited for.

        Tells whether the server knows it.
        """
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self.leave()
        except (TimeoutError, ClientError):
            return False
        return True

    async def sync(self) -> tuple[int, ...]:
        """Return the moves of the current game in order; the state comes again as well."""
        moves = (await self._client.request(Sync(room=self.code))).moves or ()
        _check_moves(moves, self.state)
        return moves

    async def record(self, game: int) -> str | None:
        """Return a finished game of this room as text, or None where we did not play it; games count from 1.

        It is looked for among our last hundred games.
        """
        for past in await self._client.history(MAX_LISTED_GAMES):
            if (past.room, past.game) == (self.code, game):
                return await self._client.record(past.id)
        return None

    async def draw(self, action: OfferAction = "offer") -> None:
        """Offer a draw, or answer an offer."""
        await self._ask_once(Draw(room=self.code, action=action))

    async def undo(self, action: OfferAction = "offer") -> None:
        """Ask to take back our last move, or answer such a request."""
        await self._ask_once(Undo(room=self.code, action=action))

    async def claim(self, as_: Literal["win", "draw"]) -> None:
        """End a game whose opponent has been gone past the hold."""
        await self._client.request(Claim(room=self.code, as_=as_))

    async def analyse(self, ply: int | None = None) -> AnalysisState:
        """Return what the position after `ply` moves is worth, the current one where None.

        Raises `Refused` while we, or two people or more, play the game, unless the room is for lessons.
        """
        reply = await self._client.request(Analyse(room=self.code, ply=UNSET if ply is None else ply))
        if reply.analysis is UNSET:
            raise ProtocolBroken("an answer has no analysis")
        return reply.analysis

    async def chat(self, text: str) -> None:
        """Say something to players and watchers, in at most 200 characters."""
        await self._client.request(Chat(room=self.code, text=text))

    async def _ask_once(self, request: Draw | Undo) -> None:
        """Send what is meant for this position, so that it may be sent twice; a second one there is meant as such."""
        state, key = self.state, (type(request), request.action)
        if state is None or "repeat" not in self._client.features or self._asked.get(key) == (state.game, state.ply):
            await self._client.request(request)
            return
        await self._client.request(replace(request, game=state.game, ply=state.ply))
        self._asked[key] = (state.game, state.ply)

    def _way_back(self) -> Join | Watch:
        """Return the request that brings us back into the room on a new connection."""
        return Watch(room=self.code) if self._watching else Join(room=self.code)

    def _enter(self, reply: Ok) -> None:
        _check_moves(reply.moves or (), self.state)
        self._seat = reply.seat or None
        self._watching = self._seat is None
        self.moves = reply.moves or ()

    async def _wait_for_state(self) -> None:
        """Wait for the first state, or for the end of the room."""
        while self.state is None and self.ended is None and self._lost is None:
            await self._changed.wait()

    def _take(self, state: RoomState) -> None:
        """Keep a state unless a newer one is here; one with the same `seq` counts, as watchers come and go in it."""
        if self.state is not None and state.seq < self.state.seq:
            return
        if self.state is not None and not _are_alike(state.rules, self.state.rules):
            raise ProtocolBroken("the rules of a room have changed")
        _check_moves(self.moves, state)
        self.state = state
        self._version += 1
        self._wake()

    def _expect_state(self, ply: int) -> None:
        """Hold back what came before the answer to our move, where it does not have the move number `ply` yet."""
        if self.state is None or self.state.ply <= ply:
            self._fresh_from = self._version + 1

    def _end(self, ending: Ending, reason: str | None = None) -> None:
        if self.ended is None:
            self.ended = ending
            self.closed_reason = reason
        self._client._forget(self)
        self._wake()

    def _lose(self, lost: ConnectionLost) -> None:
        self._lost = lost
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _are_alike(one: RulesState, other: RulesState) -> bool:
    return one == other or one.to_rules() == other.to_rules()


def _check_moves(moves: tuple[int, ...], state: RoomState | None) -> None:
    """Refuse cells that are not on the board of the state."""
    if state is not None and any(cell >= len(state.board) for cell in moves):
        raise ProtocolBroken("a move is off the board")
