"""The moves that led to a state of a room, and the position that they make. Pure.

A state has the board and the last move alone; one after another they tell the moves in order."""

from __future__ import annotations

from collections.abc import Sequence, Set

from tictactoe_engine import IllegalMove, Position
from tictactoe_protocol.happened import NOBODYS
from tictactoe_protocol.pushes import RoomState


def follow_moves(moves: tuple[int, ...], old: RoomState | None, new: RoomState) -> tuple[int, ...]:
    """Return all cells played in the new state's game, `moves` being those of the old one's, as far as can be told."""
    if old is not None and old.game == new.game:
        before, board = old.board, new.board
        moves = tuple([cell for cell in moves if before[cell] == board[cell]])
    elif old is not None:
        moves = ()
    if new.ply == len(moves) + 1 and new.last is not None:
        moves = (*moves, new.last)
    return moves[: new.ply]


def fits(moves: Sequence[int], state: RoomState) -> bool:
    """Tell whether these can be the moves of a state: so many, on these cells, the last one last."""
    if len(moves) != state.ply or (moves[-1] if moves else None) != state.last:
        return False
    played = {cell for cell, mark in enumerate(state.board) if mark not in NOBODYS}
    return len(set(moves)) == len(moves) and played.issuperset(moves)


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
