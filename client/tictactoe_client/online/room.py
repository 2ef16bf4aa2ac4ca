"""A room as a player or watcher sees it: its newest state, its events, and requests about it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from typing import Final, Generic, Literal, Protocol, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_client.online.errors import BadCell, ClientError, ConnectionLost, ProtocolBroken, Refused
from tictactoe_client.online.events import Back, Closed, Cut, Replaced, RoomEvent, Said, Updated
from tictactoe_client.online.messages import Changed, Stream, Subscribers, call
from tictactoe_engine import IllegalMove, Position, UnknownNotation, parse_cell
from tictactoe_protocol import MAX_LISTED_GAMES, requests, terms
from tictactoe_protocol.codes import SENTENCES, ChatSentence
from tictactoe_protocol.guests import owner_of
from tictactoe_protocol.pushes import AnalysisState, ChatLine, Ok, RoomState, Welcome
from tictactoe_words.catalogue import say
from tictactoe_words.choices import Choices, Deed, choices
from tictactoe_words.refusals import describe_fault
from tictactoe_words.telling import news_since
from tictactoe_words.wording import seat_of

Moves = tuple[int, ...]
State = TypeVar("State")
_MOST_KEPT_EVENTS: Final = 64
_SENTENCES: Final = {str(number): id for number, id in enumerate(SENTENCES, 1)} | {id: id for id in SENTENCES}
GOODBYE_SECONDS: Final = 1.0
"""How long a program that ends waits for the server's answer."""


class RoomRequests(Protocol):
    """The part of `Client` that a room uses."""

    player: str
    welcome: Welcome

    async def request(self, request: requests.Request) -> Ok:
        """Send a request and return the answer."""


class Followed(Generic[State]):
    """A room or tournament that the client follows; `state` is its newest state, once `has_state` is True."""

    state: State

    def __init__(self, client: RoomRequests, code: str) -> None:
        self.code = code
        self.viewer = client.player
        self.has_state = False
        self._client = client
        self._lost: ConnectionLost | None = None
        self._states_seen = 0
        self._awaits_state = False
        self._changed = Changed()

    @property
    def _is_at_end(self) -> bool:
        raise NotImplementedError

    async def __aiter__(self) -> AsyncIterator[State]:
        seen = 0
        while True:
            if self._states_seen > seen and not self._awaits_state:
                seen = self._states_seen
                yield self.state
            elif self._lost is not None:
                raise self._lost
            elif self._is_at_end:
                return
            else:
                await self._changed.wait()

    async def _wait_for_state(self) -> None:
        await self._changed.until(lambda: self.has_state or self._is_at_end or self._lost is not None)


class Room(Followed[RoomState]):
    """A room, returned by `create`, `match`, `join` and `watch` of `Client.rooms`.

    Iteration yields its states, the current one first; a slow reader gets only the newest. It stops when the room has
    `ended` for us, and raises `ConnectionLost` when the connection is lost for good. The end of a game does not stop
    it, since a rematch may follow.

    Attributes:
        viewer: Our public id, or "" if guests play with us.
        seat: Our mark, which a rematch may change, or None for a watcher.
        is_my_turn: Whether the server waits for our move.
        plays: Whether we are in a running game; False once we are out of it.
        looks_on: Whether we watch, are out of the game, or the game is over.
        ended: How the room ended for us, or None; "card" if another player has our seat by the same card.
        local_players: The ids of the players who share this connection: ours and our guests'.
        actor: The local player on turn, by default ourselves; `seat`, `is_my_turn` and `plays` are about this player.
    """

    def __init__(self, client: RoomRequests, code: str) -> None:
        super().__init__(client, code)
        self.actor = client.player
        self.local_players: tuple[str, ...] = (client.player,)
        self.seat: str | None = None
        self.is_my_turn = self.plays = self.looks_on = self.is_watching = False
        self.ended: Literal["left", "closed", "replaced", "card"] | None = None
        self.closed_reason: str | None = None
        self._position: Position | None = None
        self._subscribers: Subscribers[RoomEvent] = Subscribers()
        self._opening: list[RoomEvent] | None = []
        self._awaits_state = True
        self._is_after_loss = False
        self._heard = deque[ChatLine](maxlen=_MOST_KEPT_EVENTS)
        self._newest_seq = -1
        self._states_received = 0  # including outdated states, which are not shown
        self._asked_at: dict[tuple[type, terms.OfferAction, str | None], tuple[int, int]] = {}

    @property
    def has_challenges(self) -> bool:
        """Whether players may challenge each other on this server."""
        return self._client.welcome.challenges is not UNSET

    @property
    def sentences(self) -> Mapping[str, ChatSentence]:
        """The sentences that may be sent, by number and by id; {} if free chat is allowed."""
        return _SENTENCES if self._client.welcome.chat == "sentences" else {}

    @property
    def moves(self) -> Moves:
        """The cells played in the current game, in order."""
        return self.state.moves if self.has_state else ()

    @property
    def position(self) -> Position:
        """The position of the newest state; raises `ProtocolBroken` if its moves do not lead to its board."""
        if self._position is None:
            self._position = position_after(self.state)
        return self._position

    @property
    def keeps_seat(self) -> bool:
        """Whether our seat is kept however long we are away, as in games over days."""
        return self.has_state and not self.is_watching and self.state.counts_days

    def events(self) -> Stream[RoomEvent]:
        """Return a stream of all events from now on, beginning with `Updated` for the current state.

        The first stream begins with the recent events since we entered instead. A stream ends as iteration over the
        room does. If you do not read it to its end, close it or use it in an ``async with``.
        """
        stream: Stream[RoomEvent] = Stream()
        for event in self._until_now():
            stream.put(event)
        self._subscribers.add(stream)
        if self._lost is not None or self.ended is not None:
            stream.put(self._lost)
        return stream

    def subscribe(self, listener: Callable[[RoomEvent], object]) -> Callable[[], None]:
        """Call `listener` with each event; return a function that unsubscribes it. The last event may be `Cut`."""
        for event in (*self._until_now(), *([] if self._lost is None else [Cut(self._lost)])):
            call(listener, event)
        return self._subscribers.subscribe(listener)

    def _until_now(self) -> list[RoomEvent]:
        opening, self._opening = self._opening, None
        if opening or not self.has_state:
            return opening or []
        return [Updated(None, self.state)]

    def choices(self, passed_ms: float, *, is_online: bool = True) -> Choices:
        """Return what the local players may do, `passed_ms` after the newest state arrived."""

        def find(player: str) -> Choices:
            found = choices(self.state, player, passed_ms, is_online=is_online, welcome=self._client.welcome)
            if not self.keeps_seat:
                return found
            deeds = (Deed("leave") if deed.id == "leave" else deed for deed in found.deeds)  # leaving costs nothing
            return Choices(tuple(deeds), found.questions, found.reasons)

        if len(self.local_players) == 1:
            return find(self.actor)
        asked = self.find_asked(self.state)
        found = find(asked)
        # local players need no chat, and none of them loses if all leave
        deeds = (Deed("leave", cost="abort") if deed.id == "leave" and deed.cost else deed for deed in found.deeds)
        found = Choices(tuple(deed for deed in deeds if deed.id != "chat"), found.questions, found.reasons)
        for name, player in (("place", self.actor), ("undo offer", self.find_mover())):
            if player not in (None, asked) and not found.may(name) and (deed := find(str(player)).find(name)):
                found = Choices((*found.deeds, deed), found.questions, found.reasons)
        return found

    def find_mover(self) -> str | None:
        """Return the local player who made the last move, or None."""
        mark = None if self.state.last is None else self.state.board[self.state.last]
        return next((player for player in self.local_players if mark and seat_of(self.state, player) == mark), None)

    async def move(self, cell: int | str, *, ply: int | None = None, seat: str | None = None) -> None:
        """Play a cell. Iteration then waits for the state with this move.

        Args:
            cell: A number (row-major from 0) or a name (``"b2"``).
            ply: The number of moves on the board that the mover sees, by default that of the newest state.
            seat: The mark of the local player who moves, by default the `actor`'s. Other requests have this, too.

        Raises `Refused`, and `BadCell` if the name is not a cell.
        """
        if isinstance(cell, str):
            try:
                cell = parse_cell(cell, self.state.rules.to_rules())
            except (IllegalMove, UnknownNotation) as bad:
                raise BadCell(bad.code, describe_fault(bad)) from None
        ply = self.state.ply if ply is None else ply
        await self._ask(requests.Move(room=self.code, cell=cell, ply=ply), seat)
        self._await_state_after(ply)

    async def choose(self, take: str, *, ply: int | None = None, seat: str | None = None) -> None:
        """Choose one of the `options` of the state's `opening`: a mark, or ``more``. Otherwise like `move`."""
        ply = self.state.ply if ply is None else ply
        await self._ask(requests.Choose(room=self.code, take=take, ply=ply), seat)
        if self.state.opening and self.state.opening.options:
            self._await_state_after(ply)

    def _await_state_after(self, ply: int) -> None:
        if self.state.ply <= ply:
            self._awaits_state, self.is_my_turn = True, False

    async def resign(self, *, seat: str | None = None) -> None:
        """Resign, and stay in the room."""
        await self._ask(requests.Resign(room=self.code), seat)

    async def rematch(self, *, seat: str | None = None) -> None:
        """Offer a rematch or accept one, by default for all local players."""
        await self._ask(requests.Rematch(room=self.code, game=self.state.game), seat)

    async def leave(self, *, seat: str | None = None, gives_up: bool = False) -> None:
        """Leave with our guests, resigning a running game; with the `seat` of a guest, only that guest leaves.

        In a game over days, our seat is kept unless `gives_up`.
        """
        is_alone = seat is not None and self._holder(seat) != self._client.player
        if self.keeps_seat and not gives_up and not is_alone:
            self._end("left")
            return
        try:
            await self._ask(requests.Leave(room=self.code), seat)
        except Refused as refused:
            if refused.code not in ("not_in_room", "no_such_room", "moved"):
                raise
        if not is_alone:
            self._end("left")

    async def say_goodbye(self) -> bool:
        """Leave, waiting at most a second; return True if the server confirmed it."""
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await self.leave()
        except (TimeoutError, ClientError):
            return False
        return True

    async def record(self, game: int) -> str | None:
        """Return the record of this room's game number `game`, or None if it is not among our last hundred games."""
        for past in (await self._ask(requests.History(limit=MAX_LISTED_GAMES))).games or ():
            if (past.room, past.game) == (self.code, game):
                return (await self._ask(requests.Record(game_id=past.game_id))).record or ""
        return None

    async def draw(self, action: terms.OfferAction = "offer", *, seat: str | None = None) -> None:
        """Offer a draw, or accept or decline one."""
        await self._ask_once(requests.Draw(room=self.code, action=action), seat)

    async def undo(self, action: terms.OfferAction = "offer", *, seat: str | None = None) -> None:
        """Offer to take back our last move, or answer such an offer; without a `seat`, all local players agree."""
        await self._ask_once(requests.Undo(room=self.code, action=action), seat)

    async def claim(self, as_: Literal["win", "draw"], *, seat: str | None = None) -> None:
        """Claim a win or a draw, because the opponent has been away for longer than the server holds a seat."""
        await self._ask(requests.Claim(room=self.code, as_=as_), seat)

    async def analyse(self, ply: int | None = None) -> AnalysisState:
        """Analyse the position after `ply` moves, by default the current one; raises `Refused` if not allowed."""
        reply = await self._ask(requests.Analyse(room=self.code, ply=UNSET if ply is None else ply))
        if reply.analysis is UNSET:
            raise ProtocolBroken(say("broken no answer"))
        return reply.analysis

    async def chat(self, text: str) -> None:
        """Send a chat line of at most 200 characters, or one of the `sentences` by its id or number."""
        if text in self.sentences:
            await self._ask(requests.Chat(room=self.code, sentence=self.sentences[text]))
        else:
            await self._ask(requests.Chat(room=self.code, text=text))

    async def _ask(self, request: requests.Request, seat: str | None = None) -> Ok:
        """Send a request for the player in `seat`, or for all local players concerned; return the last answer."""
        if seat is None and len(self.local_players) == 1:
            return await self._client.request(request)
        asked = self._list_requests(request) if seat is None else [self._request_of(self._holder(seat), request)]
        for each in asked:
            answer = await self._client.request(each)
        return answer

    def _list_requests(self, request: requests.Request) -> Sequence[requests.Request]:
        """Return one request for each local player concerned; in a rematch or takeback, all of them agree at once."""
        match request:
            case requests.Rematch():
                return [self._request_of(player, request) for player in self.local_players]
            case requests.Undo(action="offer"):
                mover = self.find_mover() or self.actor
                others = [player for player in self.local_players if player != mover]
                agreed = replace(request, action="accept")
                return [self._request_of(mover, request), *(self._request_of(player, agreed) for player in others)]
            case requests.Draw():
                return [self._request_of(self.find_asked(self.state), request)]
            case requests.Move() | requests.Choose() | requests.Resign() | requests.Claim():
                return [self._request_of(self.actor, request)]
        return [request]

    def _holder(self, seat: str) -> str:
        held = self.state.seats.get(seat)
        return "" if held is None else held.player

    def _request_of(self, player: str, request: requests.Request) -> requests.Request:
        return request if player == self._client.player else replace(request, player=player)

    async def _ask_once(self, request: requests.Draw | requests.Undo, seat: str | None) -> None:
        """Send an offer that names the position, so that a resent one counts once; a repeated call counts again."""
        what, moment = (type(request), request.action, seat), (self.state.game, self.state.ply)
        if self._asked_at.get(what) != moment:
            request = replace(request, game=moment[0], ply=moment[1])
        await self._ask(request, seat)
        self._asked_at[what] = moment

    @property
    def _is_at_end(self) -> bool:
        return self.ended is not None

    async def sync(self) -> tuple[int, ...]:
        """Request the state again, wait for it, and return the moves of the current game."""
        received = self._states_received
        await self._ask(requests.Sync(room=self.code))
        await self._changed.until(lambda: self._states_received > received or self._is_at_end or self._lost is not None)
        return self.moves

    def find_actor(self, state: RoomState) -> str:
        """Return the local player on turn, by default ourselves."""
        players = self.local_players
        return next((player for player in players if seat_of(state, player) == (state.turn or "")), players[0])

    def find_asked(self, state: RoomState) -> str:
        """Return the local player who has to answer a local player's offer, by default the local player on turn."""
        actor = self.find_actor(state)
        others = {mark: seat for mark, seat in state.seats.items() if seat and not seat.out}
        asking = others.pop(state.offers.draw or state.offers.undo or "", None)
        if asking is not None and state.offers.undo and asking.player in self.local_players:
            return asking.player  # see `_list_requests`: the other local players agree at once
        if asking is None or asking.player != actor:
            return actor
        return next((seat.player for seat in others.values() if seat.player in self.local_players), actor)

    def _enter(self, reply: Ok) -> None:
        self.is_watching = not reply.seat
        if self.has_state:
            self._find_seat()

    def _receive(self, state: RoomState) -> None:
        """Adopt a state; raises `ProtocolBroken` if its rules are not those of this room.

        A state with the same `seq` as the newest is adopted, since the list of watchers may have changed. An older one
        only shows that the connection is back.
        """
        if self.ended is not None:
            return
        self._states_received += 1
        if state.seq < self._newest_seq:
            if self._is_after_loss and self.has_state:
                self._update(self.state)
            self._changed.note()
            return
        known = self.state.rules if self.has_state else state.rules
        if state.rules != known and state.rules.to_rules() != known.to_rules():
            raise ProtocolBroken(say("broken value", field="rules"))
        self._newest_seq = state.seq
        self._update(state)

    def _update(self, state: RoomState) -> None:
        old = self.state if self.has_state else None
        self.state, self.has_state = state, True
        self._position = None
        self._states_seen += 1
        self._awaits_state = False
        if old is None or old.seats != state.seats:
            self._find_local_players()
        self._find_seat()
        news = () if old is None else news_since(old, state)
        for each in news:
            self._tell(each)
        self._tell(Updated(old, state, self._is_after_loss, news))
        self._is_after_loss = False
        self._changed.note()

    def _find_seat(self) -> None:
        state = self.state
        self.actor = self.find_actor(state)
        self.seat = None if self.is_watching else seat_of(state, self.actor)
        seat = None if self.seat is None else state.seats[self.seat]
        self.is_my_turn = seat is not None and state.turn == self.seat and not self._awaits_state
        self.plays = seat is not None and not seat.out and state.status == "playing"
        self.looks_on = not self.plays and (seat is None or state.status != "waiting")

    def _find_local_players(self) -> None:
        own = self._client.player
        held = [seat.player for seat in self.state.seats.values() if seat is not None and not seat.left]
        self.local_players = tuple(sorted({own, *(id for id in held if owner_of(id) == own)}))
        self.viewer = own if len(self.local_players) == 1 else ""

    def _tell(self, event: RoomEvent) -> None:
        if isinstance(event, Back):
            self._is_after_loss = True
        self._subscribers.publish(event)
        if self._opening is not None:
            self._opening = [*self._opening, event] if len(self._opening) < _MOST_KEPT_EVENTS else None

    def _hear(self, line: ChatLine) -> None:
        """Publish a chat line, unless it is known: in games over days, the server sends old lines at each return."""
        if line not in self._heard:
            self._heard.append(line)
            self._tell(Said(line))

    def _end(self, why: Literal["left"] | Closed | Replaced | ConnectionLost) -> None:
        """End the room for us, and publish `why` as its last event, unless we left."""
        if self.ended is not None or self._lost is not None:
            return
        match why:
            case ConnectionLost():
                self._lost = why
            case Closed(reason):
                self.ended, self.closed_reason = "closed", reason or None
            case Replaced(by_card):
                self.ended = "card" if by_card else "replaced"
            case _:
                self.ended = "left"
        if isinstance(why, Closed | Replaced):
            self._tell(why)
        self._subscribers.finish(self._lost, None if self._lost is None else Cut(self._lost))
        self._changed.note()


def position_after(state: RoomState) -> Position:
    """Return the position of a state; raises `ProtocolBroken` if its moves do not lead to its board."""
    rules = state.rules.to_rules()
    out = {mark for mark, seat in state.seats.items() if seat is not None and seat.out}
    try:
        if out:
            position = _play_without(state, state.moves, Position.start(rules), out)
        else:
            position = Position.replay(rules, state.moves, (), state.chosen or ())
    except (IndexError, IllegalMove, ValueError):
        raise ProtocolBroken(say("broken value", field="moves")) from None
    if position.board != state.board:
        raise ProtocolBroken(say("broken value", field="moves"))
    return position


def _play_without(state: RoomState, moves: Sequence[int], position: Position, out: Set[str]) -> Position:
    """Return the position after these moves, passing over the turns of the players in `out`.

    A player who is out may have moved earlier: a turn is passed over if the next cell has another player's mark.
    """
    for cell in moves:
        while position.turn not in (state.board[cell], None):
            position = position.pass_over(str(position.turn))
        following = position.play(cell)
        position = _pass_over(position, out).play(cell) if following.outcome else following
    return position if position.outcome else _pass_over(position, out)


def _pass_over(position: Position, marks: Set[str]) -> Position:
    for mark in position.active_marks:
        if mark in marks and len(position.active_marks) > 2:
            position = position.pass_over(mark)
    return position
