"""Validates and cleans the server's messages, so that all other modules can trust them.

Texts become safe to draw; malformed room codes, and boards that do not fit their rules, are refused. Most states need
no cleaning, which a regular expression on the message's text shows. Other messages are cleaned field by field."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any, Final, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from tictactoe_client.online.errors import ProtocolBroken, Refused
from tictactoe_client.online.messages import Message
from tictactoe_engine import BLOCKED, FREE, MAX_SIDE, InvalidRules, Rules
from tictactoe_engine.opening import MORE, OpeningRule, opening_of, plies_of_choices
from tictactoe_engine.opening import RULES as OPENINGS
from tictactoe_protocol import MAX_CHAT_LENGTH, MAX_ERROR_BYTES, BadMessage, ErrorCode, clean_text, decode_push, pushes
from tictactoe_protocol.events import Call, EventPairing
from tictactoe_protocol.room_codes import ROOM_CODE_ALPHABET, ROOM_CODE_LENGTH
from tictactoe_protocol.terms import RulesState
from tictactoe_protocol.text import MAX_NAME_LENGTH
from tictactoe_words.catalogue import say
from tictactoe_words.refusals import describe_announcement, describe_closing, describe_fault, describe_refusal
from tictactoe_words.wording import capitalize

NAMELESS: Final = "?"
"""The replacement for a name without visible characters."""
_CODE: Final = re.compile(f"[{ROOM_CODE_ALPHABET}]{{{ROOM_CODE_LENGTH}}}")
_LIMITS: Final = dict.fromkeys(("name", "from_"), MAX_NAME_LENGTH) | {"text": MAX_CHAT_LENGTH, "board": MAX_SIDE**2}
_UNCLEANED: Final = frozenset({"id", "token", "record"})
"""The fields that are not cleaned, because they are never drawn."""
_MOST: Final = 2**53
_UNUSUAL: Final = re.compile(
    rf"""\\                                           # an escape, which may stand for any character
    | \d{{16}} | [:,\[\s]-?[\d.]+[eE]                   # a number that may be too large
    | (?<!"board":)"[^"]{{{MAX_ERROR_BYTES + 1}}}             # a text that is too long
    | "(?:name|from)"\s*:\s*"(?:[^"]{{{MAX_NAME_LENGTH + 1}}}|\s*")   # a name that is too long or blank
    | "text"\s*:\s*"[^"]{{{MAX_CHAT_LENGTH + 1}}}""",
    re.VERBOSE,
)

Said = TypeVar("Said", bound=Struct)


def refusal_of(error: pushes.Error | pushes.Moved, *, server: str | None = None) -> Refused:
    """Return the exception for an error message; `server` is the server's URL if it refused our hello."""
    if isinstance(error, pushes.Moved):
        why = say("refused moved", room=error.room, at=error.url)
        return Refused(ErrorCode.MOVED, why, room=error.room)
    retry_ms = None if error.retry_ms is UNSET else error.retry_ms
    room, path = error.room or None, error.path or None
    data = error.data or {}
    return Refused(error.code, error.message, data=data, room=room, path=path, retry_ms=retry_ms, server=server)


def read_message(text: str) -> Message:
    """Decode a message and make it safe to draw; raises `ProtocolBroken`. Its `push` is None if the type is unknown."""
    try:
        push = decode_push(text)
    except BadMessage as bad:
        if bad.code == ErrorCode.UNKNOWN_TYPE:
            return Message(text, None)
        raise _broken(describe_fault(bad)) from None
    if not isinstance(push, pushes.RoomState):
        push = _clean_fields(push, _UNCLEANED)
        _inspect(push)
        return Message(text, _in_own_words(push))
    is_plain = text.isascii() and text.isprintable()
    if _UNUSUAL.search(text) or not (is_plain or clean_text(text) == text):
        push = _clean_fields(push)
    if push.turn is not None and push.status != "playing":
        push = replace(push, turn=None)
    if push.result is not None and push.status != "over":
        push = replace(push, result=None)
    if push.rules.opening is not None or push.opening is not UNSET or push.chosen is not UNSET:
        push = _clean_opening(push)
    _inspect_state(push)
    return Message(text, push)


def _clean_opening(state: pushes.RoomState) -> pushes.RoomState:
    """Remove an opening rule that this client does not know, so that the game can still be watched."""
    if state.rules.opening not in OPENINGS:
        return replace(state, rules=replace(state.rules, opening=None), opening=UNSET, chosen=UNSET)
    return state if state.result is None else replace(state, opening=UNSET)


def _in_own_words(push: pushes.Push) -> pushes.Push:
    """Replace the server's sentences by ours, in our language."""
    if isinstance(push, pushes.Error) and push.data is not UNSET:
        return replace(push, message=_clean(describe_refusal(push.code, push.data) or push.message))
    if isinstance(push, pushes.Closed):
        return replace(push, reason=_clean(describe_closing(push.code, push.data) or push.reason))
    if isinstance(push, pushes.Announcement) and push.code:
        return replace(push, text=describe_announcement(push.code) or push.text)
    return push


def _clean(value: Any, limit: int = MAX_ERROR_BYTES) -> Any:
    if isinstance(value, str):
        cleaned = clean_text(value)
        return cleaned if len(cleaned) <= limit else f"{cleaned[:limit]}…"
    if isinstance(value, int):
        if abs(value) > _MOST:
            raise _broken(say("broken number"))
    elif isinstance(value, tuple | list):
        return type(value)(map(_clean, value))
    elif isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    elif isinstance(value, Struct):
        value = _clean_fields(value)
        _inspect(value)
    return value


def _clean_fields(struct: Said, keeps: frozenset[str] = frozenset()) -> Said:
    cleaned: dict[str, Any] = {}
    for name, value in asdict(struct).items():
        cleaned[name] = value if name in keeps else _clean(value, _LIMITS.get(name, MAX_ERROR_BYTES))
        if name in ("name", "from_") and isinstance(value, str) and not cleaned[name].strip():
            cleaned[name] = NAMELESS
        if name == "opening" and isinstance(struct, RulesState) and value not in OPENINGS:
            cleaned[name] = None
        is_in_none = isinstance(struct, pushes.Error) or (isinstance(struct, pushes.LiveBoard) and value == "")
        if name in ("room", "event") and value is not UNSET and not is_in_none:
            _require_codes(cleaned[name])
    return replace(struct, **cleaned)


def _inspect(said: Struct) -> None:
    match said:
        case RulesState():
            _rules_of(said)
        case pushes.Welcome(held_ms=held):
            held_ms = held or {}
            _require(len(said.token) <= 128, "token")
            _require_codes(*held_ms)
            _require(min((said.hold_ms or 0, *held_ms.values())) >= 0, "hold_ms")
        case pushes.HeldSeat(seat=seat):
            _require(_is_mark(seat), "seat")
        case pushes.Ok():
            _require(not said.seat or _is_mark(said.seat), "seat")
        case EventPairing(players=players, names=names):
            _require(all(map(_is_mark, (*players, *names))), "marks")
        case Call(mark=mark):
            _require(_is_mark(mark), "marks")
        case pushes.LobbyChange(closed=closed):
            _require_codes(*closed)
        case pushes.RoomSummary(seats=seats, rules=rules):
            _require(set(seats) == set(rules.marks), "seats")
        case pushes.PastGame(players=players, rules=rules):
            _require(set(players) <= set(rules.marks), "players")
            _require(said.result.winner in {None, *rules.marks}, "result.winner")
            _require(all(0 <= cell < rules.to_rules().size for cell in said.result.line), "result.line")
        case pushes.LiveBoard():
            _require(0 < said.rows <= MAX_SIDE and 0 < said.columns <= MAX_SIDE, "rows")
            _require(len(said.board) == said.rows * said.columns, "board")
            marks = (*said.names, *(said.board.replace(FREE, "").replace(BLOCKED, "")))
            _require(all(map(_is_mark, marks)), "board")
            _inspect_end(said.result or None, said.last, said.board, said.names)


def _inspect_state(state: pushes.RoomState) -> None:
    rules = _rules_of(state.rules)
    board, marks, size = state.board, set(rules.marks), rules.rows * rules.columns
    blocked = tuple([cell for cell, mark in enumerate(board) if mark == BLOCKED]) if BLOCKED in board else ()
    ended, clock = state.offers.ended or {}, state.clock
    timed: dict[str, int] = clock.remaining_ms if clock is not None else {}
    named = {state.turn, state.offers.draw, state.offers.undo, *state.offers.rematch, *timed}
    if ended or state.news:
        named.update((end.by for end in ended.values()), (each.mark or None for each in state.news))
        cells = [cell for each in state.news for cell in (each.cell or 0, *(each.cells or ()))]
        _require(all(0 <= cell < size for cell in cells), "news.cell")
    for holds, field in (
        (_CODE.fullmatch(state.room), "room"),
        (len(board) == size, "board"),
        (marks.union((FREE, BLOCKED)).issuperset(board), "board"),
        (len(blocked) == len(rules.blocked) and rules.blocked.issuperset(blocked), "rules.blocked"),
        (state.ply == size - board.count(FREE) - len(blocked), "ply"),
        (state.seats.keys() == marks, "seats"),
        (state.turn is not None or state.status != "playing", "turn"),
        (state.result is not None or state.status != "over", "result"),
        (marks.issuperset(named - {None}), "marks"),
        (clock is None or clock.running in (None, *timed), "clock.running"),
    ):
        if not holds:
            raise _broken_at(field)
    _inspect_end(state.result, state.last, board, marks)
    marked = [cell for cell, mark in enumerate(board) if mark in marks]
    last = state.moves[-1] if state.moves else None
    if sorted(state.moves) != marked or last != state.last:
        raise _broken_at("moves")
    if rules.opening is not None and not _fits_opening(state, rules, rules.opening):
        raise _broken_at("opening")


def _rules_of(rules: RulesState) -> Rules:
    try:
        return rules.to_rules()
    except InvalidRules as invalid:
        raise _broken(describe_fault(invalid)) from None


def _fits_opening(state: pushes.RoomState, rules: Rules, rule: OpeningRule) -> bool:
    """Return True if the state's opening step is the one that follows from its moves and choices."""
    chosen, plies = state.chosen or (), plies_of_choices(rule)
    if len(chosen) > len(plies) or any(take not in (*rules.marks, MORE) for take in chosen):
        return False
    due, told = opening_of(rule, rules.marks, state.ply, chosen), state.opening or None
    if state.result is not None:
        return True
    if due is None or told is None:
        return due is None and told is None
    whose = due.turn if state.status == "playing" else None
    said = (told.rule, told.step, told.places, told.left, told.options, state.turn)
    return said == (due.rule, due.step, due.places, due.left, due.options, whose)


def _inspect_end(result: pushes.Result | None, last: int | None, board: str, marks: Container[str]) -> None:
    if result is not None and result.winner is not None and result.winner not in marks:
        raise _broken_at("result.winner")
    line = result.line if result is not None else ()
    for field, cells in (("result.line", line), ("last", () if last is None else (last,))):
        if not all(0 <= cell < len(board) and board[cell] not in (FREE, BLOCKED) for cell in cells):
            raise _broken_at(field)


def _is_mark(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "Z"


def _require_codes(*codes: str) -> None:
    """Raise `ProtocolBroken` for a malformed room code, since people paste codes into a shell."""
    _require(all(map(_CODE.fullmatch, codes)), "room")


def _require(holds: object, field: str) -> None:
    if not holds:
        raise _broken_at(field)


def _broken_at(field: str) -> ProtocolBroken:
    return _broken(say("broken value", field=field))


def _broken(why: str) -> ProtocolBroken:
    # The sentence may quote text from the message.
    return ProtocolBroken(_clean(capitalize(why), 160))
