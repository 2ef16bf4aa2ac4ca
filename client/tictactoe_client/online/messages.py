"""What the server says, looked through before anything else of the client sees it: a stranger wrote it.

Texts are safe to draw, codes are codes, boards are of their rules: the rest draws and counts without asking again."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from tictactoe_client.online.errors import ProtocolBroken, Refused
from tictactoe_client.online.events import ConnectionEvent
from tictactoe_client.online.stream import Stream
from tictactoe_engine import BLOCKED, FREE, MAX_SIDE, InvalidRules
from tictactoe_protocol import (
    MAX_CHAT_LENGTH,
    MAX_ERROR_BYTES,
    ROOM_CODE_ALPHABET,
    ROOM_CODE_LENGTH,
    BadMessage,
    ErrorCode,
    clean_text,
    decode_push,
    pushes,
)
from tictactoe_protocol.text import MAX_NAME_LENGTH

NAMELESS: Final = "?"
"""The name of whoever has none that can be shown."""
_CODE: Final = re.compile(f"[{ROOM_CODE_ALPHABET}]{{{ROOM_CODE_LENGTH}}}")
_LIMITS: Final = {
    "name": MAX_NAME_LENGTH,
    "from_": MAX_NAME_LENGTH,
    "text": MAX_CHAT_LENGTH,
    "board": MAX_SIDE * MAX_SIDE,
}
_AS_THEY_CAME: Final = frozenset({"id", "token", "record"})
"""Fields of an answer that are never drawn: an id is ours, a token a secret, a record is read by its own parser."""

Said = TypeVar("Said", bound=Struct)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the server: its `text`, and what it means, None if unknown; or an `event` of our connection."""

    text: str
    push: pushes.Push | None
    event: ConnectionEvent | None = None


class Messages(Stream[Message]):
    """Every message of the server in order, beginning with its welcome; of states a reader who lags gets the newest.

    Iterating raises `ConnectionLost` when the connection ends, and stops when the client was closed.
    """

    def __init__(self, welcome: Message) -> None:
        super().__init__()
        self.put(welcome)

    def put(self, item: Message | Exception | None, weight: int = 0) -> None:
        """Add a message, or what ends the stream; of a reader who lags an older state of the room is forgotten."""
        if isinstance(item, Message):
            weight += len(item.text)
            if len(self._items) >= 64 and isinstance(item.push, pushes.RoomState):
                self._forget_state(item.push.room)
        super().put(item, weight)

    def _forget_state(self, room: str) -> None:
        for number in range(len(self._items) - 1, -1, -1):
            item, weight = self._items[number]
            if isinstance(item, Message) and isinstance(item.push, pushes.RoomState) and item.push.room == room:
                self._weight -= weight
                del self._items[number]
                return


def refusal_of(error: pushes.Error, *, server: str | None = None) -> Refused:
    """Return the server's refusal as an exception; `server` is its URL where it refused our hello."""
    retry_ms = None if error.retry_ms is UNSET else error.retry_ms
    room, path = error.room or None, error.path or None
    return Refused(error.code, error.message, room=room, path=path, retry_ms=retry_ms, server=server)


def read_message(text: str) -> Message:
    """Return a message, safe to draw; of a type that this client does not know only the text, since servers may add.

    Raises `ProtocolBroken` for what is no message of the protocol, contradicts itself, or the rules that it names.
    """
    try:
        push = _clean_fields(decode_push(text), _AS_THEY_CAME)
    except BadMessage as bad:
        if bad.code == ErrorCode.UNKNOWN_TYPE:
            return Message(text, None)
        raise _broken(bad.message) from None
    if isinstance(push, pushes.RoomState):  # a turn in a game that is not on, and an early result, mean nothing
        turn, result = push.turn if push.status == "playing" else None, push.result if push.status == "over" else None
        push = replace(push, turn=turn, result=result)
    _inspect(push)
    return Message(text, push)


def _clean(value: Any, limit: int = MAX_ERROR_BYTES) -> Any:
    """Return a value of the wire with every text in it cleaned and cut, having looked through what is in it."""
    if isinstance(value, str):
        cleaned = clean_text(value)
        return cleaned if len(cleaned) <= limit else f"{cleaned[:limit]}…"
    if isinstance(value, int):
        _demand(abs(value) <= 2**53, "a number is out of all bounds")
    elif isinstance(value, tuple):
        return tuple(map(_clean, value))
    elif isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    elif isinstance(value, Struct):
        value = _clean_fields(value)
        _inspect(value)
    return value


def _clean_fields(struct: Said, keeps: frozenset[str] = frozenset()) -> Said:
    cleaned: dict[str, Any] = {}
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        cleaned[name] = value if name in keeps else _clean(value, _LIMITS.get(name, MAX_ERROR_BYTES))
        if name in ("name", "from_") and isinstance(value, str) and not cleaned[name].strip():
            cleaned[name] = NAMELESS
        if name == "room" and value is not UNSET and not isinstance(struct, pushes.Error):
            _demand_codes(cleaned[name])
    return replace(struct, **cleaned)


def _inspect(said: Struct) -> None:
    """Refuse what contradicts itself, or the rules that it names; what stands in it was looked through before."""
    match said:
        case pushes.RulesState():
            try:
                said.to_rules()
            except InvalidRules as invalid:
                raise _broken(f"nobody can play by these rules: {invalid.message}") from None
        case pushes.Welcome(held_ms=held):
            held_ms = held or {}
            _demand(len(said.token) <= 128, "the token is too long")
            _demand_codes(*held_ms)
            _demand(min((said.hold_ms or 0, *held_ms.values())) >= 0, "a seat is held for less than no time")
        case pushes.HeldSeat(seat=seat):
            _demand(_is_mark(seat), "a seat is no mark")
        case pushes.Ok():
            moves = said.moves or ()
            _demand(not said.seat or _is_mark(said.seat), "the seat is no mark")
            _demand(all(0 <= cell < MAX_SIDE * MAX_SIDE for cell in moves), "the moves are no cells")
            _demand(len(set(moves)) == len(moves), "a cell is played twice")
        case pushes.LobbyChange(closed=closed):
            _demand_codes(*closed)
        case pushes.RoomSummary(seats=seats, rules=rules):
            _demand(set(seats) == set(rules.marks), "the seats are not those of the marks")
        case pushes.PastGame(players=players, rules=rules):
            _demand(set(players) <= set(rules.marks), "a player has no mark of the game")
            _demand(said.result.winner in {None, *rules.marks}, "the winner is no mark of the game")
            _demand(all(0 <= cell < rules.to_rules().size for cell in said.result.line), "the line is off the board")
        case pushes.LiveBoard():
            _inspect_live(said)
        case pushes.RoomState():
            _inspect_state(said)


def _inspect_live(live: pushes.LiveBoard) -> None:
    _demand(0 < live.rows <= MAX_SIDE and 0 < live.columns <= MAX_SIDE, "a board has no size")
    _demand(len(live.board) == live.rows * live.columns, "a board has another size than it says")
    marks = (*live.names, *(live.board.replace(FREE, "").replace(BLOCKED, "")))
    _demand(all(map(_is_mark, marks)), "a mark on a board is none")
    _inspect_end(live.result or None, live.last, live.board, live.names)


def _inspect_state(state: pushes.RoomState) -> None:
    rules, board = state.rules.to_rules(), state.board
    marks = set(rules.marks)
    _demand(len(board) == rules.size, f"the board has {len(board)} cells, not {rules.size}")
    _demand(set(board) <= marks | {FREE, BLOCKED}, "a mark on the board is none of the game")
    blocked = {cell for cell, mark in enumerate(board) if mark == BLOCKED}
    _demand(blocked == set(rules.blocked), "the blocked cells are others than the rules say")
    moves = len(board) - board.count(FREE) - len(blocked)
    _demand(state.ply == moves, "the board has another number of moves than ply says")
    _demand(set(state.seats) == marks, "the seats are not those of the marks")
    _demand(state.turn is not None or state.status != "playing", "nobody is to move in a game that is on")
    _demand(state.result is not None or state.status != "over", "a game is over without a result")
    _inspect_end(state.result, state.last, board, marks)
    offers, clock = state.offers, state.clock
    ended = (end.by for end in (offers.ended or {}).values())
    timed: dict[str, int] = clock.remaining_ms if clock is not None else {}
    named = {state.turn, offers.draw, offers.undo, *offers.rematch, *ended, *timed}
    _demand(named <= {*marks, None}, "a mark is none of the game")
    _demand(clock is None or clock.running in {None, *timed}, "a clock runs that is nobody's")


def _inspect_end(result: pushes.Result | None, last: int | None, board: str, marks: Container[str]) -> None:
    """Refuse a last move and a deciding line that are not on the board, and a winner who is nobody in the game."""
    line, winner = (result.line, result.winner) if result is not None else ((), None)
    _demand(winner is None or winner in marks, "the winner is no mark of the game")
    for cell in (*line, *(() if last is None else (last,))):
        is_played = 0 <= cell < len(board) and board[cell] not in (FREE, BLOCKED)
        _demand(is_played, "the last move or the deciding line is not on the board")


def _is_mark(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "Z"


def _demand_codes(*codes: str) -> None:
    """Refuse what is no room code in its written form: people paste it into a shell."""
    _demand(all(map(_CODE.fullmatch, codes)), "a room has no room code")


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _broken(otherwise)


def _broken(why: str) -> ProtocolBroken:
    # It may quote what the message holds.
    return ProtocolBroken(_clean(f"{why[:1].upper()}{why[1:]}", 160))
