"""Encoding of rooms and finished games as documents, the bytes in the store.

A room's document is a checksum followed by a JSON array: first the fields that moves do not change, which are encoded
once and cached, then the other fields. The position is stored as rules, moves, and the events between moves. Such an
event is `[ply, mark]` for a player whose turn was skipped, or, in a game with an opening, `[ply, take]` for a choice.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final
from zlib import crc32

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from tictactoe_engine import Position
from tictactoe_protocol.pushes import RESULT_REASONS, VISIBILITIES, SeatState
from tictactoe_protocol.terms import RulesState
from tictactoe_server.rooms.finished import FinishedGame
from tictactoe_server.rooms.room import CASUAL, Room, rules_state

SCHEMA: Final = 1
SETTING: Final = (
    *("code", "opened_at", "rules", "seats", "visibility", "clock", "hold_ms", "game", "score"),
    *("start_ms", "analysis", "chat", "purpose"),
)
"""The fields that moves do not change. The last field, the purpose, is omitted for casual rooms."""

_LEFT_OUT_FROM: Final = "happened"  # this and the later fields are omitted at the array's end if they have defaults
_CHECKSUM_DIGITS: Final = 8

_encode: Final = msgspec.json.Encoder().encode


@lru_cache(maxsize=1024)
def _pack(rules: RulesState) -> Raw:
    """Encode rules as in messages to clients, but with `blocked` as a bitmap if that is shorter.

    The bitmap is encoded in base64 and has one bit per cell, beginning with the lowest bit of the first byte.
    """
    bits = sum(1 << cell for cell in rules.blocked)
    bitmap = b64encode(bits.to_bytes((rules.rows * rules.columns + 7) // 8, "little")).decode()
    blocked = min(rules.blocked, bitmap, key=lambda cells: len(_encode(cells)))
    return Raw(_encode({**msgspec.to_builtins(rules), "blocked": blocked}))


def _unpack(rules: Any) -> RulesState:
    """Decode stored rules. May raise the errors of `TableSpec.decode`."""
    if isinstance(rules, dict) and isinstance(rules.get("blocked"), str):
        bits = int.from_bytes(b64decode(rules["blocked"], validate=True), "little")
        rules = {**rules, "blocked": [cell for cell in range(bits.bit_length()) if bits >> cell & 1]}
    return msgspec.convert(rules, RulesState)


class _KeptPosition(Struct, frozen=True):
    rules: Any
    moves: tuple[int, ...]
    between: tuple[tuple[int, str], ...] = ()

    def replay(self) -> Position:
        rules = _unpack(self.rules).to_rules()
        if rules.opening is None:
            return Position.replay(rules, self.moves, self.between)
        return Position.replay(rules, self.moves, chosen=[take for _, take in self.between])


class RoomDocuments:
    """Encodes and decodes rooms.

    The encoded `SETTING` of each room is cached until `forget` is called. Only three of its fields can change in an
    open room: `seats`, `score` and `game`.
    """

    def __init__(self) -> None:
        self._others = [name for name in Room.__struct_fields__ if name not in (*SETTING, "position", "seq")]
        self._setting_of = attrgetter(*SETTING)
        self._others_of = attrgetter(*self._others)
        self._known_others: tuple[tuple[Any, ...], bytes] = ((), b"")
        usual = dict(zip(reversed(Room.__struct_fields__), reversed(Room.__struct_defaults__), strict=False))
        self._usual_end = [usual[name] for name in self._others[self._others.index(_LEFT_OUT_FROM) :]]
        self._beginnings: dict[str, tuple[dict[str, SeatState | None], dict[str, int], int, bytes, int]] = {}

    def encode(self, room: Room, *, without_moves: bool = False) -> bytes:
        """Return the room's document, which is a single line."""
        known = self._beginnings.get(room.code)
        if known is None or known[0] is not room.seats or known[1] is not room.score or known[2] != room.game:
            setting = dict(zip(SETTING, self._setting_of(room), strict=True))
            setting["rules"] = _pack(rules_state(setting["rules"]))
            values = list(setting.values())
            if room.purpose == CASUAL:
                values.pop()
            beginning = b"[%d,%b," % (SCHEMA, _encode(values))
            known = self._beginnings[room.code] = (room.seats, room.score, room.game, beginning, crc32(beginning))
        others = self._others_of(room)
        if others != self._known_others[0]:  # the values are the same in most rooms
            values, usual = list(others), list(self._usual_end)
            while usual and values[-1] == usual.pop():
                values.pop()
            self._known_others = others, _encode(values)[1:]
        moves, between = ((), ()) if without_moves else (room.position.moves, room.position.between)
        rest = b"%b,%b" % (_encode((room.seq, moves, between))[1:-1], self._known_others[1])
        return b"%08x%b%b" % (crc32(rest, known[4]), known[3], rest)

    def forget(self, code: str) -> None:
        self._beginnings.pop(code, None)

    def decode(self, document: bytes) -> Room:
        """Decode a room's document. May raise the errors of `TableSpec.decode`."""
        content, checksum = document[_CHECKSUM_DIGITS:], document[:_CHECKSUM_DIGITS]
        if checksum != b"%08x" % crc32(content):
            raise ValueError("the checksum is that of another document")
        schema, setting, seq, moves, between, *others = msgspec.json.decode(content)
        if schema != SCHEMA:
            raise ValueError(f"schema {schema}, where {SCHEMA} is known")
        # Fields at the end of either part are missing if they have their defaults.
        fields = dict(zip(SETTING, setting, strict=False)) | dict(zip(self._others, others, strict=False))
        played = {"rules": fields.pop("rules", None), "moves": moves, "between": between}
        position = msgspec.convert(played, _KeptPosition).replay()
        room = msgspec.convert({**fields, "seq": seq, "position": position}, Room)
        marks = tuple(room.rules.marks)
        if tuple(room.seats) != marks:
            raise ValueError(f"Seats {', '.join(room.seats)} for the marks {room.rules.marks}.")
        if set(room.remaining_ms) != set(() if room.clock is None else marks):
            raise ValueError(f"Clocks {', '.join(room.remaining_ms)} for the marks {room.rules.marks}.")
        if room.visibility not in VISIBILITIES or (
            room.result is not None and room.result.reason not in RESULT_REASONS
        ):
            raise ValueError("A word that no server wrote.")
        if room.clock is None and room.clock_started_at is not None:
            raise ValueError("A clock runs in a room without clocks.")
        return room


def encode_game(game: FinishedGame) -> bytes:
    return _encode(replace(game, rules=_pack(game.rules)))


def decode_game(document: bytes) -> FinishedGame:
    """Decode a finished game's document. May raise the errors of `TableSpec.decode`."""
    fields = msgspec.json.decode(document, type=dict[str, Any])
    return msgspec.convert({**fields, "rules": _unpack(fields.get("rules"))}, FinishedGame)
