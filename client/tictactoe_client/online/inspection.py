"""What a server says, looked through before anything else of the client sees it: a stranger wrote it.

Texts are cleaned and cut to what may be drawn, room codes are codes, and a state is one that its own rules allow. So
the rest of the client may draw, index and count without asking again. Pure; what cannot be is a `BadMessage`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tictactoe_engine import BLOCKED, FREE, MAX_SIDE, InvalidRules, Rules
from tictactoe_protocol import (
    MAX_CHAT_LENGTH,
    MAX_ERROR_BYTES,
    ROOM_CODE_ALPHABET,
    ROOM_CODE_LENGTH,
    BadMessage,
    ErrorCode,
    clean_text,
    pushes,
)
from tictactoe_protocol.text import MAX_NAME_LENGTH

MAX_TOKEN_LENGTH: Final = 128
MAX_NUMBER: Final = 2**53
"""Numbers beyond this are no times, counts or cells."""

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

Value = TypeVar("Value")
Message = TypeVar("Message", bound=Struct)


def inspect_push(push: pushes.Push) -> pushes.Push:
    """Return the message safe to draw; raises `BadMessage` for one that contradicts itself or the rules it names."""
    push = _clean_fields(push, _AS_THEY_CAME)
    if isinstance(push, pushes.RoomState):
        push = _tidy(push)
        _inspect_state(push)
    elif isinstance(push, (pushes.ChatLine, pushes.Closed, pushes.Replaced)):
        _demand_codes(push.room)
    elif isinstance(push, pushes.LobbyChange):
        _inspect_rooms(push.changed)
        _demand_codes(*push.closed)
    elif isinstance(push, pushes.LiveBoards):
        for board in push.boards:
            _inspect_board(board)
    elif isinstance(push, pushes.Welcome):
        _inspect_welcome(push)
    elif isinstance(push, pushes.Ok):
        _inspect_answer(push)
    return push


def _clean(value: Value, limit: int = MAX_ERROR_BYTES) -> Value:
    """Return a value of the wire with every text in it cleaned and cut, and no number out of all bounds."""
    cleaned: Any = value
    if isinstance(value, str):
        cleaned = value if value.isascii() and value.isprintable() else clean_text(value)
        cleaned = cleaned if len(cleaned) <= limit else f"{cleaned[:limit]}…"
    elif isinstance(value, int):
        _demand(-MAX_NUMBER <= value <= MAX_NUMBER, "a number is out of all bounds")
    elif isinstance(value, tuple):
        cleaned = tuple(map(_clean, value))
    elif isinstance(value, dict):
        cleaned = {_clean(key): _clean(item) for key, item in value.items()}
    elif isinstance(value, Struct):
        cleaned = _clean_fields(value)
    return cleaned  # type: ignore[no-any-return]


def _clean_fields(struct: Message, keeps: frozenset[str] = frozenset()) -> Message:
    changed: dict[str, Any] = {}
    for name in struct.__struct_fields__:
        before = getattr(struct, name)
        after = before if name in keeps else _clean(before, _LIMITS.get(name, MAX_ERROR_BYTES))
        if name in ("name", "from_") and isinstance(after, str) and not after.strip():
            after = NAMELESS
        if after is not before:
            changed[name] = after
    return replace(struct, **changed) if changed else struct


def _inspect_welcome(welcome: pushes.Welcome) -> None:
    _demand(len(welcome.token) <= MAX_TOKEN_LENGTH, "the token is too long")
    for held in welcome.rooms:
        _demand_codes(held.room)
        _demand(_is_mark(held.seat), "a seat is no mark")
    held_ms = welcome.held_ms or {}
    _demand_codes(*held_ms)
    times = (welcome.hold_ms or 0, *held_ms.values())
    _demand(all(time >= 0 for time in times), "a seat is held for less than no time")


def _inspect_answer(answer: pushes.Ok) -> None:
    if answer.room:
        _demand_codes(answer.room)
    if answer.seat:
        _demand(_is_mark(answer.seat), "the seat is no mark")
    if answer.moves:
        _demand(_are_cells(answer.moves, MAX_SIDE * MAX_SIDE), "the moves are no cells")
        _demand(len(set(answer.moves)) == len(answer.moves), "a cell is played twice")
    _inspect_rooms(answer.rooms or ())
    for game in answer.games or ():
        _inspect_past_game(game)


def _inspect_rooms(rooms: Iterable[pushes.RoomSummary]) -> None:
    for room in rooms:
        rules = _rules_of(room.rules)
        _demand_codes(room.room)
        _demand(set(room.seats) == set(rules.marks), "the seats are not those of the marks")


def _inspect_board(live: pushes.LiveBoard) -> None:
    _demand_codes(live.room)
    sides = (live.rows, live.columns)
    _demand(all(0 < side <= MAX_SIDE for side in sides), "a board has no size")
    _demand(len(live.board) == live.rows * live.columns, "a board has another size than it says")
    marks = (*live.names, *(live.board.replace(FREE, "").replace(BLOCKED, "")))
    _demand(all(map(_is_mark, marks)), "a mark on a board is none")
    result = live.result or pushes.Result(None, "")
    played = result.line if live.last is None else (live.last, *result.line)
    _demand(_are_played(played, live.board), "a move is not on its board")
    _demand(result.winner is None or result.winner in live.names, "the winner has no mark of the game")


def _inspect_past_game(game: pushes.PastGame) -> None:
    rules = _rules_of(game.rules)
    _demand_codes(game.room)
    _demand(set(game.players) <= set(rules.marks), "a player has no mark of the game")
    _inspect_result(game.result, rules)


def _tidy(state: pushes.RoomState) -> pushes.RoomState:
    """Return the state without what means nothing in its status: a turn in a game that is not on, an early result."""
    turn = state.turn if state.status == "playing" else None
    result = state.result if state.status == "over" else None
    return state if turn is state.turn and result is state.result else replace(state, turn=turn, result=result)


def _inspect_state(state: pushes.RoomState) -> None:
    rules, board = _rules_of(state.rules), state.board
    marks = set(rules.marks)
    _demand_codes(state.room)
    _demand(len(board) == rules.size, f"the board has {len(board)} cells, not {rules.size}")
    _demand(set(board) <= marks | {FREE, BLOCKED}, "a mark on the board is none of the game")
    blocked = board.count(BLOCKED)
    is_blocked = blocked == len(rules.blocked) and all(board[cell] == BLOCKED for cell in rules.blocked)
    _demand(is_blocked, "the blocked cells are others than the rules say")
    moves = len(board) - board.count(FREE) - blocked
    _demand(state.ply == moves, "the board has another number of moves than ply says")
    _demand(set(state.seats) == marks, "the seats are not those of the marks")
    _demand(state.turn is not None or state.status != "playing", "nobody is to move in a game that is on")
    _demand(state.result is not None or state.status != "over", "a game is over without a result")
    if state.last is not None:
        _demand(_are_played((state.last,), board), "the last move is not on the board")
    if state.result is not None:
        _inspect_result(state.result, rules)
        _demand(_are_played(state.result.line, board), "the deciding line is not on the board")
    clock = state.clock
    offers = state.offers
    ended = tuple(end.by for end in (offers.ended or {}).values())
    named = (state.turn, offers.draw, offers.undo, *offers.rematch, *ended)
    timed = (clock.running, *clock.remaining_ms) if clock is not None else ()
    _demand(marks.issuperset(mark for mark in (*named, *timed) if mark is not None), "a mark is none of the game")


def _inspect_result(result: pushes.Result, rules: Rules) -> None:
    _demand(result.winner is None or result.winner in set(rules.marks), "the winner is no mark of the game")
    _demand(_are_cells(result.line, rules.size), "the deciding line is off the board")


def _are_cells(cells: Iterable[int], size: int) -> bool:
    return all(0 <= cell < size for cell in cells)


def _are_played(cells: Iterable[int], board: str) -> bool:
    return all(0 <= cell < len(board) and board[cell] not in (FREE, BLOCKED) for cell in cells)


def _is_mark(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "Z"


def _rules_of(rules: pushes.RulesState) -> Rules:
    try:
        return rules.to_rules()
    except InvalidRules as invalid:
        raise _broken(f"nobody can play by these rules: {clean_text(invalid.message)}") from None


def _demand_codes(*codes: str) -> None:
    """Refuse what is no room code in its written form: people paste it into a shell."""
    for code in codes:
        if not _CODE.fullmatch(code):
            raise _broken("a room has no room code")


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _broken(otherwise)


def _broken(why: str) -> BadMessage:
    return BadMessage(ErrorCode.BAD_MESSAGE, f"{why[:1].upper()}{why[1:]}{'' if why.endswith('.') else '.'}")
