"""The public views of a room: the state that is broadcast, and the row in the list of public rooms."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from msgspec import UNSET, Raw
from msgspec.structs import replace

from tictactoe_engine import Rules
from tictactoe_protocol import encode
from tictactoe_protocol.pushes import RoomState, RoomSummary, SeatState, opening_state
from tictactoe_protocol.terms import RulesState
from tictactoe_server.rooms.clock import clock_state
from tictactoe_server.rooms.room import Room


@lru_cache(maxsize=1024)
def rules_state(rules: Rules) -> RulesState:
    """Return the rules as they are sent to clients, cached."""
    return RulesState.of(rules)


def state_of(room: Room, now: int, *, watchers: int) -> RoomState:
    """Return the state that is sent to players and watchers; `now` is in ms of served time."""
    return _state(room, now, watchers, rules_state(room.rules), _seats_of(room, now))


class StateEncoder:
    """Encodes the states of a room, caching the fields that moves do not change.

    In a game without a clock or absent players, a move changes only five fields of the state. `_parts` caches the text
    around these fields until another field changes.
    """

    def __init__(self, room: Room) -> None:
        self._rules = Raw(encode(rules_state(room.rules)))
        self._text = b""
        self._parts: list[str] = []
        self._before: Room | None = None
        self._watchers_before = 0
        self._seats_of: object = None
        self._seats = b""

    def encode(self, room: Room, now: int, watchers: int) -> bytes:
        """Return the result of `state_of` as JSON."""
        before, position = self._before, room.position
        if room.happened or room.gone_at or position.passed:
            return self._encode_whole(room, now, watchers)
        if (
            before is None
            or room.seats is not before.seats
            or room.score is not before.score
            or room.offers is not before.offers
            or room.result is not before.result
            or room.game != before.game
            or watchers != self._watchers_before
        ):
            if room.clock is not None or room.rules.opening is not None or None in room.seats.values():
                return self._encode_whole(room, now, watchers)
            self._before, self._watchers_before = room, watchers
            self._text = self._text or _text_of(room, self._rules)
            text = self._text % (
                b'"playing"' if room.result is None else b'"over"',
                room.game,
                self._encoded(room.seats),
                encode(room.result),
                encode(room.offers),
                watchers,
                encode(room.score),
                b',"game_id":"%b"' % room.game_id.encode() if room.result is not None and room.kept_at else b"",
            )
            self._parts = text.decode().split(_PLACE)
        to_seq, to_board, to_ply, to_turn, to_last, rest = self._parts
        moves = position.moves
        turn = f'"{position.turn}"' if room.result is None else "null"
        last = moves[-1] if moves else "null"
        return (
            f"{to_seq}{room.seq}{to_board}{position.board}{to_ply}{len(moves)}{to_turn}{turn}{to_last}{last}{rest}"
        ).encode()

    def _encode_whole(self, room: Room, now: int, watchers: int) -> bytes:
        seats = Raw(self._encoded(_seats_of(room, now)))
        return encode(_state(room, now, watchers, self._rules, seats))

    def _encoded(self, seats: dict[str, SeatState | None]) -> bytes:
        """Return the JSON of the seats, cached."""
        if seats is not self._seats_of:
            self._seats, self._seats_of = encode(seats), seats
        return self._seats


_PLACE: Final = "\1"  # a character that JSON never contains


def _text_of(room: Room, rules: Raw) -> bytes:
    """Return a format string for a room's states, with a `_PLACE` for each of the five fields that moves change.

    The last format field is for the id of the game. It is left empty until the game is over and stored.
    """
    place, text, number = Raw(_PLACE.encode()), Raw(b"\2"), Raw(b"\3")
    of_each: dict[str, Any] = dict.fromkeys(("seq", "ply", "turn", "last"), place) | {"board": Raw(b'"\1"')}
    of_most = dict.fromkeys(("status", "result", "offers", "score"), text) | dict.fromkeys(("game", "watchers"), number)
    state = encode(replace(_state(room, 0, 0, rules, text), **of_each, **of_most, game_id=UNSET))
    return state[:-1].replace(b"%", b"%%").replace(b"\2", b"%b").replace(b"\3", b"%d") + b"%b}"


def _state(room: Room, now: int, watchers: int, rules: Any, seats: Any) -> RoomState:
    position, moves = room.position, room.position.moves
    is_over, is_waiting = room.result is not None, None in room.seats.values()
    state = RoomState(
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
        room.score,
        room.clock,
        UNSET if room.analysis == "closed" else room.analysis,
        UNSET if room.chat == "all" else room.chat,
        room.happened or UNSET,
        UNSET if room.rules.opening is None or is_over else opening_state(position),
        position.chosen or UNSET,
    )
    more = room.purpose.fields_of(RoomState) if room.purpose.fields else {}
    if is_over and room.kept_at:
        more["game_id"] = room.game_id
    return replace(state, **more) if more else state  # always passing keyword arguments is slower


def summary_of(room: Room, now: int, *, watchers: int, ply: int) -> RoomSummary:
    """Return the room's row in the list of public rooms. `ply` is an argument: other servers' rooms lack moves."""
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
        **room.purpose.fields_of(RoomSummary),
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
