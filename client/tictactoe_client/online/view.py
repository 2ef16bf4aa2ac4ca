"""A room as one person sees it: the newest state, the moves so far, the position, and what they mean for them. Pure.

A state has the board and the last move alone. One state after another tells the moves in order; where states were
skipped the server knows them.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from tictactoe_engine import BLOCKED, FREE, IllegalMove, Position
from tictactoe_protocol.pushes import RoomState

_NOBODYS = FREE + BLOCKED


class RoomView:
    """What is known of the room `code` and of the game on its table; `viewer` is the public id of whoever looks.

    `state` is the newest state, None before the first. `moves` are the cells of its game in order, as far as they are
    known: all of them where `knows_moves`. With `is_watching` we came to watch, and so have no seat.
    """

    def __init__(self, code: str, viewer: str) -> None:
        self.code = code
        self.viewer = viewer
        self.state: RoomState | None = None
        self.moves: tuple[int, ...] = ()
        self.knows_moves = False
        self.is_watching = False
        self._position: tuple[RoomState, Position | None] | None = None

    @property
    def seat(self) -> str | None:
        """Our mark in the current game, or None for a watcher; a rematch may change it."""
        return None if self.is_watching or self.state is None else seat_of(self.state, self.viewer)

    @property
    def is_my_turn(self) -> bool:
        """Whether the server waits for our move."""
        return self.state is not None and self.state.turn is not None and self.state.turn == self.seat

    @property
    def plays(self) -> bool:
        """Whether we still play a game that is on; not one who is out of it, among three or more."""
        state, own = self.state, self.seat
        seat = state.seats.get(own) if state is not None and own is not None else None
        return state is not None and state.status == "playing" and seat is not None and not seat.out

    @property
    def looks_on(self) -> bool:
        """Whether there is nothing for us to play: we watch, or are out of the game, or it is over."""
        if self.state is None or (self.state.status == "waiting" and self.seat is not None):
            return False
        return not self.plays

    @property
    def position(self) -> Position | None:
        """The position of the newest state, or None where its moves are not known."""
        if self.state is None or not self.knows_moves:
            return None
        if self._position is None or self._position[0] is not self.state:
            self._position = (self.state, position_after(self.state, self.moves))
        return self._position[1]


def seat_of(state: RoomState, viewer: str) -> str | None:
    """Return the mark that the viewer plays, or None for a watcher and for one who left."""
    for mark, seat in state.seats.items():
        if seat is not None and seat.player == viewer and not seat.left:
            return mark
    return None


def count_kept(
    old: RoomState, new: RoomState, moves: Sequence[int] | None = None, before: Sequence[int] | None = None
) -> int:
    """Return how many of the old state's moves still lie on the new one's board, in a state of the same game.

    Where the moves of both are known it is exact; else moves that were taken back and made again count as kept.
    """
    if moves is not None and before is not None and len(before) == old.ply:
        pairs = zip(before, moves, strict=False)
        return next((count for count, (one, other) in enumerate(pairs) if one != other), min(len(before), len(moves)))
    taken_back = sum(mark not in _NOBODYS and mark != new.board[cell] for cell, mark in enumerate(old.board))
    return old.ply - taken_back


def follow_moves(moves: tuple[int, ...], old: RoomState | None, new: RoomState) -> tuple[int, ...]:
    """Return all cells played in the new state's game, `moves` being those of the old one's, as far as can be told.

    Fewer than `new.ply` where several moves passed unseen: the server knows those.
    """
    if old is not None:
        moves = moves[: count_kept(old, new)] if old.game == new.game else ()
    if new.ply == len(moves) + 1 and new.last is not None:
        moves = (*moves, new.last)
    return moves[: new.ply]


def fits(moves: Sequence[int], state: RoomState) -> bool:
    """Tell whether these can be the moves of a state: so many, on these cells, the last one last."""
    if len(moves) != state.ply or (moves[-1] if moves else None) != state.last:
        return False
    played = {cell for cell, mark in enumerate(state.board) if mark not in _NOBODYS}
    return len(set(moves)) == len(moves) and played.issuperset(moves)


def position_after(state: RoomState, moves: Sequence[int]) -> Position | None:
    """Return the position of a state whose moves these are, or None where they do not lead to its board.

    A state says who was passed over, but not when: they are so from where it shows.
    """
    rules = state.rules.to_rules()
    out = {mark for mark, seat in state.seats.items() if seat is not None and seat.out}
    try:
        position = _play_without(state, moves, Position.start(rules), out) if out else Position.replay(rules, moves)
    except (IndexError, IllegalMove, ValueError):
        return None
    return position if position.board == state.board else None


def _play_without(state: RoomState, moves: Sequence[int], position: Position, out: Set[str]) -> Position:
    """Return the position after these moves with whoever did not move in turn passed over, at the end all of `out`."""
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
