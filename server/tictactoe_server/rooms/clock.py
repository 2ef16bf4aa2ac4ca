"""Whose clock runs, and what is left on it: values in, values out; the time comes in as an argument.

A side's clock does not run for its first move, and that move earns no increment; from its second move on it runs
whenever it is that side's turn. With a clock for each move every turn starts afresh. Time that was used is gone: what
a clock shows is what it keeps when its turn ends without a move.

A choice in an opening counts as a move. In place of the clock, a first move has a time of its own, which stands still
while the player's seat is held. By terms under which `absence` loses it never does; and once both have moved there, the
end of a hold is noticed as that of a turn is, while the opponent is here. Where time stands still after a start of the
server, see `StandStill`, moves may be played meanwhile.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_protocol.terms import ClockFields, ClockState
from tictactoe_server.rooms.room import GoOn, Player, Room, StandStill


def full_clocks(clock: ClockFields | None, marks: str) -> dict[str, int]:
    """Return what each mark has at the start of a game, in ms; empty where there is no clock."""
    return {} if clock is None else dict.fromkeys(marks, clock.move_ms or clock.initial_ms or 0)


def remaining_after_turn(room: Room, now: int, *, has_moved: bool = False) -> dict[str, int]:
    """Return what each mark has once the running turn has ended, with a move or without."""
    clock, turn = room.clock, room.position.turn
    started_at = now if room.stands_still else room.clock_started_at
    if clock is None or started_at is None or turn is None or is_first_move(room):
        return room.remaining_ms
    left = max(0, room.remaining_ms[turn] - max(0, now - started_at))
    if has_moved:
        left = clock.move_ms or left + (clock.increment_ms or 0)
    return {**room.remaining_ms, turn: left}


def remaining_after_undo(room: Room, now: int) -> dict[str, int]:
    """Return what each mark has once moves were taken back: the time they took is not given back."""
    if room.clock is None or room.clock.move_ms:
        return full_clocks(room.clock, room.rules.marks)
    return remaining_after_turn(room, now)


def turn_to(room: Room, position: Position, remaining_ms: dict[str, int], now: int, **changes: Any) -> Room:
    """Return the room with another position, and the time of the player to move there beginning to run."""
    runs = room.clock is not None and position.turn is not None and not room.stands_still
    started_at = now if runs else None
    return replace(room, position=position, remaining_ms=remaining_ms, clock_started_at=started_at, **changes)


def is_first_move(room: Room) -> bool:
    """Tell whether the player to move has not moved in this game yet: the time that runs is that for a first move."""
    position = room.position
    if position.turn is None or (len(position.moves) >= len(room.seats) and room.rules.opening is None):
        return False
    return not position.has_acted(position.turn)


def begin_turn(room: Room, now: int) -> Room:
    """Return the room with the time for this turn running, where the game is on and that does not run yet."""
    if room.clock is None or room.clock_started_at is not None or room.status != "playing":
        return room
    return replace(room, clock_started_at=now)


def resume_turn(room: Room, mark: str, now: int) -> Room:
    """Return the room with the time for a first move put off by as long as it stood still for a player who is back."""
    started_at = room.clock_started_at
    if started_at is None or mark != room.position.turn or not is_first_move(room):
        return room
    return replace(room, clock_started_at=started_at + _stood_still(room, mark, started_at, now))


def stand_still(room: Room, player: Player, command: StandStill, now: int) -> Room:
    """Return the room with nothing due and the time that was used taken off; this very room by terms without that."""
    if not room.terms.stands_still or room.clock_started_at is None:
        return room
    return replace(room, remaining_ms=remaining_after_turn(room, now), clock_started_at=None)


def go_on(room: Room, player: Player, command: GoOn, now: int) -> Room:
    """Return the room with its time running again, this very room where it runs."""
    if not room.stands_still:
        return room
    return replace(room, clock_started_at=now, gone_at=dict.fromkeys(room.gone_at, now))


def seen_at(room: Room, before: Room, now: int) -> Room:
    """Return the room with the clock of a turn that began with this change running from `now`, when all can see it."""
    if room.clock_started_at is None or room.clock_started_at >= now or room.position is before.position:
        return room
    return replace(room, clock_started_at=now)


def expires_at(room: Room, *, with_hold: bool = True) -> int | None:
    """Return when the time for this turn runs out, or a hold `with_hold` that loses; None where none runs.

    A first move is due within `start_ms`; where absence is excused within the time for a move, if that is longer.
    """
    clock, started_at, turn = room.clock, room.clock_started_at, room.position.turn
    if clock is None or started_at is None or turn is None or room.result is not None:
        return None
    loses = room.terms.absence == "loses"
    if not is_first_move(room):
        end = started_at + room.remaining_ms[turn]
        hold = end_of_hold(room) if with_hold and loses and room.gone_at else None
        return end if hold is None else min(end, hold[0])
    if loses:
        return started_at + room.start_ms
    return started_at + max(room.start_ms, clock.move_ms or 0) + _stood_still(room, turn, started_at)


def end_of_hold(room: Room) -> tuple[int, str] | None:
    """Return when the seat of the one who is away ends to be held, and its mark; None where nobody or all are away."""
    held = [(until, mark) for mark in room.seats if (until := room.held_until(mark)) is not None]
    return held[0] if len(held) == 1 else None


def is_expired(room: Room, now: int) -> bool:
    """Tell whether the time for this turn has run out."""
    end = expires_at(room)
    return end is not None and now >= end


def clock_state(room: Room, now: int) -> ClockState | None:
    """Return what the wire says of the clocks, or None where the room has none."""
    if room.clock is None:
        return None
    remaining, turn, end = room.remaining_ms, room.position.turn, expires_at(room, with_hold=False)
    if end is None or turn is None:
        return ClockState(remaining, None)
    if is_first_move(room):
        held_until = room.held_until(turn) if room.terms.absence == "excused" else None
        return ClockState(remaining, None, max(0, end - max(now, held_until or 0)))
    return ClockState({**remaining, turn: max(0, min(remaining[turn], end - now))}, turn)


def _stood_still(room: Room, mark: str, started_at: int, now: int | None = None) -> int:
    """Return for how many ms the time for a first move stands still, as its player is away: by `now`, or in the end."""
    held_until = room.held_until(mark)
    if held_until is None:
        return 0
    until = held_until if now is None else min(now, held_until)
    return max(0, until - max(held_until - room.hold_ms, started_at))
