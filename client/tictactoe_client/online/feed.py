"""What the server sends of one room, put in order: each state with the moves that led to it, and events between them.

A state has the board and the last move alone; one after another they tell the moves in order, and so the position."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Sequence, Set
from typing import Final

from msgspec import UnsetType

from tictactoe_client.online.errors import ClientError, ProtocolBroken
from tictactoe_client.online.events import RoomEvent
from tictactoe_engine import FREE, IllegalMove, Position
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.happened import NOBODYS
from tictactoe_protocol.pushes import RoomState

Moves = tuple[int, ...]
_ASKING_SECONDS: Final = 5
"""For so long what comes waits for moves that passed unseen, before it is passed on without them."""


class RoomFeed:
    """Passes states and events on in the order in which they came; `state` and its `moves` were passed on last.

    Where states were skipped, what comes waits until the moves between are known: they are asked for, once. `moves` is
    None where they are not to be had.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[Moves | UnsetType]],
        pass_state: Callable[[RoomState, Moves | None], object],
        pass_event: Callable[[RoomEvent], object],
    ) -> None:
        self.state: RoomState | None = None
        self.moves: Moves | None = ()
        self._ask, self._pass_state, self._pass_event = ask, pass_state, pass_event
        self._told: Moves | None = None
        self._waiting: deque[RoomState | RoomEvent] = deque()
        self._newest_seq = -1
        self._asked_at_seq = -1
        self._asking: asyncio.Task[None] | None = None

    def tell_moves(self, moves: Moves | UnsetType | None) -> None:
        """Take all moves of the game on the table from an answer of the server; what waited for them waits no more."""
        self._told = check_moves(moves, self.state)
        self.stop_waiting()

    def push_state(self, state: RoomState) -> bool:
        """Pass a state on, or tell that a newer one is known; one with the same `seq` counts, as watchers come and go.

        Raises `ProtocolBroken` where it is not of this room.
        """
        if state.seq < self._newest_seq:
            return False
        known = state.rules if self.state is None else self.state.rules
        if state.rules != known and state.rules.to_rules() != known.to_rules():
            raise ProtocolBroken(say("broken other rules"))
        if self._told:
            check_moves(self._told, state)
        self._newest_seq = state.seq
        self.push(state)
        return True

    def push(self, what: RoomState | RoomEvent) -> None:
        """Pass on what happened beside states, after all that came before it."""
        self._waiting.append(what)
        if self._asking is None:
            self._pass_on()

    def repeat(self) -> None:
        """Pass the last state on once more, unless a newer one waits."""
        if self.state is not None and self._asking is None:
            self.moves = self._find_moves(self.state)
            self._pass_state(self.state, self.moves)

    def stop_waiting(self) -> None:
        """Pass everything on that waits for moves: they are here, or will not come."""
        asking, self._asking = self._asking, None
        if asking is not None:
            asking.cancel()
        self._asked_at_seq = self._newest_seq
        self._pass_on()

    def _pass_on(self) -> None:
        """Pass on what came, up to a state before which moves passed unseen."""
        while self._waiting:
            what = self._waiting.popleft()
            if not isinstance(what, RoomState):
                self._pass_event(what)
                continue
            moves = self._find_moves(what)
            if moves is None and what.seq > self._asked_at_seq:
                self._waiting.appendleft(what)
                self._asking = asyncio.get_running_loop().create_task(self._ask_for_moves(), name="tictactoe moves")
                return
            self.state, self.moves = what, moves
            self._pass_state(what, moves)
            self._told = self._told if self._waiting else None

    async def _ask_for_moves(self) -> None:
        with contextlib.suppress(ClientError, TimeoutError):
            async with asyncio.timeout(_ASKING_SECONDS):
                self._told = await self._ask() or ()
        self._asking = None
        self.stop_waiting()

    def _find_moves(self, state: RoomState) -> Moves | None:
        """Return all moves of a state that comes next, or None where some passed unseen that nobody has told."""
        if self._told is not None and _fits(self._told[: state.ply], state):
            return self._told[: state.ply]
        old = self.state
        if old is not None and state.seq > old.seq + 1 and state.ply > 0:
            return None
        moves, last = self.moves or (), state.last
        if old is not None and last is not None and old.ply == len(moves) == state.ply - 1:  # as nearly always
            before, after = old.board, state.board
            if before[:last] == after[:last] and before[last] == FREE and before[last + 1 :] == after[last + 1 :]:
                return (*moves, last)
        moves = _follow_moves(moves, old, state)
        return moves if _fits(moves, state) else None


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
        position = _play_without(state, moves, Position.start(rules), out) if out else Position.replay(rules, moves)
    except (IndexError, IllegalMove, ValueError):
        return None
    return position if position.board == state.board else None


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
