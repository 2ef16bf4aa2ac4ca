"""What stands open between the players, and what the viewer may do about it in words; pure.

The announcer says that something was offered; this says how to answer, and when an absent opponent's seat falls.
"""

from __future__ import annotations

from tictactoe_client.wording import name_of, seat_of
from tictactoe_protocol.pushes import RoomState


def is_asked(state: RoomState, viewer: str, by: str | None) -> bool:
    """Tell whether an offer by the mark `by` is one for the viewer to answer."""
    own = seat_of(state, viewer)
    return own is not None and by is not None and by != own


def describe_choices(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return how to answer the offers that are new since `old`; nothing for watchers."""
    told = []
    if new.offers.draw != old.offers.draw and is_asked(new, viewer, new.offers.draw):
        told.append("Type draw to accept, draw decline to refuse.")
    if new.offers.undo != old.offers.undo and is_asked(new, viewer, new.offers.undo):
        told.append("Type undo to let them, undo decline to refuse.")
    return told


def absent_opponents(state: RoomState, viewer: str) -> dict[str, int]:
    """Return the marks of opponents who dropped from the running game, each with the ms that their seat is still held.

    Empty for watchers, and outside a game.
    """
    own = seat_of(state, viewer)
    if own is None or state.status != "playing":
        return {}
    return {
        mark: seat.hold_ms
        for mark, seat in state.seats.items()
        if seat is not None and mark != own and not seat.online and not seat.left and isinstance(seat.hold_ms, int)
    }


def describe_claim(state: RoomState, viewer: str) -> str:
    """Return that the seats of opponents who are gone may be claimed, and how."""
    names = " and ".join(name_of(state, mark) for mark in absent_opponents(state, viewer))
    verb = "have" if " and " in names else "has"
    draw = ", claim draw to call it a draw" if len(state.seats) == 2 else ""
    return f"{names} {verb} been gone too long. Type claim to take the win{draw}, or just wait."
