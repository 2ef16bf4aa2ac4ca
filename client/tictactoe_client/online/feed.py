"""What the server sends of one room, put in order: each state with the moves that led to it, and events between them.

A state has the board and the last move alone; one after another they tell the moves in order, and so the position."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Sequence, Set
from typing import Final, Literal, Protocol

from msgspec import UnsetType

from tictactoe_client.online.errors import ClientError, ConnectionLost, ProtocolBroken
from tictactoe_client.online.events import Back, Closed, Cut, Replaced, RoomEvent, Updated
from tictactoe_client.online.messages import Subscribers
from tictactoe_client.online.work import Changed
from tictactoe_engine import FREE, IllegalMove, Position
from tictactoe_protocol import requests
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.happened import NOBODYS, happened
from tictactoe_protocol.pushes import Ok, RoomState
from tictactoe_protocol.wording import seat_of

Moves = tuple[int, ...]
_ASKING_SECONDS: Final = 5
"""For so long what comes waits for moves that passed unseen, before it is passed on without them."""
_MOST_KEPT_EVENTS: Final = 64


class RoomRequests(Protocol):
    """What a room needs of the conversation that it is a part of."""

    player: str

    @property
    def features(self) -> frozenset[str]:
        """What the server can do beyond version 1.0."""

    async def request(self, request: requests.Request) -> Ok:
        """Return the answer to a request."""


class RoomFeed:
    """What is told of a room, in the order in which it came; `Room` has the requests as well.

    Where states were skipped, what comes waits until the moves between are known: they are asked for, once.
    """

    state: RoomState

    def __init__(self, client: RoomRequests, code: str) -> None:
        self.code = code
        self.viewer = self.actor = client.player
        self.hands: tuple[str, ...] = (client.player,)
        self.has_state = False
        self.moves: Moves = ()
        self.knows_moves = False
        self.seat: str | None = None
        self.is_my_turn = self.plays = self.looks_on = self.is_watching = False
        self.ended: Literal["left", "closed", "replaced"] | None = None
        self.closed_reason: str | None = None
        self._client = client
        self._position: Position | None = None
        self._lost: ConnectionLost | None = None
        self._subscribers: Subscribers[RoomEvent] = Subscribers()
        self._opening: list[RoomEvent] | None = []
        self._states_seen = 0
        self._awaits_state = True
        self._is_after_loss = False
        self._changed = Changed()
        self._told: Moves | None = None
        self._waiting: deque[RoomState | RoomEvent] = deque()
        self._newest_seq = -1
        self._asked_at_seq = -1
        self._asking: asyncio.Task[None] | None = None

    @property
    def _shown(self) -> RoomState | None:
        """The newest state, None where there is none yet."""
        return self.state if self.has_state else None

    @property
    def _is_done(self) -> bool:
        return self.ended is not None or self._lost is not None

    async def sync(self) -> tuple[int, ...]:
        """Return the moves of the current game in order; the state comes again as well."""
        reply = await self._client.request(requests.Sync(room=self.code))
        return check_moves(reply.moves, self._shown)

    async def _wait_for_state(self) -> None:
        await self._changed.until(lambda: self.has_state or self._is_done)

    def find_actor(self, state: RoomState) -> str:
        """Return who of our `hands` is on turn, the first where nobody of them is."""
        return next((player for player in self.hands if seat_of(state, player) == (state.turn or "")), self.hands[0])

    def find_asked(self, state: RoomState) -> str:
        """Return who of our `hands` is to answer an offer of a draw, where there is none who is on turn."""
        actor, others = (
            self.find_actor(state),
            {mark: seat for mark, seat in state.seats.items() if seat and not seat.out},
        )
        asking = others.pop(state.offers.draw or state.offers.undo or "", None)
        if asking is not None and state.offers.undo and asking.player in self.hands:
            return asking.player  # as the others agree by themselves
        if asking is None or asking.player != actor:
            return actor
        return next((seat.player for seat in others.values() if seat.player in self.hands), actor)

    # -- what the conversation brings -------------------------------------------------------------------------------

    def _enter(self, reply: Ok) -> None:
        """Take note of the answer that let us in, which has the moves of the game on the table."""
        self.is_watching = not reply.seat
        self._tell_moves(reply.moves)
        if self.has_state:
            self._find_seat()

    def _tell_moves(self, moves: Moves | UnsetType | None) -> None:
        """Take all moves of the game on the table; what waited for them waits no more."""
        self._told = check_moves(moves, self._shown)
        self._stop_waiting()

    def _receive(self, state: RoomState) -> None:
        """Take a state; raises `ProtocolBroken` where it is not of this room.

        One with the same `seq` counts, as watchers come and go; an older one is no news, but shows that we are back.
        """
        if self.ended is not None:
            return
        if state.seq < self._newest_seq:
            if self._is_after_loss and self.has_state and self._asking is None:
                self._update(self.state, self._find_moves(self.state))
            return
        known = self.state.rules if self.has_state else state.rules
        if state.rules != known and state.rules.to_rules() != known.to_rules():
            raise ProtocolBroken(say("broken other rules"))
        if self._told:
            check_moves(self._told, state)
        self._newest_seq = state.seq
        self._note(state)

    def _note(self, what: RoomState | RoomEvent) -> None:
        """Tell of a state, or of what happened beside states, after all that came before it."""
        self._waiting.append(what)
        if self._asking is None:
            self._pass_on()

    def _stop_waiting(self) -> None:
        """Tell all that waits for moves: they are here, or will not come."""
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.cancel()
        self._asked_at_seq = self._newest_seq
        self._pass_on()

    def _pass_on(self) -> None:
        """Tell what came, up to a state before which moves passed unseen."""
        while self._waiting:
            what = self._waiting.popleft()
            if not isinstance(what, RoomState):
                self._tell(what)
                continue
            moves = self._find_moves(what)
            if moves is None and what.seq > self._asked_at_seq:
                self._waiting.appendleft(what)
                self._asking = asyncio.get_running_loop().create_task(self._ask_for_moves(), name="tictactoe moves")
                return
            self._update(what, moves)
            self._told = self._told if self._waiting else None

    async def _ask_for_moves(self) -> None:
        with contextlib.suppress(ClientError, TimeoutError):
            async with asyncio.timeout(_ASKING_SECONDS):
                self._told = await self.sync()
        self._asking = None
        self._stop_waiting()

    def _find_moves(self, state: RoomState) -> Moves | None:
        """Return all moves of a state that comes next, or None where some passed unseen that nobody has told."""
        if self._told is not None and _fits(self._told[: state.ply], state):
            return self._told[: state.ply]
        old = self._shown
        if old is not None and state.seq > old.seq + 1 and state.ply > 0:
            return None
        moves, last = self.moves, state.last
        if old is not None and last is not None and old.ply == len(moves) == state.ply - 1:  # as nearly always
            before, after = old.board, state.board
            if before[:last] == after[:last] and before[last] == FREE and before[last + 1 :] == after[last + 1 :]:
                return (*moves, last)
        moves = _follow_moves(moves, old, state)
        return moves if _fits(moves, state) else None

    def _update(self, state: RoomState, moves: Moves | None) -> None:
        """Let a state be the newest, with its moves where they are known, and tell what it brings."""
        old = self._shown
        before = self.moves if self.knows_moves else None
        self.state, self.has_state = state, True
        self.moves, self.knows_moves = moves or (), moves is not None
        self._position = None
        self._states_seen += 1
        self._awaits_state = False
        self._find_seat()
        brought = () if old is None else tuple(happened(old, state, moves=moves, before=before))
        for change in brought:
            self._tell(change)
        is_gap = old is not None and state.seq > old.seq + 1
        self._tell(Updated(old, state, moves, before, self._is_after_loss, is_gap, brought))
        self._is_after_loss = False
        self._changed.note()

    def _find_seat(self) -> None:
        """Find out what the newest state means for us."""
        state = self.state
        self.actor = self.find_actor(state)
        self.seat = None if self.is_watching else seat_of(state, self.actor)
        own = None if self.seat is None else state.seats[self.seat]
        self.is_my_turn = own is not None and state.turn == self.seat and not self._awaits_state
        self.plays = own is not None and not own.out and state.status == "playing"
        self.looks_on = not self.plays and (own is None or state.status != "waiting")

    def _tell(self, event: RoomEvent) -> None:
        if isinstance(event, Back):
            self._is_after_loss = True
        self._subscribers.publish(event)
        if self._opening is not None:
            self._opening = [*self._opening, event] if len(self._opening) < _MOST_KEPT_EVENTS else None

    def _end(self, why: Literal["left"] | Closed | Replaced | ConnectionLost) -> None:
        """Let nothing follow, but what waits for moves and, where we did not leave, `why`."""
        if self.ended is not None or self._lost is not None:
            return
        self._stop_waiting()
        match why:
            case ConnectionLost():
                self._lost = why
            case Closed(reason):
                self.ended, self.closed_reason = "closed", reason or None
            case _:
                self.ended = "replaced" if isinstance(why, Replaced) else "left"
        if isinstance(why, Closed | Replaced):
            self._tell(why)
        self._subscribers.finish(self._lost, None if self._lost is None else Cut(self._lost))
        self._changed.note()


def check_moves(moves: Moves | UnsetType | None, state: RoomState | None) -> Moves:
    """Return moves that an answer has, none where it has no such field; raises `ProtocolBroken` for no cells."""
    if moves and state is not None and max(moves) >= len(state.board):
        raise ProtocolBroken(say("broken move off the board"))
    return moves or ()


def _follow_moves(moves: Moves, old: RoomState | None, new: RoomState) -> Moves:
    """Return all cells played in the new state's game, `moves` being those of the old one's, as far as can be told."""
    if old is not None and old.game != new.game:
        moves = ()
    elif old is not None and old.board != new.board:
        before, board = old.board, new.board
        moves = tuple([cell for cell in moves if before[cell] == board[cell]])
    if new.ply == len(moves) + 1 and new.last is not None:
        moves = (*moves, new.last)
    return moves[: new.ply]


def _fits(moves: Moves, state: RoomState) -> bool:
    """Tell whether these can be the moves of a state: so many, each on a cell of its own, the last one last."""
    if len(moves) != state.ply or (moves[-1] if moves else None) != state.last:
        return False
    board = state.board
    return len({cell for cell in moves if board[cell] not in NOBODYS}) == len(moves)


def position_after(state: RoomState, moves: Sequence[int]) -> Position | None:
    """Return the position of a state whose moves these are, or None where they do not lead to its board."""
    rules = state.rules.to_rules()
    out = {mark for mark, seat in state.seats.items() if seat is not None and seat.out}
    try:
        position = _play_without(state, moves, Position.start(rules), out) if out else _play(state, moves)
    except (IndexError, IllegalMove, ValueError):
        return None
    return position if position.board == state.board else None


def _play(state: RoomState, moves: Sequence[int]) -> Position:
    return Position.replay(state.rules.to_rules(), moves, (), state.chosen or ())


def _play_without(state: RoomState, moves: Sequence[int], position: Position, out: Set[str]) -> Position:
    """Return the position after these moves with whoever did not move in turn passed over, in the end all of `out`."""
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
