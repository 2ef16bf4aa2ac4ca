"""Rooms, players and finished games as the bytes that a database keeps.

A room is an array in JSON behind its checksum: first a part that moves do not change, and is encoded once, then what
they do change. The position is its rules and moves. Most flipped bits leave JSON that is none, or a room that breaks
its own rules; the checksum finds those that would leave another room than was stored.
"""

from __future__ import annotations

from typing import Final
from zlib import crc32

import msgspec
from msgspec.structs import asdict

from tictactoe_engine import Position
from tictactoe_protocol.pushes import RESULT_REASONS, VISIBILITIES, Offers, Result, RulesState, SeatState, Visibility
from tictactoe_protocol.requests import ClockFields
from tictactoe_server.rooms import HOLD_MS, START_MS, FinishedGame, Player, Room
from tictactoe_server.rooms.finished import Participant
from tictactoe_server.rooms.room import Analysis, Chat
from tictactoe_server.rooms.view import rules_state
from tictactoe_server.storage.kept_rules import KeptRules, kept_rules, rules_kept
from tictactoe_server.storage.store import Ban, Unreadable

SCHEMA: Final = 3
"""Schemas 1 and 2, which were objects, 1 without a checksum, are read as well."""

_CHECKSUM_DIGITS: Final = 8


class _Setting(msgspec.Struct, frozen=True, array_like=True):
    """What moves do not change; what is missing at the end was not known yet when it was kept."""

    code: str
    opened_at: int
    rules: KeptRules
    seats: dict[str, SeatState | None]
    visibility: Visibility
    clock: ClockFields | None
    hold_ms: int
    game: int
    score: dict[str, int]
    start_ms: int = START_MS
    analysis: Analysis = "closed"
    chat: Chat = "all"


class _RoomDocument(msgspec.Struct, frozen=True, array_like=True, gc=False):
    schema: int
    setting: msgspec.Raw
    seq: int
    moves: tuple[int, ...]
    passed: tuple[tuple[int, str], ...]
    result: Result | None
    offers: Offers
    gone_at: dict[str, int]
    remaining_ms: dict[str, int]
    clock_started_at: int | None
    asked: dict[str, int] = {}


class _OldPosition(msgspec.Struct, frozen=True):
    rules: RulesState
    moves: tuple[int, ...]
    passed: tuple[tuple[int, str], ...] = ()


class _OldRoom(msgspec.Struct, frozen=True):
    code: str
    position: _OldPosition
    seats: dict[str, SeatState | None]
    opened_at: int
    visibility: Visibility = "public"
    clock: ClockFields | None = None
    seq: int = 1
    game: int = 1
    result: Result | None = None
    offers: Offers = Offers()
    score: dict[str, int] = {}
    gone_at: dict[str, int] = {}
    hold_ms: int = HOLD_MS
    remaining_ms: dict[str, int] = {}
    clock_started_at: int | None = None


class _OldDocument(msgspec.Struct, frozen=True):
    schema: int
    room: _OldRoom


class _KeptGame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A `FinishedGame`, field by field."""

    room: str
    game: int
    at: int
    rules: KeptRules
    players: dict[str, Participant]
    moves: tuple[int, ...]
    result: Result
    passed: tuple[tuple[int, str], ...] = ()
    clock: ClockFields | None = None


_encode: Final = msgspec.json.Encoder().encode
_decode_room: Final = msgspec.json.Decoder(_RoomDocument).decode
_decode_setting: Final = msgspec.json.Decoder(_Setting).decode
_decode_old: Final = msgspec.json.Decoder(_OldDocument).decode
_decode_player: Final = msgspec.json.Decoder(Player).decode
_decode_ban: Final = msgspec.json.Decoder(Ban).decode
_decode_game: Final = msgspec.json.Decoder(_KeptGame).decode


class RoomEncoder:
    """Encodes rooms, and keeps for each of them the part that moves do not change until `forget`."""

    def __init__(self) -> None:
        self._settings: dict[str, tuple[dict[str, SeatState | None], dict[str, int], msgspec.Raw]] = {}

    def encode(self, room: Room, *, without_moves: bool = False) -> bytes:
        """Return the room's document, one line; that of an outline has no moves."""
        known = self._settings.get(room.code)
        if known is not None and known[0] is room.seats and known[1] is room.score:
            setting = known[2]
        else:
            setting = msgspec.Raw(_encode(_setting_of(room)))
            self._settings[room.code] = (room.seats, room.score, setting)
        position = room.position
        content = _encode(
            _RoomDocument(
                SCHEMA,
                setting,
                room.seq,
                () if without_moves else position.moves,
                () if without_moves else position.passed,
                room.result,
                room.offers,
                room.gone_at,
                room.remaining_ms,
                room.clock_started_at,
                room.asked,
            )
        )
        return b"%08x%b" % (crc32(content), content)

    def forget(self, code: str) -> None:
        """Let go of a room that is gone."""
        self._settings.pop(code, None)


def encode_room(room: Room) -> bytes:
    """Return the room's document, one line."""
    return RoomEncoder().encode(room)


def decode_room(document: bytes) -> Room:
    """Return the room that a document of any schema holds; raises `Unreadable`."""
    try:
        room = _read_old(document) if document.startswith(b"{") else _read(document)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise Unreadable(f"Not a room: {error}") from error
    marks = tuple(room.rules.marks)
    if tuple(room.seats) != marks:
        raise Unreadable(f"Seats {', '.join(room.seats)} for the marks {room.rules.marks}.")
    if set(room.remaining_ms) != set(() if room.clock is None else marks):
        raise Unreadable(f"Clocks {', '.join(room.remaining_ms)} for the marks {room.rules.marks}.")
    if room.visibility not in VISIBILITIES or (room.result is not None and room.result.reason not in RESULT_REASONS):
        raise Unreadable("A word that no server wrote.")
    if room.clock is None and room.clock_started_at is not None:
        raise Unreadable("A clock runs in a room without clocks.")
    return room


def decode_room_of(code: str, document: bytes) -> Room:
    """Return the room of a document that is kept under this code; raises `Unreadable`."""
    room = decode_room(document)
    if room.code != code:
        raise Unreadable(f"It says that it is room {room.code}.")
    return room


def encode_player(player: Player) -> bytes:
    """Return the player's document."""
    return _encode(player)


def decode_player(document: bytes) -> Player:
    """Return the player that a document holds; raises `Unreadable`."""
    try:
        return _decode_player(document)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise Unreadable(f"Not a player: {error}") from error


def encode_ban(ban: Ban) -> bytes:
    """Return the ban's document."""
    return _encode(ban)


def decode_ban(document: bytes) -> Ban:
    """Return the ban that a document holds; raises `Unreadable`."""
    try:
        return _decode_ban(document)
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise Unreadable(f"Not a ban: {error}") from error


def encode_game(game: FinishedGame) -> bytes:
    """Return the finished game's document."""
    return _encode(_KeptGame(**{**asdict(game), "rules": kept_rules(game.rules)}))


def decode_game(document: bytes) -> FinishedGame:
    """Return the finished game that a document holds; raises `Unreadable`."""
    try:
        kept = _decode_game(document)
        return FinishedGame(**{**asdict(kept), "rules": rules_kept(kept.rules)})
    except (msgspec.MsgspecError, ValueError, TypeError) as error:
        raise Unreadable(f"Not a finished game: {error}") from error


def _setting_of(room: Room) -> _Setting:
    return _Setting(
        room.code,
        room.opened_at,
        kept_rules(rules_state(room.rules)),
        room.seats,
        room.visibility,
        room.clock,
        room.hold_ms,
        room.game,
        room.score,
        room.start_ms,
        room.analysis,
        room.chat,
    )


def _read(document: bytes) -> Room:
    checksum, content = document[:_CHECKSUM_DIGITS], document[_CHECKSUM_DIGITS:]
    if checksum != b"%08x" % crc32(content):
        raise ValueError("the checksum is that of another document")
    found = _decode_room(content)
    _check_schema(found.schema, SCHEMA)
    setting = _decode_setting(found.setting)
    return Room(
        setting.code,
        Position.replay(rules_kept(setting.rules).to_rules(), found.moves, found.passed),
        setting.seats,
        setting.opened_at,
        setting.visibility,
        setting.clock,
        found.seq,
        setting.game,
        found.result,
        found.offers,
        setting.score,
        found.gone_at,
        setting.hold_ms,
        setting.start_ms,
        setting.analysis,
        setting.chat,
        found.remaining_ms,
        found.clock_started_at,
        found.asked,
    )


def _read_old(document: bytes) -> Room:
    """Return the room of a document of schema 2, which ends with its checksum, or 1, which has none."""
    content, has_checksum, checksum = document.partition(b"\n")
    if has_checksum and checksum != b"%08x" % crc32(content):
        raise ValueError("the checksum is that of another document")
    found = _decode_old(content)
    _check_schema(found.schema, 2 if has_checksum else 1)
    room, old = found.room, found.room.position
    position = Position.replay(old.rules.to_rules(), old.moves, old.passed)
    return Room(**{**asdict(room), "position": position})


def _check_schema(found: int, meant: int) -> None:
    if found != meant:
        raise ValueError(f"schema {found}, where {meant} is known")
