"""Who comes, goes and offers what, from one state of a room to the next, in sentences. Pure.

The moves and the results are `announcer`'s, which puts all of it in order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tictactoe_client.text.offers import describe_take_back
from tictactoe_client.text.wording import format_duration, loser_of, name_of, seat_of
from tictactoe_protocol import clean_text
from tictactoe_protocol.pushes import RoomState, SeatState


def announce_arrivals(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return who sat down, came back, or goes by another name; never the viewer."""
    told = []
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is None or seat.player == viewer:
            continue
        if before is not None and before.player != seat.player:
            if before.player != viewer:
                told.append(f"{name_of(old, mark)} has left.")
            before = None
        if before is None:
            told.append(f"{name_of(new, mark)} joins as {mark}.")
            continue
        if clean_text(before.name) != clean_text(seat.name):
            told.append(f"{clean_text(before.name)} is now called {clean_text(seat.name)}.")
        if seat.online and not before.online:
            told.append(f"{name_of(new, mark)} is back.")
    return told


def announce_passed_over(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return who is out of a game that the others play on, and why."""
    told = []
    for mark, seat in new.seats.items():
        before = old.seats.get(mark)
        if seat is not None and seat.out and not (before is not None and before.out):
            subject, verb = ("You", "are") if seat.player == viewer else (name_of(new, mark), "is")
            told.append(f"{subject} {_describe_end_of(new, mark, seat, subject)} and {verb} passed over from now on.")
    return told


def announce_departures(
    old: RoomState, new: RoomState, viewer: str, *, with_hold: bool = True, after_loss: bool = False
) -> list[str]:
    """Return who left or dropped, but for those of whom the result or the passing over tells it.

    `with_hold` adds how long a seat is held, where the line is not kept in sight until that is no longer true. After a
    loss of the viewer's own connection between the states nobody is said to have dropped: it may be the server that was
    lost to all.
    """
    just_over = new.result is not None and old.result is None and new.result.reason == "resigned"
    told = []
    for mark in new.seats:
        before, seat = old.seats.get(mark), new.seats.get(mark)
        if seat is None:
            if before is not None and before.player != viewer:
                told.append(f"{name_of(old, mark)} has left. The seat {mark} is free.")
            continue
        was_here = before is None or before.player != seat.player or before.online
        had_left = before is not None and before.left
        if seat.player == viewer or had_left:
            continue
        if seat.left:
            was_out = before is not None and before.out
            if not (just_over and mark == loser_of(new)) and not (seat.out and not was_out):
                told.append(f"{name_of(new, mark)} left the {'room' if new.status == 'over' else 'game'}.")
        elif not seat.online and was_here:
            is_held = with_hold and bool(seat.hold_ms) and new.status == "playing"
            held = f" Waiting for them: {format_duration(seat.hold_ms)}." if seat.hold_ms and is_held else ""
            told.append(f"{name_of(new, mark)} {'is not here' if after_loss else 'has dropped'}.{held}")
    return told


def announce_offers(
    old: RoomState,
    new: RoomState,
    viewer: str,
    *,
    is_taken_back: bool,
    declined: Collection[str] | None = None,
    moves: Sequence[int] | None = None,
) -> list[str]:
    """Return which offers were made, and which came to nothing by whom; what was agreed shows in the game itself.

    `declined` are the offers, ``draw`` and ``undo``, that the viewer has declined or withdrawn meanwhile: a state does
    not tell who did. `moves` are all cells of the new state's game. Either is None where it is not known. Whoever takes
    moves back ends all offers with it.
    """
    told = []
    for kind in ("draw", "undo"):
        before, now = getattr(old.offers, kind), getattr(new.offers, kind)
        is_granted = new.result is not None or (is_taken_back and kind == "undo")
        if now is not None and now != before:
            taken_back = describe_take_back(new, now, moves) if kind == "undo" else ""
            asks = "offer{} a draw" if kind == "draw" else f"ask{{}} to take back {taken_back}"
            told.append(say_who(new, now, asks, viewer))
        elif before is not None and now is None and not is_granted:
            by_viewer = None if declined is None else kind in declined
            told.append(_say_how_it_ended(old, new, viewer, kind, by_viewer=by_viewer, is_taken_back=is_taken_back))
    for mark in new.offers.rematch:
        if mark not in old.offers.rematch:
            verb = "ask{} for a rematch" if mark == seat_of(new, viewer) else "want{} a rematch"
            told.append(say_who(new, mark, verb, viewer))
    return told


def say_who(state: RoomState, mark: str, verb: str, viewer: str, *, inside: bool = False) -> str:
    """Return a sentence about the viewer or another player; `inside` another one the viewer is not a capital "You"."""
    if mark == seat_of(state, viewer):
        return f"{'you' if inside else 'You'} {verb.format('')}."
    return f"{name_of(state, mark)} {verb.format('s')}."


def _say_how_it_ended(
    old: RoomState, new: RoomState, viewer: str, kind: str, *, by_viewer: bool | None, is_taken_back: bool
) -> str:
    """Return who let an offer come to nothing, and how, as far as it can be told: states may have been skipped."""
    offerer = getattr(old.offers, kind)
    what = "draw offer" if kind == "draw" else "request to take a move back"
    is_gap = new.seq > old.seq + 1
    if is_taken_back:
        return f"The {what} is off." if is_gap else f"The {what} lapses with the taking back."
    mover = new.board[new.last] if new.last is not None and new.ply > old.ply else None
    if mover is not None and (mover != offerer or kind == "undo") and not is_gap:
        return f"The {what} lapses, as {say_who(new, mover, 'play{} on', viewer, inside=True)}"
    active = [mark for mark, seat in new.seats.items() if seat is not None and not (seat.out or seat.left)]
    own = seat_of(new, viewer)
    is_known = mover is None and (by_viewer or (by_viewer is False and not is_gap))
    if not is_known or own not in active or offerer not in active or len(active) != 2:
        return f"The {what} is off."
    doer = own if by_viewer else next(mark for mark in active if mark != own)
    if doer == offerer:
        return say_who(new, doer, f"withdraw{{}} the {what}", viewer)
    return say_who(new, doer, "decline{} the draw" if kind == "draw" else "let{} the move stand", viewer)


def _describe_end_of(state: RoomState, mark: str, seat: SeatState, subject: str) -> str:
    """Return why somebody is out, as far as a state tells."""
    if seat.left:
        return "left the game"
    if state.clock is not None and state.clock.remaining_ms.get(mark) == 0:
        return "ran out of time"
    if not seat.online and seat.hold_ms == 0:
        return "stayed away too long"
    return "resign" if subject == "You" else "resigns"
