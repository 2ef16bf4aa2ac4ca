"""How a game in a room ended, and what one reads who goes away from it."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board import mark_role
from tictactoe_client.online.client import Client
from tictactoe_client.text.arrival import describe_going, describe_return_command
from tictactoe_client.tui.room.model import RoomModel
from tictactoe_engine import format_cell
from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import Cost
from tictactoe_protocol.happened import is_draw
from tictactoe_protocol.lines import split_lines
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import describe_result, describe_why_over
from tictactoe_protocol.wording import count, format_duration, join_words, name_of, seat_of

_LONGEST_LINE: Final = 6


def sum_up_end(model: RoomModel) -> tuple[str, str]:
    """Return in one or two words how the game ended, to be written large, and their role; no words before the end."""
    state, own = model.room.state, model.seat
    if state.result is None:
        return "", ""
    winner = state.result.winner
    if winner is None:
        return say("big draw" if is_draw(state.result) else "big over"), "warn"
    if own is not None and (winner == own or len(state.seats) == 2):
        return (say("big win"), "good") if winner == own else (say("big loss"), "bad")
    return say("big wins", who=winner), mark_role(winner, model.rules, strong=True)


def describe_end(model: RoomModel) -> tuple[str, str]:
    """Return how the game ended and that line's role: ``YOU WIN   <X> A1 <X> B2 <X> C3   (5 moves, 0:12)``."""
    state, rules, role = model.room.state, model.rules, sum_up_end(model)[1]
    if state.result is None:
        return "", ""
    winner = state.result.winner
    if winner is None:
        head = say("end draw" if is_draw(state.result) else "end no result")
    elif role in ("good", "bad"):
        head = say("end win" if role == "good" else "end loss")
    else:
        head, role = say("end wins", name=name_of(state, winner).upper()), "good" if model.seat is None else "bad"
    length = count(state.ply, "move")
    if model.started_at is not None and model.ended_at is not None:
        length += f", {format_duration(round((model.ended_at - model.started_at) * 1000))}"
    runs = split_lines(state.result.line, rules)
    if len(runs) == 1 and len(runs[0]) <= _LONGEST_LINE:
        why = " ".join(f"<{state.board[cell]}> {format_cell(cell, rules)}" for cell in runs[0])
    else:
        why = describe_why_over(model.ending or state, model.room.viewer)
    return f"{head}   {why}   ({length})", role


def describe_farewell(state: RoomState, client: Client, *, has_left: bool, cost: Cost) -> str:
    """Return the line for one who went away from this state, or nothing; `cost` is what that did to the game."""
    viewer = client.player
    own = seat_of(state, viewer)
    if state.status == "over":
        return say("farewell over", room=state.room, told=describe_result(state, viewer))
    if own is None:
        command = describe_return_command(state, viewer, client.cluster.given.first)
        return say("farewell watcher", command=command) if state.status == "playing" else ""
    if not has_left:
        return describe_going(state, client)
    if state.status == "waiting" or cost == "abort":
        return say("farewell before" if state.status == "waiting" else "farewell aborted", room=state.room)
    staying = {mark: name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and not seat.out}
    did = "left" if staying.pop(own, "") else "out"
    return say(f"farewell {did}", room=state.room, names=join_words([*staying.values()]), n=len(staying))
