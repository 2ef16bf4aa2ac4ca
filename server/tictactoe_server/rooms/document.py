"""Rooms as the bytes that a store keeps: JSON with a schema number, the position as its rules and moves."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from tictactoe_engine import Position
from tictactoe_protocol.pushes import RulesState
from tictactoe_server.rooms.room import Room
from tictactoe_server.rooms.view import rules_state

SCHEMA: Final = 1


class UnreadableRoom(ValueError):
    """Bytes that are no room of this schema; the message says why."""


class _PositionDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    rules: RulesState
    moves: tuple[int, ...]
    passed: tuple[tuple[int, str], ...] = ()


class _Document(msgspec.Struct, frozen=True):
    schema: int
    room: Room


def _encode_value(value: Any) -> Any:
    if isinstance(value, Position):
        return _PositionDocument(rules_state(value.rules), value.moves, value.passed)
    raise NotImplementedError(type(value))


def _decode_value(kind: type, value: Any) -> Any:
    if kind is Position:
        document = msgspec.convert(value, _PositionDocument)
        return Position.replay(document.rules.to_rules(), document.moves, document.passed)
    raise NotImplementedError(kind)


_encoder: Final = msgspec.json.Encoder(enc_hook=_encode_value)
_decoder: Final = msgspec.json.Decoder(_Document, dec_hook=_decode_value)


def encode_room(room: Room) -> bytes:
    """Return the room's document."""
    return _encoder.encode(_Document(SCHEMA, room))


def decode_room(document: bytes) -> Room:
    """Return the room that a document holds; raises `UnreadableRoom`."""
    try:
        content = _decoder.decode(document)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableRoom(f"Not a room: {error}") from error
    if content.schema != SCHEMA:
        raise UnreadableRoom(f"Schema {content.schema}, but this server knows {SCHEMA}.")
    room, marks = content.room, tuple(content.room.rules.marks)
    if tuple(room.seats) != marks:
        raise UnreadableRoom(f"Seats {', '.join(room.seats)} for the marks {room.rules.marks}.")
    if set(room.remaining_ms) != set(() if room.clock is None else marks):
        raise UnreadableRoom(f"Clocks {', '.join(room.remaining_ms)} for the marks {room.rules.marks}.")
    if room.clock is None and room.clock_started_at is not None:
        raise UnreadableRoom("A clock runs in a room without clocks.")
    return room
