"""A room as one of its players or watchers holds it: the newest state and the moves, what happens, and the requests.

It follows the moves from state to state and asks for them where states were skipped, so that nobody above need."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final, Literal, Protocol

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tictactoe_client.online.errors import BadCell, ClientError, ConnectionLost, ProtocolBroken, Refused
from tictactoe_client.online.events import Back, Closed, Cut, Replaced, RoomEvent, Updated
from tictactoe_client.online.moves import fits, follow_moves, position_after
from tictactoe_client.online.stream import Audience, Stream, call
from tictactoe_engine import IllegalMove, Position, UnknownNotation, parse_cell
from tictactoe_protocol import MAX_LISTED_GAMES, requests
from tictactoe_protocol.happened import happened
from tictactoe_protocol.pushes import AnalysisState, Ok, RoomState
from tictactoe_protocol.wording import seat_of

GOODBYE_SECONDS: Final = 1.0
"""How long the end of a program waits for a server that is told that we go."""


class _Courier(Protocol):
    """What a room needs of the conversation that it is a part of."""

    @property
    def player(self) -> str: ...
    @property
    def features(self) -> frozenset[str]: ...
    async def request(self, request: requests.Request) -> Ok: ...


class Room:
    """One room; made by `Client.create`, `match`, `join` and `watch`.

    Iterating yields its states, the current one first; whoever is slow gets the newest and misses those between. It
    stops when the room has `ended` for us and raises `ConnectionLost` when the connection did; not at the end of a
    game, for there may be a rematch. `viewer` is our public id. `moves` are the cells of the game in order, all of
    them where `knows_moves`. `closed_reason` is why a room was closed.
    """

    def __init__(self, client: _Courier, code: str) -> None:
        self.code = code
        self.viewer = client.player
        self.state: RoomState | None = None
        self.moves: tuple[int, ...] = ()
        self.knows_moves = False
        self.is_watching = False
        self.ended: Literal["left", "closed", "replaced"] | None = None
        self.closed_reason: str | None = None
        self._client = client
        self._position: Position | None = None
        self._version = 0
        self._awaits_state = True
        self._lost: ConnectionLost | None = None
        self._changed = asyncio.Event()
        self._asked: dict[tuple[type, requests.OfferAction], tuple[int, int]] = {}
        self._audience: Audience[RoomEvent] = Audience()
        self._opening: list[RoomEvent] | None = []
        self._inbox: deque[RoomState | RoomEvent] = deque()
        self._newest_seq = -1
        self._told: tuple[int, ...] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._asked_at_seq = -1
        self._is_after_loss = False

    @property
    def seat(self) -> str | None:
        """Our mark in the current game, or None for a watcher; a rematch may change it."""
        return None if self.is_watching or self.state is None else seat_of(self.state, self.viewer)

    @property
    def is_my_turn(self) -> bool:
        """Whether the server waits for our move; not for one that it has taken, and whose state is still to come."""
        turn = self.state.turn if self.state is not None else None
        return turn is not None and turn == self.seat and not self._awaits_state

    @property
    def plays(self) -> bool:
        """Whether we still play a game that is on; not one who is out of it, among three or more."""
        seat = self.state.seats.get(self.seat or "") if self.state is not None else None
        return seat is not None and not seat.out and self.state is not None and self.state.status == "playing"

    @property
    def looks_on(self) -> bool:
        """Whether there is nothing for us to play: we watch, or are out of the game, or it is over."""
        is_to_begin = self.state is None or (self.state.status == "waiting" and self.seat is not None)
        return not is_to_begin and not self.plays

    @property
    def position(self) -> Position | None:
        """The position of the newest state, or None where its moves are not known."""
        if self._position is None and self.state is not None and self.knows_moves:
            self._position = position_after(self.state, self.moves)
        return self._position

    def events(self) -> Stream[RoomEvent]:
        """Return everything that happens here from now on, none left out; first comes `Updated` as things are.

        The first who asks also hears what has happened since we entered, unless that is long ago. It stops and raises
        as iterating over the room does. Close it, or use it in an ``async with``, where it is not read to its end.
        """
        stream: Stream[RoomEvent] = Stream()
        for event in self._until_now():
            stream.put(event)
        self._audience.seat(stream)
        if self._lost is not None or self.ended is not None:
            stream.put(self._lost)
        return stream

    def subscribe(self, listener: Callable[[RoomEvent], object]) -> Callable[[], None]:
        """Call `listener` with each of `events` as it happens, last `Cut` where the connection is; return its end."""
        for event in (*self._until_now(), *([] if self._lost is None else [Cut(self._lost)])):
            call(listener, event)
        return self._audience.subscribe(listener)

    def _until_now(self) -> list[RoomEvent]:
        opening, self._opening = self._opening, None
        if opening or self.state is None:
            return opening or []
        return [Updated(None, self.state, self.moves if self.knows_moves else None)]

    async def __aiter__(self) -> AsyncIterator[RoomState]:
        seen = 0
        while True:
            if self._version > seen and not self._awaits_state and self.state is not None:
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

        `ply` is how many moves the mover sees on the board, by default those of the newest state. The iterators then
        wait for the state that holds the move. Raises `Refused`, and `BadCell` for a name that is no cell.
        """
        state = self.state
        if isinstance(cell, str):
            if state is None:
                raise BadCell("bad_input", "A cell has no name before the first state: its number is needed.")
            try:
                cell = parse_cell(cell, state.rules.to_rules())
            except (IllegalMove, UnknownNotation) as bad:
                raise BadCell(bad.code, bad.message) from None
        if ply is None:
            ply = 0 if state is None else state.ply
        await self._client.request(requests.Move(room=self.code, cell=cell, ply=ply))
        self._awaits_state |= self.state is None or self.state.ply <= ply

    async def resign(self) -> None:
        """Give the game up; we stay in the room."""
        await self._client.request(requests.Resign(room=self.code))

    async def rematch(self) -> None:
        """Ask for another game, or agree to it."""
        game = self.state.game if self.state is not None and "repeat" in self._client.features else UNSET
        await self._client.request(requests.Rematch(room=self.code, game=game))

    async def leave(self) -> None:
        """Go: a watcher stops, a waiting player frees the seat, a playing one resigns. Iterating stops."""
        try:
            await self._client.request(requests.Leave(room=self.code))
        except Refused as refused:
            if refused.code not in ("not_in_room", "no_such_room"):
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

    async def sync(self) -> tuple[int, ...]:
        """Return the moves of the current game in order; the state comes again as well."""
        return _checked((await self._client.request(requests.Sync(room=self.code))).moves, self.state)

    async def record(self, game: int) -> str | None:
        """Return a finished game of this room as text, None where it is none of our last hundred; they count from 1."""
        for past in (await self._client.request(requests.History(limit=MAX_LISTED_GAMES))).games or ():
            if (past.room, past.game) == (self.code, game):
                return (await self._client.request(requests.Record(game=past.id))).record or ""
        return None

    async def draw(self, action: requests.OfferAction = "offer") -> None:
        """Offer a draw, or answer an offer."""
        await self._ask_once(requests.Draw(room=self.code, action=action))

    async def undo(self, action: requests.OfferAction = "offer") -> None:
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
            raise ProtocolBroken("an answer has no analysis")
        return reply.analysis

    async def chat(self, text: str) -> None:
        """Say something to players and watchers, in at most 200 characters."""
        await self._client.request(requests.Chat(room=self.code, text=text))

    async def _ask_once(self, request: requests.Draw | requests.Undo) -> None:
        """Send what is meant for this position alone; what is asked there a second time is meant as such."""
        if self.state is None or "repeat" not in self._client.features:
            await self._client.request(request)
            return
        what, moment = (type(request), request.action), (self.state.game, self.state.ply)
        if self._asked.get(what) != moment:
            request = replace(request, game=moment[0], ply=moment[1])
        await self._client.request(request)
        self._asked[what] = moment

    # -- what the conversation brings -------------------------------------------------------------------------------

    def _enter(self, reply: Ok) -> None:
        """Take note of the answer that let us in, which has the moves of the game on the table."""
        self._told = _checked(reply.moves, self.state)
        self.is_watching = not reply.seat
        if self.state is None:
            self.moves = self._told
        self._ask_no_more()

    async def _wait_for_state(self) -> None:
        while self.state is None and self.ended is None and self._lost is None:
            await self._changed.wait()

    def _take(self, state: RoomState) -> None:
        """Keep a state unless a newer one is here; one with the same `seq` counts, as watchers come and go in it."""
        if self.ended is not None:
            return
        if state.seq < self._newest_seq:
            # The return is news, also to a server that lost the newest moves.
            if self._is_after_loss and self._asking is None and self.state is not None:
                self._keep(self.state, self._follow(self.state))
            return
        if self.state is not None and state.rules.to_rules() != self.state.rules.to_rules():
            raise ProtocolBroken("the rules of a room have changed")
        _checked(self._told, state)
        self._newest_seq = state.seq
        self._hear(state)

    def _hear(self, what: RoomState | RoomEvent) -> None:
        """Tell a state, or what happened beside states, after all that came before it."""
        self._inbox.append(what)
        if self._asking is None:
            self._tell_inbox()

    def _tell_inbox(self) -> None:
        """Tell what came, up to a state before which moves passed unseen, which are asked for, once."""
        while self._inbox:
            what = self._inbox[0]
            if isinstance(what, RoomState):
                moves = self._follow(what)
                if moves is None and what.seq > self._asked_at_seq:
                    self._asking = asyncio.get_running_loop().create_task(self._ask_for_moves(), name="tictactoe moves")
                    return
                self._keep(what, moves)
                self._told = self._told if len(self._inbox) > 1 else None
            else:
                self._tell(what)
            self._inbox.popleft()

    async def _ask_for_moves(self) -> None:
        with contextlib.suppress(ClientError, TimeoutError):
            async with asyncio.timeout(5):  # for so long news waits, before it is told without them
                self._told = (await self._client.request(requests.Sync(room=self.code))).moves or ()
        self._asking = None
        self._ask_no_more()

    def _ask_no_more(self) -> None:
        """Go on with what waited for moves: they are here, or will not come."""
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.cancel()
        self._asked_at_seq = self._newest_seq
        self._tell_inbox()

    def _follow(self, state: RoomState) -> tuple[int, ...] | None:
        """Return all moves of a state that comes next, or None where some passed unseen that nobody has told."""
        if self._told is not None and fits(self._told[: state.ply], state):
            return self._told[: state.ply]
        old = self.state
        if old is not None and state.seq > old.seq + 1 and state.ply > 0:
            return None
        moves = follow_moves(self.moves, old, state)
        return moves if fits(moves, state) else None

    def _keep(self, state: RoomState, moves: tuple[int, ...] | None) -> None:
        """Let a state be the newest, with its moves where they are known, and tell what it brings."""
        old, before = self.state, self.moves if self.knows_moves else None
        self.state, self.moves, self.knows_moves = state, moves or (), moves is not None
        self._position = None
        self._version += 1
        self._awaits_state = False
        brought = () if old is None else tuple(happened(old, state, moves=moves, before=before))
        for change in brought:
            self._tell(change)
        is_gap = old is not None and state.seq > old.seq + 1
        self._tell(Updated(old, state, moves, before, self._is_after_loss, is_gap, brought))
        self._is_after_loss = False
        self._wake()

    def _tell(self, event: RoomEvent) -> None:
        self._is_after_loss |= isinstance(event, Back)
        self._audience.tell(event)
        if self._opening is not None:
            self._opening = [*self._opening, event] if len(self._opening) < 64 else None

    def _end(self, why: Literal["left"] | Closed | Replaced | ConnectionLost) -> None:
        """Let nothing follow, but what waits for moves and, where we did not leave, `why`."""
        if self.ended is not None:
            return
        self._ask_no_more()
        match why:
            case ConnectionLost():
                self._lost = why
            case Closed(reason):
                self.ended, self.closed_reason = "closed", reason or None
            case _:
                self.ended = "replaced" if isinstance(why, Replaced) else "left"
        if isinstance(why, Closed | Replaced):
            self._tell(why)
        self._audience.finish(self._lost, None if self._lost is None else Cut(self._lost))
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()


def _checked(moves: tuple[int, ...] | UnsetType | None, state: RoomState | None) -> tuple[int, ...]:
    if moves and state is not None and max(moves) >= len(state.board):
        raise ProtocolBroken("a move is off the board")
    return moves or ()
