"""How what is open in a room is answered and chosen by typing, in sentences. What is open, the protocol says. Pure."""

from __future__ import annotations

from collections.abc import Collection

from tictactoe_protocol.catalogue import say
from tictactoe_protocol.choices import choices
from tictactoe_protocol.pushes import RoomState
from tictactoe_protocol.wording import join_words, name_of, seat_of


def describe_choices(old: RoomState, new: RoomState, viewer: str) -> list[str]:
    """Return how to answer what is asked since `old`, and that there will be no rematch; nothing for watchers."""
    before = {(question.id, question.marks) for question in choices(old, viewer, None, ()).questions}
    asked = choices(new, viewer, None, ()).questions
    several = ", of several" if len([one for one in asked if one.id in ("draw", "undo", "rematch")]) > 1 else ""
    told = []
    for question in asked:
        if (question.id, question.marks) in before:
            continue
        if question.id in ("draw", "undo"):
            told.append(say(f"answer {question.id}{several}"))
        elif question.id == "rematch":
            told.append(say("answer rematch"))
        elif question.id == "deserted" and old.status == "over":
            told.append(say("no rematch then", ways=describe_ways_on(new, viewer)))
    return told


def can_play_again(state: RoomState) -> bool:
    """Tell whether everybody who played is still in the room, so that there may be a rematch."""
    return not any(seat is None or seat.left for seat in state.seats.values())


def describe_ways_on(state: RoomState, viewer: str) -> str:
    """Return what one may do after the end of a game."""
    deserted = not can_play_again(state)
    if seat_of(state, viewer) is None:
        return say("ways on, watching deserted" if deserted else "ways on, watching")
    return say("ways on, deserted" if deserted else "ways on")


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
    return say("claim possible, or draw" if len(state.seats) == 2 else "claim possible", n=len(marks), names=names)
