"""The clocks in a room.

- A player's clock runs from the player's second move on. The first move, or the choice in an opening, has a separate
  time limit and earns no increment.
- With a clock for each move, every turn starts with the full time.
- If a turn ends without a move, the player keeps the time that was left.
- The time for a first move stops while the absent player's seat is held, unless the `absence` term is "loses".
- After a server restart, moves may be played while the clocks are stopped; see `StandStill`.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_protocol.terms import ClockFields, ClockState
from tictactoe_server.rooms.room import GoOn, Player, Room, StandStill


def full_clocks(clock: ClockFields | None, marks: str) -> dict[str, int]:
    """Return the time of each mark at the start of a game (ms), or an empty dict without a clock."""
    return {} if clock is None else dict.fromkeys(marks, clock.move_ms or clock.initial_ms or 0)


def remaining_after_turn(room: Room, now: int, *, has_moved: bool = False) -> dict[str, int]:
    """Return the remaining time of each mark if the current turn ends now (ms)."""
    clock, turn = room.clock, room.position.turn
    started_at = now if room.stands_still else room.clock_started_at
    if clock is None or started_at is None or turn is None or is_first_move(room):
        return room.remaining_ms
    left = max(0, room.remaining_ms[turn] - max(0, now - started_at))
    if has_moved:
        left = clock.move_ms or left + (clock.increment_ms or 0)
    return {**room.remaining_ms, turn: left}


def remaining_after_undo(room: Room, now: int) -> dict[str, int]:
    """Return the remaining time of each mark after an undo (ms). Only a clock for each move starts again in full."""
    if room.clock is None or room.clock.move_ms:
        return full_clocks(room.clock, room.rules.marks)
    return remaining_after_turn(room, now)


def turn_to(room: Room, position: Position, remaining_ms: dict[str, int], now: int, **changes: Any) -> Room:
    """Return the room with a new position, whose turn begins at `now`."""
    runs = room.clock is not None and position.turn is not None and not room.stands_still
    started_at = now if runs else None
    return replace(room, position=position, remaining_ms=remaining_ms, clock_started_at=started_at, **changes)


def is_first_move(room: Room) -> bool:
    """Return True if the player to move has not moved in this game yet."""
    position = room.position
    if position.turn is None or (len(position.moves) >= len(room.seats) and room.rules.opening is None):
        return False
    return not position.has_acted(position.turn)


def begin_turn(room: Room, now: int) -> Room:
    """Return the room with its clock started if the game is running."""
    if room.clock is None or room.clock_started_at is not None or room.status != "playing":
        return room
    return replace(room, clock_started_at=now)


def resume_turn(room: Room, mark: str, now: int) -> Room:
    """Return the room with a returning player's time for a first move extended by the absence."""
    started_at = room.clock_started_at
    if started_at is None or mark != room.position.turn or not is_first_move(room):
        return room
    return replace(room, clock_started_at=started_at + _stood_still(room, mark, started_at, now))


def stand_still(room: Room, player: Player, command: StandStill, now: int) -> Room:
    """Return the room with its clock stopped, if the room's terms allow it."""
    if not room.terms.stands_still or room.clock_started_at is None:
        return room
    return replace(room, remaining_ms=remaining_after_turn(room, now), clock_started_at=None)


def go_on(room: Room, player: Player, command: GoOn, now: int) -> Room:
    """Return the room with its clock running again."""
    if not room.stands_still:
        return room
    return replace(room, clock_started_at=now, gone_at=dict.fromkeys(room.gone_at, now))


def seen_at(room: Room, before: Room, now: int) -> Room:
    """Return the room with the clock of a new turn started at `now`, when the new position is broadcast."""
    if room.clock_started_at is None or room.clock_started_at >= now or room.position is before.position:
        return room
    return replace(room, clock_started_at=now)


def expires_at(room: Room, *, with_hold: bool = True) -> int | None:
    """Return when the time for the current turn ends (ms of served time), or None if no clock is running.

    A first move is due within `start_ms`. If absence is excused, it is due within the time for each move if that is
    longer, and the time of the absence is added.

    Args:
        with_hold: Return the end of an absent player's hold instead, if that is earlier and loses the game.
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
    """Return the end of the absent player's hold and the player's mark, or None unless exactly one player is absent."""
    held = [(until, mark) for mark in room.seats if (until := room.held_until(mark)) is not None]
    return held[0] if len(held) == 1 else None


def is_expired(room: Room, now: int) -> bool:
    """Return True if the time for this turn has expired."""
    end = expires_at(room)
    return end is not None and now >= end


def clock_state(room: Room, now: int) -> ClockState | None:
    """Return the clocks as they are sent to clients, or None without a clock."""
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
    """Return how long the time for a first move is stopped until `now` (ms), by default until the end of the hold."""
    held_until = room.held_until(mark)
    if held_until is None:
        return 0
    until = held_until if now is None else min(now, held_until)
    return max(0, until - max(held_until - room.hold_ms, started_at))
