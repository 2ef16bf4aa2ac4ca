"""What others may see of a room: the state that is broadcast, and its row in the list of public rooms."""

from __future__ import annotations

from functools import lru_cache

from tictactoe_engine import Rules
from tictactoe_protocol.pushes import RoomState, RoomSummary, RulesState, SeatState
from tictactoe_server.rooms.room import Room, Seat


def state_of(room: Room, now: int, *, watchers: int, hold_ms: int) -> RoomState:
    """Return the whole state, the same for everybody; `now` as in `Room.apply`, `hold_ms` how long seats are kept."""
    position = room.position
    return RoomState(
        room.code,
        room.seq,
        room.status,
        room.visibility,
        room.game,
        _rules_state(room.rules),
        position.board,
        position.ply,
        position.turn if room.status == "playing" else None,
        position.last,
        _seats_of(room, now, hold_ms),
        room.result,
        room.offers,
        None,
        watchers,
        room.score,
    )


def summary_of(room: Room, now: int, *, watchers: int, hold_ms: int) -> RoomSummary:
    """Return the room's row in the list of public rooms."""
    return RoomSummary(
        room.code,
        room.status,
        _rules_state(room.rules),
        room.clock,
        _seats_of(room, now, hold_ms),
        room.position.ply,
        watchers,
        max(0, now - room.opened_at),
    )


def _seats_of(room: Room, now: int, hold_ms: int) -> dict[str, SeatState | None]:
    return {
        mark: None if seat is None else _seat_state(seat, now, hold_ms)
        for mark, seat in zip(room.rules.marks, room.seats, strict=True)
    }


def _seat_state(seat: Seat, now: int, hold_ms: int) -> SeatState:
    if seat.left:
        return SeatState(seat.player, seat.name, False, seat.bot, left=True)
    if seat.gone_at is None:
        return SeatState(seat.player, seat.name, True, seat.bot)
    return SeatState(seat.player, seat.name, False, seat.bot, hold_ms=max(0, seat.gone_at + hold_ms - now))


@lru_cache(maxsize=1024)
def _rules_state(rules: Rules) -> RulesState:
    return RulesState.of(rules)
