"""What became of the game, for the terminal after the full screen has gone; pure."""

from __future__ import annotations

from tictactoe_client.online.address import Address
from tictactoe_client.text.arrival import describe_return_command
from tictactoe_client.text.news import describe_result
from tictactoe_client.text.offers import cost_of_going
from tictactoe_client.text.wording import name_of, seat_of
from tictactoe_protocol.pushes import RoomState


def describe_farewell(state: RoomState, viewer: str, address: Address, *, is_told: bool, aborts: bool = False) -> str:
    """Return the line for one who went away from this state, or nothing; `is_told` is whether the server knows it.

    `aborts` as for `cost_of_going`.
    """
    room, own = f"Room {state.room}", seat_of(state, viewer)
    if state.status == "over":
        return f"{room}: {describe_result(state, viewer)}"
    if own is None:
        goes_on = state.status == "playing"
        return f"The game goes on: {describe_return_command(state, viewer, address)}" if goes_on else ""
    if not is_told:
        kept = "Your seat is held for a while"
        return f"{kept}. The game goes on: {describe_return_command(state, viewer, address)}"
    if state.status == "waiting":
        return f"{room}: you left before a game began."
    if cost_of_going(state, viewer, aborts=aborts) == "abort":
        return f"{room}: you left before everybody had moved. The game was aborted."
    others = [mark for mark, seat in state.seats.items() if seat is not None and mark != own and not seat.out]
    names = " and ".join(name_of(state, mark) for mark in others)
    seat = state.seats.get(own)
    if seat is not None and seat.out:
        return f"{room}: you were out; {names} play on."
    return f"{room}: you left; {names} {'wins' if len(others) == 1 else 'play on'}."
