"""What stands open between the players, and what the viewer may do about it in words; pure.

The announcer says that something was offered; this says how to answer, and when an absent opponent's seat falls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from tictactoe_client.text.wording import join_words, name_of, seat_of
from tictactoe_engine import format_cell
from tictactoe_protocol.pushes import RoomState

OfferKind = Literal["draw", "undo", "rematch"]


def is_asked(state: RoomState, viewer: str, by: str | None) -> bool:
    """Tell whether an offer by the mark `by` is one for the viewer to answer."""
    own = seat_of(state, viewer)
    return own is not None and by is not None and by != own


def open_offers(state: RoomState, viewer: str) -> list[OfferKind]:
    """Return which offers wait for the viewer's answer."""
    found: list[OfferKind] = []
    if is_asked(state, viewer, state.offers.draw):
        found.append("draw")
    if is_asked(state, viewer, state.offers.undo):
        found.append("undo")
    own = seat_of(state, viewer)
    if own is not None and state.offers.rematch and own not in state.offers.rematch:
        found.append("rematch")
    return found


def describe_take_back(state: RoomState, asker: str, moves: Sequence[int] | None = None) -> str:
    """Return what would be taken back if the mark `asker` asks: ``B2``, or with the other's answer to it ``B2 and C3``.

    `moves` are all cells of the game in order; where they are not known, two moves go by their number alone.
    """
    count = 1 if state.last is not None and state.board[state.last] == asker else 2
    if moves is None or len(moves) != state.ply:
        moves = () if state.last is None else (state.last,)
    return name_moves(moves[-count:] if len(moves) >= count else (), count, state)


def name_moves(cells: Sequence[int], count: int, state: RoomState) -> str:
    """Return the cells of the last `count` moves by name, or their number where they are not known."""
    rules = state.rules.to_rules()
    return join_words([format_cell(cell, rules) for cell in cells]) or f"the last {count} moves"


def describe_choices(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return how to answer the offers that are new since `old`; nothing for watchers."""
    told, asked = [], open_offers(new, viewer)
    if new.offers.draw != old.offers.draw and is_asked(new, viewer, new.offers.draw):
        told.append(f"Type {_or_yes('draw', asked)} to accept, {_or_no('draw', asked)} to refuse.")
    if new.offers.undo != old.offers.undo and is_asked(new, viewer, new.offers.undo):
        told.append(f"Type {_or_yes('undo', asked)} to let them, {_or_no('undo', asked)} to refuse.")
    own = seat_of(new, viewer)
    if own is not None and own not in new.offers.rematch and set(new.offers.rematch) - set(old.offers.rematch):
        told.append("Type rematch or yes to accept.")
    if own is not None and old.status == "over" and can_play_again(old) and not can_play_again(new):
        told.append(f"No rematch, then. {describe_ways_on(new, viewer)}")
    return told


def _or_yes(kind: OfferKind, asked: list[OfferKind]) -> str:
    """Return what to type for an offer: a bare word where it is the only one."""
    return "yes" if asked == [kind] else kind


def _or_no(kind: OfferKind, asked: list[OfferKind]) -> str:
    return "no" if asked == [kind] else f"{kind} decline"


def can_play_again(state: RoomState) -> bool:
    """Tell whether everybody who played is still in the room, so that there may be a rematch."""
    return not any(seat is None or seat.left for seat in state.seats.values())


def describe_ways_on(state: RoomState, viewer: str) -> str:
    """Return what one may do after the end of a game."""
    if seat_of(state, viewer) is None:
        return "A rematch will be shown here. Type leave to go." if can_play_again(state) else "Type leave to go."
    return "Rematch? Type rematch, new or leave." if can_play_again(state) else "Type new or leave."


def cost_of_going(state: RoomState, viewer: str, *, aborts: bool) -> Literal["", "abort", "lose"]:
    """Return what the viewer does to a game by going away: "" where it does not run, or they are out of it.

    With `aborts` the server calls a game of two off as long as not everybody has moved.
    """
    own = seat_of(state, viewer)
    playing = [mark for mark, seat in state.seats.items() if seat is not None and not seat.out]
    if state.status != "playing" or own not in playing:
        return ""
    is_beginning = any(mark not in state.board for mark in playing)
    return "abort" if aborts and is_beginning and len(playing) == 2 else "lose"


def absent_opponents(state: RoomState, viewer: str) -> dict[str, int]:
    """Return the marks of opponents who dropped from the running game, each with the ms that their seat is still held.

    Empty for watchers, and outside a game.
    """
    own = seat_of(state, viewer)
    seat = state.seats.get(own) if own is not None else None
    if seat is None or seat.out or state.status != "playing":
        return {}
    return {
        mark: seat.hold_ms
        for mark, seat in state.seats.items()
        if seat is not None
        and mark != own
        and not (seat.online or seat.left or seat.out)
        and isinstance(seat.hold_ms, int)
    }


def find_absent(state: RoomState) -> frozenset[str]:
    """Return the marks of all who are away, and have not left."""
    return frozenset(mark for mark, seat in state.seats.items() if seat and not (seat.online or seat.left))


def describe_claim(state: RoomState, viewer: str, marks: Iterable[str] | None = None) -> str:
    """Return that the seats of opponents who are gone may be claimed, and how; `marks` names some of them only."""
    absent = absent_opponents(state, viewer) if marks is None else marks
    names = " and ".join(name_of(state, mark) for mark in absent)
    verb = "have" if " and " in names else "has"
    draw = ", claim draw to call it a draw" if len(state.seats) == 2 else ""
    return f"{names} {verb} been gone too long. Type claim to take the win{draw}, or just wait."
