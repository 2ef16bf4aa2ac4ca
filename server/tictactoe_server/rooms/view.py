"""What others may see of a room: the state that is broadcast, and its row in the list of public rooms."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

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
    """Return what the wire and the documents say of `rules`, the same value for equal rules."""
    return RulesState.of(rules)


def state_of(room: Room, now: int, *, watchers: int) -> RoomState:
    """Return the whole state, the same for everybody; `now` as in `apply`."""
    return _state(room, now, watchers, rules_state(room.rules), _seats_of(room, now), room.score)


class StateEncoder:
    """Encodes the states of one room; what does not change of them is encoded once.

    Most are of a game without a clock in which everybody is there: these are one text with places for what differs.
    After most moves all is as in the state before but for five fields, so there is a text with places for these alone,
    with all else as in the state of `_before`.
    """

    def __init__(self, room: Room, encode_seats: Callable[[dict[str, SeatState | None]], bytes] = encode) -> None:
        self._encode_seats = encode_seats
        self._rules = Raw(encode(rules_state(room.rules)))
        self._text = self._text_with_id = self._text_of_moves = b""
        self._before: Room | None = None
        self._watchers_before = 0
        self._seats_of: object = None
        self._seats = b""

    def encode(self, room: Room, now: int, watchers: int) -> bytes:
        """Return the JSON of a state as `state_of` makes it."""
        before, position = self._before, room.position
        moves, turn = position.moves, position.turn
        if (
            before is not None
            and room.seats is before.seats
            and room.score is before.score
            and room.offers is before.offers
            and room.game == before.game
            and watchers == self._watchers_before
            and moves
            and turn is not None
            and not (room.result is not None or room.happened or room.gone_at or position.passed)
        ):
            return self._text_of_moves % (room.seq, position.board.encode(), len(moves), turn.encode(), moves[-1])
        is_usual = room.clock is None and room.rules.opening is None and None not in room.seats.values()
        if not is_usual or room.gone_at or room.happened or position.passed:
            seats = Raw(self._encoded(_seats_of(room, now)))
            return encode(_state(room, now, watchers, self._rules, seats, room.score))
        result = room.result
        parts = (
            room.seq,
            b'"playing"' if result is None else b'"over"',
            room.game,
            position.board.encode(),
            len(moves),
            encode(turn) if result is None else b"null",
            b"%d" % moves[-1] if moves else b"null",
            self._encoded(room.seats),
            b"null" if result is None else encode(result),
            encode(room.offers),
            watchers,
            encode(room.score),
        )
        if result is not None and room.kept_at:
            self._text_with_id = self._text_with_id or _text_of(room, self._rules, has_id=True)
            return self._text_with_id % (*parts, room.game_id.encode())
        self._text = self._text or _text_of(room, self._rules)
        text = self._text % parts
        if result is None and moves:
            self._before, self._watchers_before, self._text_of_moves = room, watchers, _text_around(text)
        return text

    def _encoded(self, seats: dict[str, SeatState | None]) -> bytes:
        """Return the JSON of the seats, which is made once while they are the same."""
        if seats is not self._seats_of:
            self._seats, self._seats_of = self._encode_seats(seats), seats
        return self._seats

    def forget_seats(self) -> None:
        """Encode the seats anew, as more or something else is to be said of them."""
        self._seats_of = self._before = None


def _text_of(room: Room, rules: Raw, *, has_id: bool = False) -> bytes:
    """Return the text of a room's states, with places for what differs between them in the order of the fields.

    The places are characters first that no text in JSON has.
    """
    text, quoted, number = Raw(b"\1"), Raw(b'"\1"'), Raw(b"\2")
    places: dict[str, Any] = dict.fromkeys(("status", "turn", "last", "result", "offers"), text)
    places |= dict.fromkeys(("seq", "game", "ply", "watchers"), number)
    id = quoted if has_id else UNSET
    state = replace(_state(room, 0, 0, rules, text, text), **places, board=quoted, game_id=id)
    return encode(state).replace(b"%", b"%%").replace(b"\1", b"%b").replace(b"\2", b"%d")


def _text_around(state: bytes) -> bytes:
    """Return the text of a state with places for its number, its board, how many moves there are, turn and last move.

    No name can be taken for a field: a quotation mark within a string has a backslash before it.
    """
    number = state.index(b'"seq":') + 6
    board = state.index(b'"board":"') + 9
    parts = state[:number], state[state.index(b",", number) : board], state[state.index(b',"seats":', board) :]
    before, between, behind = (part.replace(b"%", b"%%") for part in parts)
    return b'%b%%d%b%%b","ply":%%d,"turn":"%%b","last":%%d%b' % (before, between, behind)


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
