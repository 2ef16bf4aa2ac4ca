"""How a game in a room ended, and what one reads who goes away from it."""

from __future__ import annotations

from typing import Final

from tictactoe_client.board.board import mark_role
from tictactoe_client.online.client import Client
from tictactoe_client.text.arrival import describe_going, describe_return_command
from tictactoe_client.tui.room.table import Table
from tictactoe_engine import format_cell
from tictactoe_protocol.choices import cost_of_going
from tictactoe_protocol.happened import is_draw
from tictactoe_protocol.lines import split_lines
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.telling import describe_result, loser_of
from tictactoe_protocol.wording import count, format_duration, name_of, seat_of

_LONGEST_LINE: Final = 6


def sum_up_end(table: Table) -> tuple[tuple[str, ...], str]:
    """Return in one or two words how the game ended, to be written large, and their role; no words before the end."""
    state, own = table.room.state, table.room.seat
    if state is None or state.result is None:
        return (), ""
    winner = state.result.winner
    if winner is None:
        return (("DRAW",) if is_draw(state.result) else ("OVER",)), "warn"
    if own is not None and (winner == own or len(state.seats) == 2):
        return ("YOU", "WIN" if winner == own else "LOSE"), "good" if winner == own else "bad"
    return (winner, "WINS"), mark_role(winner, state.rules.to_rules(), strong=True)


def describe_end(table: Table) -> tuple[str, str]:
    """Return how the game ended and that line's role: ``YOU WIN   <X> A1 <X> B2 <X> C3   (5 moves, 0:12)``."""
    state, (words, role) = table.room.state, sum_up_end(table)
    if state is None or state.result is None:
        return "", ""
    result, told = state.result, describe_result(table.ending or state, table.room.viewer)
    head = "NO RESULT" if words == ("OVER",) else " ".join(words)
    if result.winner is not None and words[0] != "YOU":
        head = f"{name_of(state, result.winner).upper()} WINS"
        role = "good" if table.room.seat is None else "bad"
    length = count(state.ply, "move")
    if table.started_at is not None and table.ended_at is not None:
        length += f", {format_duration(round((table.ended_at - table.started_at) * 1000))}"
    if ended_by_leaving(table):
        return f"{told}   ({length})", role
    rules = state.rules.to_rules()
    runs = split_lines(result.line, rules)
    if len(runs) == 1 and len(runs[0]) <= _LONGEST_LINE:
        why = " ".join(f"<{state.board[cell]}> {format_cell(cell, rules)}" for cell in runs[0])
    else:
        why = told.rpartition(". ")[0].rstrip(".") or "The board is full"
    return f"{head}   {why}   ({length})", role


def ended_by_leaving(table: Table) -> bool:
    """Tell whether the game ended because the one who lost it left."""
    ending = table.ending
    if ending is None or ending.result is None or ending.result.reason != "resigned":
        return False
    seat = ending.seats.get(loser_of(ending) or "")
    return seat is not None and seat.left


def describe_farewell(state: RoomState, client: Client, *, has_left: bool, aborts: bool = False) -> str:
    """Return the line for one who went away from this state, or nothing; `aborts` as for `cost_of_going`."""
    viewer = client.player
    room, own = f"Room {state.room}", seat_of(state, viewer)
    if state.status == "over":
        return f"{room}: {describe_result(state, viewer)}"
    if own is None:
        command = describe_return_command(state, viewer, client.cluster.given.first)
        return f"The game goes on: {command}" if state.status == "playing" else ""
    if not has_left:
        return describe_going(state, client)
    if state.status == "waiting":
        return f"{room}: you left before a game began."
    if cost_of_going(state, viewer, aborts=aborts) == "abort":
        return f"{room}: you left before everybody had moved. The game was aborted."
    staying = {mark: name_of(state, mark) for mark, seat in state.seats.items() if seat is not None and not seat.out}
    did = "left" if staying.pop(own, "") else "were out"
    return f"{room}: you {did}; {' and '.join(staying.values())} {'wins' if len(staying) == 1 else 'play on'}."
