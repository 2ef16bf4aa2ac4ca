"""What others may see of a room: the state that is broadcast, and its row in the list of public rooms."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import RoomState, RoomSummary, SeatState, opening_state
from tictactoe_protocol.terms import RulesState
from tictactoe_server.core.rooms.clock import clock_state
from tictactoe_server.core.rooms.room import Room


@lru_cache(maxsize=1024)
def rules_state(rules: Rules) -> RulesState:
    """Return what the wire and the documents say of `rules`, the same value for equal rules."""
    return RulesState.of(rules)


def state_of(room: Room, now: int, *, watchers: int) -> RoomState:
    """Return the whole state, the same for everybody; `now` as in `apply`."""
    return _state(room, now, watchers, rules_state(room.rules), _seats_of(room, now), room.score)


class StateEncoder:
    """Encodes the states of one room; what moves do not change of them is encoded once."""

    def __init__(self, room: Room) -> None:
        self._rules = Raw(encode(rules_state(room.rules)))
        self._seats_of: object = None
        self._score_of: object = None
        self._seats = self._score = Raw(b"")

    def encode(self, room: Room, now: int, watchers: int) -> bytes:
        """Return the JSON of a state as `state_of` makes it."""
        if room.seats is not self._seats_of:
            self._seats, self._seats_of = Raw(encode(room.seats)), room.seats
        if room.score is not self._score_of:
            self._score, self._score_of = Raw(encode(room.score)), room.score
        as_they_are = not room.gone_at and not room.position.passed
        seats = self._seats if as_they_are else _seats_of(room, now)
        return encode(_state(room, now, watchers, self._rules, seats, self._score))


def _state(room: Room, now: int, watchers: int, rules: Any, seats: Any, score: Any) -> RoomState:
    """Return the whole state of parts that may be encoded already."""
    position, moves = room.position, room.position.moves
    is_over, is_waiting = room.result is not None, None in room.seats.values()
    return RoomState(
        room.code,
        room.seq,
        "over" if is_over else "waiting" if is_waiting else "playing",
        room.visibility,
        room.game,
        rules,
        position.board,
        len(moves),
        None if is_over or is_waiting else position.turn,
        moves[-1] if moves else None,
        seats,
        room.result,
        room.offers,
        None if room.clock is None else clock_state(room, now),
        watchers,
        score,
        room.clock,
        UNSET if room.analysis == "closed" else room.analysis,
        UNSET if room.chat == "all" else room.chat,
        room.happened or UNSET,
        UNSET if room.rules.opening is None or is_over else opening_state(position),
        position.chosen or UNSET,
        room.event or UNSET,
        room.pairing or UNSET,
        UNSET if room.result is None else room.game_id or UNSET,
    )


def summary_of(room: Room, now: int, *, watchers: int, ply: int) -> RoomSummary:
    """Return the room's row in the list of public rooms; `ply` is how many moves it has, which `room` need not know."""
    return RoomSummary(
        room.code,
        room.status,
        rules_state(room.rules),
        room.clock,
        _seats_of(room, now),
        ply,
        watchers,
        max(0, now - room.opened_at),
        UNSET if room.analysis == "closed" else room.analysis,
    )


def _seats_of(room: Room, now: int) -> dict[str, SeatState | None]:
    passed = room.position.passed
    if not room.gone_at and not passed:
        return room.seats
    seats = dict(room.seats)
    for _, mark in passed:
        seats[mark] = replace(room.seat(mark), out=True)
    for mark, seat in seats.items():
        hold_ms = None if seat is None else room.hold_left(mark, now)
        if seat is not None and hold_ms is not None:
            seats[mark] = replace(seat, hold_ms=hold_ms)
    return seats
