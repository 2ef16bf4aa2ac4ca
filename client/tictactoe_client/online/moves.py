"""The position that the moves of a room's game make. Pure."""

from __future__ import annotations

from collections.abc import Sequence, Set

from tictactoe_engine import IllegalMove, Position
from tictactoe_protocol.pushes import RoomState


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
