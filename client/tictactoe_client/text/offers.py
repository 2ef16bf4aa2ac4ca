"""What stands open between the players, and what the viewer may do about it in words; pure.

That something was offered is news; this says how to answer, and when an absent opponent's seat falls.
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
    kinds: tuple[OfferKind, ...] = ("draw", "undo")
    found = [kind for kind in kinds if is_asked(state, viewer, getattr(state.offers, kind))]
    own, rematch = seat_of(state, viewer), state.offers.rematch
    return [*found, "rematch"] if own is not None and rematch and own not in rematch else found


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
    for kind in asked:
        yes, no = ("yes", "no") if len(asked) == 1 else (kind, f"{kind} decline")
        if getattr(new.offers, kind) == getattr(old.offers, kind):
            continue
        if kind == "rematch":
            told.append("Type rematch or yes to accept.")
        else:
            told.append(f"Type {yes} to {'accept' if kind == 'draw' else 'let them'}, {no} to refuse.")
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
    others = ((mark, seat) for mark, seat in state.seats.items() if seat is not None and mark != own)
    gone = ((mark, seat.hold_ms) for mark, seat in others if not (seat.online or seat.left or seat.out))
    return {mark: hold_ms for mark, hold_ms in gone if isinstance(hold_ms, int)}


def find_absent(state: RoomState) -> frozenset[str]:
    """Return the marks of all who are away, and have not left."""
    return frozenset(mark for mark, seat in state.seats.items() if seat and not (seat.online or seat.left))


def describe_claim(state: RoomState, viewer: str, marks: Iterable[str] | None = None) -> str:
    """Return that the seats of opponents who are gone may be claimed, and how; `marks` names some of them only."""
    absent = absent_opponents(state, viewer) if marks is None else marks
    names = join_words([name_of(state, mark) for mark in absent])
    verb = "have" if " and " in names else "has"
    draw = ", claim draw to call it a draw" if len(state.seats) == 2 else ""
    return f"{names} {verb} been gone too long. Type claim to take the win{draw}, or just wait."
