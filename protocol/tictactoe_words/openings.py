"""Who placed and chose what in the opening of a game. Pure."""

from __future__ import annotations

from tictactoe_engine.opening import choices_of, placer_of, sits_now
from tictactoe_protocol.pushes import OpeningChoice, RoomState


def choices_at(state: RoomState, ply: int) -> list[OpeningChoice]:
    """Return the opening choices made after `ply` moves."""
    rules = state.rules.to_rules()
    made = choices_of(rules.opening, rules.marks, state.chosen or ())
    return [OpeningChoice(at, current_mark(state, mark), mark, take) for at, mark, take in made if at == ply]


def current_mark(state: RoomState, mark: str) -> str:
    """Return the current mark of the player who had `mark` before the last choice in the opening."""
    rules = state.rules.to_rules()
    return sits_now(rules.opening, rules.marks, state.chosen or (), mark)


def placer(state: RoomState, ply: int) -> str:
    """Return the current mark of the player who made move `ply` (from 0) in an opening, or "" for a later move."""
    rules = state.rules.to_rules()
    return placer_of(rules.opening, rules.marks, ply, state.chosen or ()) or ""


def mover_of(state: RoomState) -> str | None:
    """Return the current mark of the player who made the last move, or None before the first move."""
    return None if state.last is None else placer(state, state.ply - 1) or state.board[state.last]
