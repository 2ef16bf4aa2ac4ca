"""Whose clock runs, and what is left on it: values in, values out; the time comes in as an argument.

A side's clock does not run for its first move, and that move earns no increment; from its second move on it runs
whenever it is that side's turn. With a clock for each move every turn starts afresh. Time that was used is gone: what
a clock shows is what it keeps when its turn ends without a move.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_protocol.pushes import ClockState
from tictactoe_protocol.requests import ClockFields
from tictactoe_server.rooms.room import Room


def full_clocks(clock: ClockFields | None, marks: str) -> dict[str, int]:
    """Return what each mark has at the start of a game, in ms; empty where there is no clock."""
    return {} if clock is None else dict.fromkeys(marks, _allowance(clock))


def remaining_after_move(room: Room, mark: str, now: int) -> dict[str, int]:
    """Return what each mark has once `mark` has moved."""
    clock = room.clock
    if clock is None or room.clock_started_at is None:
        return room.remaining_ms
    if clock.move_ms is not UNSET:
        return {**room.remaining_ms, mark: clock.move_ms}
    increment = 0 if clock.increment_ms is UNSET else clock.increment_ms
    return {**room.remaining_ms, mark: time_left(room, mark, now) + increment}


def remaining_when_stopped(room: Room, now: int) -> dict[str, int]:
    """Return what each mark has when the running clock is stopped without a move."""
    turn = room.position.turn
    if room.clock_started_at is None or turn is None:
        return room.remaining_ms
    return {**room.remaining_ms, turn: time_left(room, turn, now)}


def remaining_after_undo(room: Room, now: int) -> dict[str, int]:
    """Return what each mark has once moves were taken back: the time they took is not given back."""
    if room.clock is None or room.clock.move_ms is not UNSET:
        return full_clocks(room.clock, room.rules.marks)
    return remaining_when_stopped(room, now)


def start_of_turn(room: Room, position: Position, now: int) -> int | None:
    """Return when the clock of the player to move starts, or None where it does not run in this position."""
    turn = position.turn
    runs = room.clock is not None and turn is not None and position.stones(turn) != 0
    return now if runs else None


def seen_at(room: Room, before: Room, now: int) -> Room:
    """Return the room with the clock of a turn that began with this change running from `now`, when all can see it."""
    if room.clock_started_at is None or room.clock_started_at >= now or room.position is before.position:
        return room
    return replace(room, clock_started_at=now)


def time_left(room: Room, mark: str, now: int) -> int:
    """Return what a mark has left, at least 0."""
    left = room.remaining_ms[mark]
    if room.clock_started_at is not None and mark == room.position.turn:
        left -= max(0, now - room.clock_started_at)
    return max(0, left)


def expires_at(room: Room) -> int | None:
    """Return when the running clock runs out, or None where none runs."""
    turn = room.position.turn
    if room.clock_started_at is None or turn is None or room.status != "playing":
        return None
    return room.clock_started_at + room.remaining_ms[turn]


def is_expired(room: Room, now: int) -> bool:
    """Tell whether the running clock has run out."""
    end = expires_at(room)
    return end is not None and now >= end


def clock_state(room: Room, now: int) -> ClockState | None:
    """Return what the wire says of the clocks, or None where the room has none."""
    if room.clock is None:
        return None
    remaining = {mark: time_left(room, mark, now) for mark in room.rules.marks}
    return ClockState(remaining, room.position.turn if expires_at(room) is not None else None)


def _allowance(clock: ClockFields) -> int:
    if clock.move_ms is not UNSET:
        return clock.move_ms
    return 0 if clock.initial_ms is UNSET else clock.initial_ms
