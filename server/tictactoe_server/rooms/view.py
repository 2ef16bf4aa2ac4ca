"""What others may see of a room: the state that is broadcast, and its row in the list of public rooms."""

from __future__ import annotations

from functools import lru_cache

from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol.pushes import RoomState, RoomSummary, RulesState, SeatState
from tictactoe_server.rooms.room import Room


@lru_cache(maxsize=1024)
def rules_state(rules: Rules) -> RulesState:
    """Return what the wire and the documents say of `rules`, the same value for equal rules."""
    return RulesState.of(rules)


def state_of(room: Room, now: int, *, watchers: int, hold_ms: int) -> RoomState:
    """Return the whole state, the same for everybody; `now` as in `Room.apply`, `hold_ms` how long seats are kept."""
    position, status = room.position, room.status
    return RoomState(
        room.code,
        room.seq,
        status,
        room.visibility,
        room.game,
        rules_state(room.rules),
        position.board,
        position.ply,
        position.turn if status == "playing" else None,
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
        rules_state(room.rules),
        room.clock,
        _seats_of(room, now, hold_ms),
        room.position.ply,
        watchers,
        max(0, now - room.opened_at),
    )


def _seats_of(room: Room, now: int, hold_ms: int) -> dict[str, SeatState | None]:
    if not room.gone_at:
        return room.seats
    seats = dict(room.seats)
    for mark, seat in room.seats.items():
        if seat is not None and seat.player in room.gone_at and not seat.left:
            seats[mark] = replace(seat, hold_ms=max(0, room.gone_at[seat.player] + hold_ms - now))
    return seats
