"""What is open in a room for one who plays there, in sentences; each face shows turn and board in its own way. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from tictactoe_protocol.happened import OfferKind
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import join_words, name_of, seat_of


def open_offers(state: RoomState, viewer: str) -> list[OfferKind]:
    """Return which offers wait for the viewer's answer."""
    own, offers = seat_of(state, viewer), state.offers
    if own is None:
        return []
    kinds: tuple[OfferKind, ...] = ("draw", "undo")
    found = [kind for kind in kinds if getattr(offers, kind) not in (None, own)]
    return [*found, "rematch"] if offers.rematch and own not in offers.rematch else found


def describe_choices(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return how to answer the offers that are new since `old`; nothing for watchers."""
    told, asked = [], open_offers(new, viewer)
    for kind in asked:
        yes, no = ("yes", "no") if len(asked) == 1 else (kind, f"{kind} decline")
        if getattr(new.offers, kind) == getattr(old.offers, kind):
            continue
        accept = f"Type {yes} to {'accept' if kind == 'draw' else 'let them'}, {no} to refuse."
        told.append("Type rematch or yes to accept." if kind == "rematch" else accept)
    is_deserted = old.status == "over" and can_play_again(old) and not can_play_again(new)
    if is_deserted and seat_of(new, viewer) is not None:
        told.append(f"No rematch, then. {describe_ways_on(new, viewer)}")
    return told


def can_play_again(state: RoomState) -> bool:
    """Tell whether everybody who played is still in the room, so that there may be a rematch."""
    return not any(seat is None or seat.left for seat in state.seats.values())


def describe_ways_on(state: RoomState, viewer: str) -> str:
    """Return what one may do after the end of a game."""
    if seat_of(state, viewer) is None:
        return "A rematch will be shown here. Type leave to go." if can_play_again(state) else "Type leave to go."
    return "Rematch? Type rematch, new or leave." if can_play_again(state) else "Type new or leave."


def cost_of_going(state: RoomState, viewer: str, *, aborts: bool) -> Literal["", "abort", "lose"]:
    """Return what going away does to the viewer's game; with `aborts` one of two that just begins is called off."""
    own = seat_of(state, viewer)
    playing = [mark for mark, seat in state.seats.items() if seat is not None and not seat.out]
    if state.status != "playing" or own not in playing:
        return ""
    is_beginning = any(mark not in state.board for mark in playing)
    return "abort" if aborts and is_beginning and len(playing) == 2 else "lose"


def ask_before_going(kind: str, state: RoomState | None, viewer: str, *, aborts: bool) -> str:
    """Return what is asked before what costs the game: ``Resign?``, ``Leave and lose this game?``"""
    cost = "" if state is None else cost_of_going(state, viewer, aborts=aborts)
    return "Resign?" if kind == "resign" else f"Leave and {cost or 'lose'} this game?"


def absent_opponents(state: RoomState, viewer: str) -> dict[str, int]:
    """Return the marks of opponents who dropped from the viewer's running game, and the ms that each seat is held."""
    own = seat_of(state, viewer)
    seat = None if own is None else state.seats[own]
    if seat is None or seat.out or state.status != "playing":
        return {}
    others = ((mark, seat) for mark, seat in state.seats.items() if seat is not None and mark != own)
    gone = ((mark, seat.hold_ms) for mark, seat in others if not (seat.online or seat.left or seat.out))
    return {mark: hold_ms for mark, hold_ms in gone if isinstance(hold_ms, int)}


def find_absent(state: RoomState) -> frozenset[str]:
    """Return the marks of all who are away, and have not left."""
    return frozenset(mark for mark, seat in state.seats.items() if seat and not (seat.online or seat.left))


def describe_claim(state: RoomState, marks: Collection[str]) -> str:
    """Return that the seats of these opponents may be claimed, and how."""
    names = join_words([name_of(state, mark) for mark in marks])
    verb = "have" if len(marks) > 1 else "has"
    draw = ", claim draw to call it a draw" if len(state.seats) == 2 else ""
    return f"{names} {verb} been gone too long. Type claim to take the win{draw}, or just wait."
