"""Rooms as the bytes that a store keeps: JSON with a schema number and a checksum, the position as rules and moves.

Most flipped bits leave JSON that is none, or a room that breaks its own rules; the checksum finds those that would
leave another room than was stored.
"""

from __future__ import annotations

from typing import Any, Final
from zlib import crc32

import msgspec

from tictactoe_engine import Position
from tictactoe_protocol.pushes import RulesState
from tictactoe_server.rooms.room import Room
from tictactoe_server.rooms.view import rules_state

SCHEMA: Final = 2
"""Schema 1, which had no checksum, is read as well."""


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
    """Return the room's document: a line of JSON, and the CRC-32 of that in eight hexadecimal digits."""
    content = _encoder.encode(_Document(SCHEMA, room))
    return b"%b\n%08x" % (content, crc32(content))


def decode_room(document: bytes) -> Room:
    """Return the room that a document holds; raises `UnreadableRoom`."""
    text, has_checksum, checksum = document.partition(b"\n")
    if has_checksum and checksum != b"%08x" % crc32(text):
        raise UnreadableRoom("The checksum is that of another document.")
    try:
        content = _decoder.decode(text)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableRoom(f"Not a room: {error}") from error
    if content.schema != (SCHEMA if has_checksum else 1):
        known = f"this server knows {SCHEMA}" if has_checksum else "only 1 has no checksum"
        raise UnreadableRoom(f"Schema {content.schema}, but {known}.")
    room, marks = content.room, tuple(content.room.rules.marks)
    if tuple(room.seats) != marks:
        raise UnreadableRoom(f"Seats {', '.join(room.seats)} for the marks {room.rules.marks}.")
    if set(room.remaining_ms) != set(() if room.clock is None else marks):
        raise UnreadableRoom(f"Clocks {', '.join(room.remaining_ms)} for the marks {room.rules.marks}.")
    if room.clock is None and room.clock_started_at is not None:
        raise UnreadableRoom("A clock runs in a room without clocks.")
    return room
